package quota

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

const millisecond = 1_000_000

// point is a point with a 99th percentile, in us.
func point(cpus float64, period int64, burst int, p99 int64) Point {
	p := Point{Setting: Setting{Limit: LimitOf(cpus, period*millisecond, burst), Threads: 8}, WorstP99: p99}
	p.Requests.Arrived, p.Requests.Answered = 100, 100
	for range 100 {
		p.Requests.Latency.Add(p99)
	}
	p.End, p.Used, p.Throughput = 1e9, 1, 100
	return p
}

func TestLimitOf(t *testing.T) {
	if l := LimitOf(1.5, 100*millisecond, 50); l.Max() != "150000 100000" || l.Burst != 75*millisecond {
		t.Errorf("1.5 CPUs in 100 ms are %s with a burst of %d ns", l.Max(), l.Burst)
	}
}

// What the requests need is 2.2 CPUs: times 1, 1.1, 1.2, 1.35, 1.5, 2 and 3,
// rounded up to a tenth, and then all CPUs.
func TestDefaultCPUs(t *testing.T) {
	if got, want := DefaultCPUs(2.2, 8), []float64{2.2, 2.5, 2.7, 3, 3.3, 4.4, 6.6, 8}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := DefaultCPUs(9, 8), []float64{8}; !slices.Equal(got, want) {
		t.Errorf("more than the machine has: got %v, want %v", got, want)
	}
	if got := DefaultCPUs(0.101, 1); got[0] != 0.11 {
		t.Errorf("small needs are rounded up to hundredths: got %v", got)
	}
}

func TestSmallestMeetsTheTarget(t *testing.T) {
	points := []Point{
		point(1, 100, 0, 50_000), point(2, 100, 0, 20_000), point(2, 50, 0, 10_000), point(2, 100, 100, 5_000), point(3, 100, 0, 1_000),
	}
	if p := Smallest(points, 20*time.Millisecond); p != &points[1] {
		t.Errorf("got %+v; of equal limits the one without burst and with the longest period is wanted", p.Setting)
	}
	if p := Smallest(points, 500*time.Microsecond); p != nil {
		t.Errorf("got %+v; none meets 0.5 ms", p.Setting)
	}
	points[1].Requests.Unanswered = 2 // of 100
	if p := Smallest(points, 20*time.Millisecond); p != &points[2] {
		t.Errorf("got %+v; one that does not answer what arrives is none", p.Setting)
	}
}

// Limits 1, 2 and 4: 1 fails and 2 meets, so the gap is halved to 1.5.
func TestGapsAreBelowTheSmallest(t *testing.T) {
	points := []Point{point(1, 100, 50, 90_000), point(2, 100, 50, 9_000), point(4, 100, 50, 8_000), point(3, 50, 0, 90_000), point(4, 50, 0, 9_000)}
	gaps := gapsOf(points, 20*time.Millisecond)
	if len(gaps) != 1 {
		t.Fatalf("%d gaps; the series that fails at 3 CPUs cannot be smaller than 2", len(gaps))
	}
	if m := gaps[0].middle(); m.CPUs() != 1.5 || m.burstPercent() != 50 || m.Threads != 8 {
		t.Errorf("the middle is %.2f CPUs, burst %d %%; want 1.5 and 50 %%", m.CPUs(), m.burstPercent())
	}
}

// throttledPoint uses half of 2 CPUs and is throttled in 10 of 100 periods: 40 ms
// before their end, on 4 CPUs, with 6 ms parked.
func throttledPoint() Point {
	p := point(2, 100, 0, 80_000)
	p.Stat = sched.BandwidthStats{Periods: 100, Throttled: 10, ThrottledTime: 300 * millisecond}
	p.Account = sched.BandwidthAccount{Exhausted: 10, Early: 400 * millisecond, Used: 1900 * millisecond, Running: 40, Parked: 60 * millisecond, Unused: 70 * millisecond}
	p.End = 10e9
	return p
}

