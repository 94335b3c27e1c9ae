package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

// The columns by their names in the kernel's sched-stats.rst. "-" must be 0.
const (
	cpuNames    = "yld_count - sched_count sched_goidle ttwu_count ttwu_local rq_cpu_time run_delay pcount"
	passNames   = "lb_count lb_balanced lb_failed lb_imbalance lb_gained lb_hot_gained lb_nobusyq lb_nobusyg"
	passNames17 = "lb_count lb_balanced lb_failed lb_imbalance_load lb_imbalance_util lb_imbalance_task - lb_gained lb_hot_gained lb_nobusyq lb_nobusyg"
	domainNames = "alb_count alb_failed alb_pushed - - - - - - ttwu_wake_remote ttwu_move_affine -"
)

var recordedLayouts = map[string]struct {
	passes string
	types  []sched.IdleType
}{
	"15": {passNames, []sched.IdleType{sched.Idle, sched.NotIdle, sched.NewlyIdle}},
	"16": {passNames, []sched.IdleType{sched.NotIdle, sched.Idle, sched.NewlyIdle}},
	"17": {passNames17, []sched.IdleType{sched.NotIdle, sched.Idle, sched.NewlyIdle}},
}

// readSchedstat reads a recording into a snapshot, column by column.
func readSchedstat(t *testing.T, text string) (snap *sched.Snapshot, version string) {
	t.Helper()
	snap = &sched.Snapshot{}
	var c *sched.CPUSnapshot
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		words := strings.Split(line, " ")
		switch {
		case words[0] == "version":
			version = words[1]
		case words[0] == "timestamp":
			snap.Jiffies = number(t, words[1])
		case strings.HasPrefix(words[0], "cpu"):
			snap.CPUs = append(snap.CPUs, sched.CPUSnapshot{CPU: int(number(t, words[0][3:]))})
			c = &snap.CPUs[len(snap.CPUs)-1]
			named(t, cpuNames, words[1:], func(name string, v int64) { setCPU(&c.Stats, name, v) })
		default:
			d := sched.DomainSnapshot{}
			words = words[1:]
			if version == "17" {
				d.Name, words = words[0], words[1:]
			}
			snap.NumCPUs = 4 * len(words[0]) // no comma: at most 32 CPUs
			bits, err := strconv.ParseUint(words[0], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			d.Span = machine.CPUMask{bits}
			words = words[1:]
			layout := recordedLayouts[version]
			for _, idle := range layout.types {
				n := len(strings.Fields(layout.passes))
				named(t, layout.passes, words[:n], func(name string, v int64) { setPasses(&d.Balance, idle, name, v) })
				words = words[n:]
			}
			named(t, domainNames, words, func(name string, v int64) { setDomain(&d, name, v) })
			c.Domains = append(c.Domains, d)
		}
	}
	return snap, version
}

func number(t *testing.T, word string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func named(t *testing.T, names string, words []string, set func(name string, v int64)) {
	t.Helper()
	list := strings.Fields(names)
	if len(list) != len(words) {
		t.Fatalf("%d numbers where %d have names", len(words), len(list))
	}
	for i, name := range list {
		v := number(t, words[i])
		if name == "-" && v != 0 {
			t.Errorf("column %d of %q is %d", i, words, v)
		}
		set(name, v)
	}
}

func setCPU(c *sched.CPUStats, name string, v int64) {
	fields := map[string]*int64{
		"yld_count": &c.Yields, "sched_count": &c.Schedules, "sched_goidle": &c.SchedIdle,
		"ttwu_count": &c.Wakeups, "ttwu_local": &c.WakeupsLocal,
		"rq_cpu_time": &c.RunTime, "run_delay": &c.RunDelay, "pcount": &c.Slices,
	}
	if f := fields[name]; f != nil {
		*f = v
	}
}

func setPasses(b *sched.BalanceStats, t sched.IdleType, name string, v int64) {
	fields := map[string]*int64{
		"lb_count": &b.Passes[t], "lb_balanced": &b.Balanced[t], "lb_failed": &b.Failed[t],
		"lb_imbalance": &b.Imbalance[t][0], "lb_imbalance_load": &b.Imbalance[t][0],
		"lb_imbalance_util": &b.Imbalance[t][1], "lb_imbalance_task": &b.Imbalance[t][2],
		"lb_gained": &b.Moved[t], "lb_hot_gained": &b.HotMoved[t],
		"lb_nobusyq": &b.NoBusyQueue[t], "lb_nobusyg": &b.NoBusyGroup[t],
	}
	if f := fields[name]; f != nil {
		*f = v
	}
}

func setDomain(d *sched.DomainSnapshot, name string, v int64) {
	fields := map[string]*int64{
		"alb_count": &d.Balance.ActiveTries, "alb_pushed": &d.Balance.ActivePushes,
		"ttwu_wake_remote": &d.WakeRemote, "ttwu_move_affine": &d.MoveAffine,
	}
	if f := fields[name]; f != nil {
		*f = v
	}
}

// A recording of a real kernel, read column by column and written again, gives
// the same bytes in the layout of its version.
func TestSchedstatLayoutsOfRealKernels(t *testing.T) {
	files, err := filepath.Glob("testdata/schedstat/v*.txt")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	files = append(files, sharedSchedstats(t)...)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		snap, version := readSchedstat(t, string(text))
		var got bytes.Buffer
		if err := Schedstat(&got, snap, "v"+version); err != nil {
			t.Fatal(err)
		}
		if got.String() != string(text) {
			t.Errorf("%s is written as\n%s", path, firstDifference(got.String(), string(text)))
		}
	}
	t.Logf("%d recordings", len(files))
}