func TestReasonsHaveTheFigures(t *testing.T) {
	p := throttledPoint()
	text := strings.Join(Reasons(&p), "\n")
	for _, want := range []string{
		`cpu.max "200000 100000" and 8 threads`, "uses 1.00 CPUs, 50 % of its limit", "10 of 100 periods",
		"40 ms before the end", "190 ms of 200 ms", "work on 4.0 CPUs", "use up 200 ms in 50 ms", "parked on idle CPUs: 6.00 ms of the 200 ms",
		"7.00 ms of the quota was unused", "0.01 CPUs over the whole run",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "expired") {
		t.Errorf("nothing expired:\n%s", text)
	}
	free := point(2, 100, 0, 10)
	if text := strings.Join(Reasons(&free), "\n"); !strings.Contains(text, "never throttled") {
		t.Errorf("got %q", text)
	}
}

func TestThrottledBelowIsTheMostTelling(t *testing.T) {
	near, worse, overloaded := throttledPoint(), throttledPoint(), throttledPoint()
	near.Used = 1.9
	worse.Limit = LimitOf(1.6, 100*millisecond, 0)
	worse.Requests.Latency.Add(1)
	for range 100 {
		worse.Requests.Latency.Add(200_000)
	}
	overloaded.Requests.Unanswered = 50
	points := []Point{near, overloaded, throttledPoint(), worse, point(3, 100, 0, 100_000)}
	if got := ThrottledBelow(points); got != &points[3] {
		t.Error("not the one with the longest latency")
	}
	if got := ThrottledBelow(points[:2]); got != nil {
		t.Errorf("got %+v; one needs its limit, the other cannot keep up", got.Setting)
	}
	remedies := strings.Join(Remedies(&points[2], []Point{points[2], point(2, 100, 100, 9_000), point(2, 20, 0, 300_000)}), "\n")
	if !strings.Contains(remedies, "a burst helps") || !strings.Contains(remedies, "9.0") || strings.Contains(remedies, "another period") {
		t.Errorf("got %q", remedies)
	}
}

// sweepOf is a small service on eight CPUs that needs 1 CPU, in bursts.
func sweepOf(t *testing.T, kernel string) *Sweep {
	t.Helper()
	d := Default()
	d.Rate, d.Size, d.Batch = 100, "10ms", 8
	v, err := d.Service(8, 200*time.Millisecond, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return &Sweep{Base: experiment.Cell{Machine: "1n8c1t", Kernel: kernel, HZ: 250, Preemption: "voluntary", Seed: 1}, Path: "/service", Service: v, Repeats: 1}
}

// The same figures whatever finishes first, and latencies that fall with the
// limit.
func TestSweep(t *testing.T) {
	axes := Axes{CPUs: []float64{1.2, 2, 8}, Periods: []int64{100 * millisecond}, Bursts: []int{0}, Threads: []int{8}}
	var previous []Point
	for _, workers := range []int{1, 3} {
		s := sweepOf(t, "v6.1")
		s.Workers = workers
		points, err := s.Run(context.Background(), axes.Settings(false), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range previous {
			if previous[i] != points[i] {
				t.Errorf("%d workers change point %d", workers, i)
			}
		}
		previous = points
	}
	if a, b := previous[0].Percentile(99), previous[2].Percentile(99); a < 5*b {
		t.Errorf("p99 is %d us with 1.2 CPUs and %d with 8; want it much longer", a, b)
	}
	if free := &previous[2]; free.Stat.Throttled != 0 || free.Used < 0.9 || free.Used > 1.2 {
		t.Errorf("with all CPUs: throttled in %d periods, used %.2f CPUs; want 0 and about 1", free.Stat.Throttled, free.Used)
	}
}

func TestRefineFindsASmallerLimit(t *testing.T) {
	s := sweepOf(t, "v6.1")
	axes := Axes{CPUs: []float64{1, 8}, Periods: []int64{100 * millisecond}, Bursts: []int{0}, Threads: []int{8}}
	points, err := s.Run(context.Background(), axes.Settings(false), nil)
	if err != nil {
		t.Fatal(err)
	}
	const target = 20 * time.Millisecond
	refined, err := s.Refine(context.Background(), points, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := Smallest(append(points, refined...), target)
	if best == nil || len(refined) != refinements || best.CPUs() > 4 {
		t.Errorf("%d points were tried, best %v; want 4 halvings and less than 4 CPUs for a service that needs 1", len(refined), best != nil)
	}
}

// A slice that expires is the reason under v4.18's rules, and not under v6.1's.
func TestExpiryIsNamed(t *testing.T) {
	d := Default()
	d.Rate, d.Arrivals, d.Size = 880, "constant", "1ms"
	v, err := d.Service(44, 500*time.Millisecond, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s := &Sweep{
		Base: experiment.Cell{Machine: "2n22c1t", Kernel: "v4.14", HZ: 250, Preemption: "voluntary", Seed: 1, Features: []string{"BANDWIDTH_EXPIRY"}},
		Path: "/service", Service: v, Repeats: 1,
	}
	points, err := s.Run(context.Background(), []Setting{{LimitOf(1, 100*millisecond, 0), 44}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(Reasons(&points[0]), "\n")
	if p := &points[0]; p.Used >= p.CPUs() || p.Stat.Throttled == 0 || !strings.Contains(text, "Slices that expired") {
		t.Errorf("used %.2f of %.2f CPUs, throttled in %d periods:\n%s", p.Used, p.CPUs(), p.Stat.Throttled, text)
	}
}

func TestCheckNamesThePathAndTheRule(t *testing.T) {
	for _, c := range []struct {
		setting Setting
		above   string
		want    string
	}{
		{Setting{LimitOf(0, 100*millisecond, 0), 8}, "", "cpu.max of /pod/app: a limit of 0 us"},
		{Setting{LimitOf(1, 2000*millisecond, 0), 8}, "", "cpu.max of /pod/app: the period must be between 1000 us"},
		{Setting{LimitOf(1, 100*millisecond, 0), 8}, "50000 100000", "a child may not have more than its parent"},
	} {
		s := sweepOf(t, "v6.1")
		s.Path = "/pod/app"
		if c.above != "" {
			s.Base.Cgroups = []experiment.CgroupSetting{{Path: "/pod", File: "cpu.max", Value: c.above}}
		}
		err := s.Check([]Setting{c.setting})
		var field *experiment.FieldError
		if err == nil || !errors.As(err, &field) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "/pod/app") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func report() *Report {
	return &Report{
		Service: "a <service>", Need: 1, Target: 20 * time.Millisecond,
		Points: []Point{point(1, 100, 0, 90_000), throttledPoint(), point(4, 100, 0, 5_000), point(1, 10, 100, 30_000), point(4, 10, 100, 6_000)},
	}
}

func TestReportInEveryFormat(t *testing.T) {
	for format, check := range map[string]func(text []byte) error{
		"csv": func(text []byte) error {
			rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
			if err == nil && len(rows) != 6 {
				t.Errorf("%d rows of CSV, want a head and 5", len(rows))
			}
			return err
		},
		"json": func(text []byte) error {
			var d struct {
				Points      []map[string]any
				Recommended map[string]any
				Why         []string
			}
			err := json.Unmarshal(text, &d)
			if len(d.Points) != 5 || d.Recommended["cpu.max"] != "400000 100000" || len(d.Why) < 3 {
				t.Errorf("%d points, recommended %v, why %q", len(d.Points), d.Recommended, d.Why)
			}
			return err
		},
		"text": func(text []byte) error {
			for _, want := range []string{"The smallest limit that keeps the 99th percentile within 20ms is 4.00 CPUs", "Why is it throttled below its limit?", "5.00 ms*"} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			return nil
		},
	} {
		var out bytes.Buffer
		if err := report().Write(&out, format); err != nil {
			t.Fatal(err)
		}
		if err := check(out.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", format, err, out.Bytes())
		}
	}
}

// The picture is XML, has a field for each point, and frames those that meet
// the target: five fields, five of the key's colours; two frames of two lines
// each, and one in the key.
func TestHeatMap(t *testing.T) {
	var out bytes.Buffer
	if err := report().WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	fields, frames := 0, 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "path" {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local != "style" {
				continue
			}
			if strings.HasPrefix(a.Value, "fill:#") {
				fields++
			}
			if strings.Contains(a.Value, "stroke:#D55E00") {
				frames++
			}
		}
	}
	if fields != 10 || frames != 3 {
		t.Errorf("%d fields, %d frames; want 10 and 3", fields, frames)
	}
}

// The page's table has the figures of the CSV, the sentence on top is the
// recommendation.
func TestPageHoldsWhatCSVHolds(t *testing.T) {
	r := report()
	var asPage, asCSV bytes.Buffer
	if err := errors.Join(r.Page().Write(&asPage), r.writeCSV(&asCSV)); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text := asPage.String()
	for _, line := range lines[1:] {
		var attributes strings.Builder
		for i, field := range line {
			fmt.Fprintf(&attributes, " data-%s=%q", dataName(lines[0][i]), field)
		}
		if !strings.Contains(text, attributes.String()) {
			t.Errorf("no row with%s", attributes.String())
		}
	}
	if !strings.Contains(text, html.EscapeString(r.recommendation())) {
		t.Errorf("the page does not recommend %q", r.recommendation())
	}
	if n := strings.Count(text, "<svg class=\"chart\" role=\"img\""); n != 4 {
		t.Errorf("%d charts, want the heat map and three sweeps", n)
	}
}

func TestLoadNamesFileLineAndKeys(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "service.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	d, err := Load(write("threads: [4, 16]\nrate: 800\nsize: lognormal:1ms,20ms\np99: 20ms\n"))
	if err != nil || !slices.Equal(d.Threads, []int{4, 16}) || d.Rate != 800 || d.Arrivals != "poisson" {
		t.Errorf("%+v, %v", d, err)
	}
	for text, want := range map[string]string{
		"threads: [4]\nrates: 800\n": "service.yaml:2:1:",
		"rate: many\n":               "service.yaml:1:7:",
		"threads: [\n":               "service.yaml:",
	} {
		if _, err := Load(write(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "threads (a list), rate") {
			t.Errorf("%q: %v, want %q and the keys", text, err, want)
		}
	}
}

func TestMeasuredTime(t *testing.T) {
	for _, c := range []struct {
		rate        float64
		simulations int
		want        time.Duration
	}{
		{1000, 1, 20 * time.Second}, {100_000, 1, 2 * time.Second}, {1, 1, time.Minute},
		{1000, 300, 10 * time.Second}, // 3,000,000 / 300 = 10,000 requests
		{1000, 1_000_000, 2 * time.Second},
	} {
		if got := MeasuredTime(c.rate, c.simulations); got != c.want {
			t.Errorf("at %g requests a second, %d simulations: %s, want %s", c.rate, c.simulations, got, c.want)
		}
	}
}

func TestDescriptionRefusesWhatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*Description){
		"threads": func(d *Description) { d.Threads = []int{0} }, "rate": func(d *Description) { d.Rate = 0 },
		"size": func(d *Description) { d.Size = "x" }, "arrivals": func(d *Description) { d.Arrivals = "x" },
		"batch": func(d *Description) { d.Batch = 0 }, "footprint": func(d *Description) { d.Footprint = -1 },
	} {
		d := Default()
		change(&d)
		if _, err := d.Service(d.Threads[0], time.Second, time.Second); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	d := Default()
	d.P99 = "fast"
	if _, err := d.Target(); err == nil {
		t.Error("p99: accepted")
	}
	if _, err := workload.NewService(workload.Service{}); err == nil {
		t.Error("a service of nothing is accepted")
	}
}