func sharedSchedstats(t *testing.T) []string {
	dir := os.Getenv("SCHEDLAB_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	files, err := filepath.Glob(filepath.Join(dir, "captures/*/*/schedstat.*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Logf("no recordings below %s (set SCHEDLAB_SHARED): only the committed ones are compared", dir)
	}
	return files
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i] + "\ninstead of\n" + b[min(i, len(b)-1)]
		}
	}
	return "a beginning of it"
}

// The layouts of the statistics patches are v15 with columns 10 to 13, 15 and
// 17 of the CPU's line (mechanisms.md 11.1). A scheduler with sched-idle
// balance has its columns, 8 a domain, after those of newidle.
func TestSchedstatOfPatchedKernels(t *testing.T) {
	c := sched.CPUStats{
		SISSearch: 10, SISDomainSearch: 11, SISScanned: 12, SISFailed: 13,
		SISRecentHit: 14, SISRecentMiss: 15, SISCoreSearch: 16, SISCoreMiss: 17,
	}
	d := sched.DomainSnapshot{Name: "MC", Span: machine.MaskOf(34, 0, 33)}
	d.Balance.Moved[sched.SchedIdle] = 5
	d.Balance.ActiveTries, d.Balance.ActivePushes = 9, 7
	snap := &sched.Snapshot{NumCPUs: 34, Jiffies: 250, SchedIdle: true,
		CPUs: []sched.CPUSnapshot{{CPU: 0, Stats: c, Domains: []sched.DomainSnapshot{d}}}}
	pass := " 0 0 0 0 0 0 0 0"
	domain := "domain0 2,00000001" + pass + pass + pass + " 0 0 0 0 5 0 0 0" + " 9 2 7 0 0 0 0 0 0 0 0 0\n"
	for layout, want := range map[string]string{
		"sis16": "version 16\ntimestamp 250\ncpu0 0 0 0 0 0 0 0 0 0 10 11 12 13\n" + domain,
		"sis17": "version 17\ntimestamp 250\ncpu0 0 0 0 0 0 0 0 0 0 10 11 12 13 14 15\n" + domain,
		"sis18": "version 18\ntimestamp 250\ncpu0 0 0 0 0 0 0 0 0 0 10 11 12 13 14 15 16 17\n" + domain,
		"v15":   "version 15\ntimestamp 250\ncpu0 0 0 0 0 0 0 0 0 0\n" + domain,
	} {
		var got bytes.Buffer
		if err := Schedstat(&got, snap, layout); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("%s:\n%swant\n%s", layout, got.String(), want)
		}
	}
}

func TestSchedstatUnknownLayout(t *testing.T) {
	err := Schedstat(&bytes.Buffer{}, &sched.Snapshot{}, "v14")
	if err == nil || !strings.Contains(err.Error(), `"v14"; there are v15, v16, v17, sis16, sis17, sis18`) {
		t.Errorf("error: %v", err)
	}
}

// Bitmaps are as wide as the machine: the last word has as many digits as its
// CPUs need.
func TestHexMask(t *testing.T) {
	for _, c := range []struct {
		n    int
		cpus []int
		want string
	}{
		{1, []int{0}, "1"}, {8, []int{0, 1}, "03"}, {6, []int{5}, "20"}, {16, []int{0, 1}, "0003"},
		{32, []int{31}, "80000000"}, {33, []int{32}, "1,00000000"},
		{96, []int{0, 64, 95}, "80000001,00000000,00000001"},
	} {
		if got := hexMask(machine.MaskOf(c.n, c.cpus...), c.n); got != c.want {
			t.Errorf("%v of %d: %s, want %s", c.cpus, c.n, got, c.want)
		}
	}
}
