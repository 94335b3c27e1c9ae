package trace

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// countPrinted counts event names in what a tool printed, with nothing but a
// regular expression.
func countPrinted(lines []string, name *regexp.Regexp) map[string]int64 {
	counts := make(map[string]int64)
	for _, l := range lines {
		if m := name.FindStringSubmatch(l); m != nil {
			counts[m[1]]++
		}
	}
	return counts
}

// countRead returns a reader's counts by name.
func countRead(s *Stats) map[string]int64 {
	counts := make(map[string]int64)
	for k := KindOther + 1; k < numKinds; k++ {
		if s.ByKind[k] > 0 {
			counts[k.String()] = s.ByKind[k]
		}
	}
	for _, c := range s.Unknown() {
		counts[c.Event] = c.N
	}
	return counts
}

func sameCounts(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
		t.Errorf("%s: counts %v, the tool prints %v", what, got, want)
	}
}

var (
	printedByPerf     = regexp.MustCompile(`^ *\S.* \d+\.\d{9}: +sched:(\w+): `)
	printedByTraceCmd = regexp.MustCompile(`^ .*\[\d+\] +\d+\.\d{9}: (\w+): `)
	printedByTracefs  = regexp.MustCompile(`^ .*-\d+ .*\d+\.\d{6}: (\w+): `)
)

// perf script prints what perf.data holds; both readers must see the same
// events, field by field.
func TestPerfDataEqualsPerfScript(t *testing.T) {
	for _, name := range []string{"perf-sched", "perf-sched-zstd", "perf-pipe", "perf-pipe-zstd", "perf-callgraph"} {
		t.Run(name, func(t *testing.T) {
			data, script := openFixture(t, name+".data.gz"), openFixture(t, name+".script.txt.gz")
			got, want := readEvents(t, data), readEvents(t, script)
			printed := countPrinted(fixtureLines(t, name+".script.txt.gz"), printedByPerf)
			sameCounts(t, name+".data", countRead(data.Stats()), printed)
			sameCounts(t, name+".script", countRead(script.Stats()), printed)
			compareEvents(t, got, want, data.Names(), script.Names())
			if data.Stats().Warning != nil || data.Stats().Unreadable > 0 {
				t.Errorf("warnings on a good file: %s", data.Stats())
			}
		})
	}
}

// trace-cmd report prints what a trace.dat holds, whatever its version and
// compression.
func TestTraceDatEqualsReport(t *testing.T) {
	report := openFixture(t, "trace-cmd.report.txt.gz")
	want := readEvents(t, report)
	printed := countPrinted(fixtureLines(t, "trace-cmd.report.txt.gz"), printedByTraceCmd)
	sameCounts(t, "report", countRead(report.Stats()), printed)
	for _, name := range []string{"trace-cmd-v7-zstd.dat", "trace-cmd-v7-zlib.dat", "trace-cmd-v7-none.dat.gz", "trace-cmd-v6.dat.gz"} {
		t.Run(name, func(t *testing.T) {
			data := openFixture(t, name)
			got := readEvents(t, data)
			sameCounts(t, name, countRead(data.Stats()), printed)
			compareEvents(t, got, want, data.Names(), report.Names())
			if !data.Stats().Clean() {
				t.Errorf("not clean: %s", data.Stats())
			}
		})
	}
}

// compareEvents requires the same events, up to what printing loses: the "+" of a
// preempted thread (perf 6.1 and trace-cmd's plugin do not print it), "success"
// and the form of unknown events.
func compareEvents(t *testing.T, got, want []Event, gotNames, wantNames *Names) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, the tool prints %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		for _, e := range []*Event{&g, &w} {
			if e.Kind == KindSwitch {
				e.set(3, e.value(3)&^int64(StatePreempted))
			}
			if e.Kind == KindOther {
				e.Detail = nil
			}
			e.Site = NoName
		}
		if w.PID == UnknownPID { // perf script does not know a thread that is exiting
			g.PID = UnknownPID
		}
		gotText, wantText := describe(&g, gotNames), describe(&w, wantNames)
		if gotText != wantText {
			t.Fatalf("event %d:\n got %s\nwant %s", i, gotText, wantText)
		}
	}
}

// The kernel prints the same buffer in four layouts.
func TestTracefsLayouts(t *testing.T) {
	plain := openFixture(t, "tracefs.txt.gz")
	want := readEvents(t, plain)
	printed := countPrinted(fixtureLines(t, "tracefs.txt.gz"), printedByTracefs)
	sameCounts(t, "tracefs", countRead(plain.Stats()), printed)
	for _, name := range []string{"tracefs-tgid", "tracefs-noirq", "tracefs-latency"} {
		r := openFixture(t, name+".txt.gz")
		got := readEvents(t, r)
		sameCounts(t, name, countRead(r.Stats()), printed)
		if !r.Stats().Clean() {
			t.Errorf("%s: %s", name, r.Stats())
		}
		// A latency trace counts from its first event.
		shift := want[0].Time - got[0].Time
		if shift != 0 && name != "tracefs-latency" {
			t.Errorf("%s: times shifted by %d", name, shift)
		}
		for i := range got {
			got[i].Time += shift
			if difference := got[i].Time - want[i].Time; difference >= -1000 && difference <= 1000 {
				got[i].Time = want[i].Time // both are rounded to microseconds
			}
			if g, w := describe(&got[i], r.Names()), describe(&want[i], plain.Names()); g != w {
				t.Fatalf("%s: event %d:\n got %s\nwant %s", name, i, g, w)
			}
			wantContext := want[i].Context
			if name == "tracefs-noirq" {
				wantContext = Context{}
			}
			if got[i].Context != wantContext {
				t.Fatalf("%s: event %d: context %+v, want %+v", name, i, got[i].Context, wantContext)
			}
		}
	}
}

// trace.dat holds what tracefs prints, with nanoseconds.
func TestTraceDatEqualsTracefs(t *testing.T) {
	data, text := openFixture(t, "trace-cmd-v7-zstd.dat"), openFixture(t, "tracefs.txt.gz")
	got, want := readEvents(t, data), readEvents(t, text)
	if len(got) != len(want) {
		t.Fatalf("%d events, tracefs prints %d", len(got), len(want))
	}
	for i := range got {
		// The kernel rounds to the nearest microsecond.
		got[i].Time = (got[i].Time + 500) / 1000 * 1000
		got[i].Detail, want[i].Detail = nil, nil
		if g, w := describe(&got[i], data.Names()), describe(&want[i], text.Names()); g != w {
			t.Fatalf("event %d:\n got %s\nwant %s", i, g, w)
		}
		if got[i].Context != want[i].Context {
			t.Fatalf("event %d: context %+v, want %+v", i, got[i].Context, want[i].Context)
		}
	}
}

// The compact form leaves out the thread that leaves; the reader knows it from
// the switch before.
func TestCompactSchedEqualsText(t *testing.T) {
	compact, text := openFixture(t, "compact.pftrace"), openFixture(t, "tracefs.txt.gz")
	got := readEvents(t, compact)
	var want []Event
	for _, e := range readEvents(t, text) {
		switch e.Kind {
		case KindSwitch, KindWaking, KindExit:
			want = append(want, e)
		}
	}
	if !compact.Stats().Clean() {
		t.Errorf("not clean: %s", compact.Stats())
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	running := make(map[int32]Name)
	for i := range got {
		g, w := &got[i], &want[i]
		if g.Kind != w.Kind || g.Time != w.Time || g.CPU != w.CPU {
			t.Fatalf("event %d: %v at %d on %d, want %v at %d on %d", i, g.Kind, g.Time, g.CPU, w.Kind, w.Time, w.CPU)
		}
		if g.Kind == KindSwitch && running[g.CPU] != NoName {
			w.setText(0, running[g.CPU]) // a name that exec changed meanwhile is not recorded
		}
		gotText, wantText := string(appendBody(nil, g, compact.Names())), string(appendBody(nil, w, text.Names()))
		switch {
		case g.Kind == KindSwitch && running[g.CPU] == NoName: // what ran before is not recorded
			if p := g.Switch().Prev; p.PID != UnknownPID || p.Comm != NoName {
				t.Fatalf("event %d: the first switch leaves %+v, want unknown", i, p)
			}
		case g.Kind == KindExit:
			wantText = strings.TrimSuffix(wantText, " group_dead=true") // Perfetto has no such field
			wantText = strings.TrimSuffix(wantText, " group_dead=false")
			if gotText != wantText {
				t.Fatalf("event %d:\n got %s\nwant %s", i, gotText, wantText)
			}
		case gotText != wantText:
			t.Fatalf("event %d:\n got %s\nwant %s", i, gotText, wantText)
		}
		if w.Kind == KindSwitch {
			running[w.CPU] = w.Switch().Next.Comm
		}
	}
}

// runTimes adds up what each thread ran, as perf sched timehist does: a switch
// ends the time since the one before on its CPU, which is the time of the thread
// that leaves. It goes by the thread that perf names, which is none for one that is
// exiting, so that comes from the printed events.
func runTimes(events, printed []Event) map[int32]int64 {
	last := make(map[int32]int64)
	run := make(map[int32]int64)
	for i := range events {
		e := &events[i]
		if e.Kind != KindSwitch {
			continue
		}
		if since, known := last[e.CPU]; known {
			who := e.Switch().Prev.PID
			if printed[i].PID == UnknownPID {
				who = UnknownPID
			}
			run[who] += e.Time - since
		}
		last[e.CPU] = e.Time
	}
	return run
}

// timehistLine is "comm[tid/pid]  parent  sched-in  run-time ..." in ms.
var timehistLine = regexp.MustCompile(`^ *.+\[(\d+)(?:/\d+)?\] +-?\d+ +(\d+) +(\d+\.\d{3}) `)

func TestRunTimesEqualTimehist(t *testing.T) {
	for _, name := range []string{"perf-sched", "perf-sched-zstd"} {
		run := runTimes(readEvents(t, openFixture(t, name+".data.gz")), readEvents(t, openFixture(t, name+".script.txt.gz")))
		tasks := 0
		for _, l := range fixtureLines(t, name+".timehist.txt") {
			m := timehistLine.FindStringSubmatch(l)
			if m == nil {
				continue
			}
			tasks++
			pid, _ := strconv.Atoi(m[1])
			got := fmt.Sprintf("%.3f", float64(run[int32(pid)]/1000)/1000)
			if got != m[3] {
				t.Errorf("%s: thread %d ran %s ms, timehist prints %s", name, pid, got, m[3])
			}
		}
		if tasks < 10 {
			t.Errorf("%s: timehist lists %d tasks", name, tasks)
		}
	}
}

// "perf record" said of this recording: Processed 3652 samples and lost 29.71%.
// It has 2567, so 3652 - 2567 = 1085 were lost (1085 / 3652 = 29.71 %).
func TestPerfLost(t *testing.T) {
	r := openFixture(t, "perf-lost.data.gz")
	marks := 0
	for _, e := range readEvents(t, r) {
		if e.Kind == KindLost {
			marks++
		}
	}
	s := r.Stats()
	if s.Events != 2567 || s.Lost != 3652-2567 || marks != 20 || s.Clean() {
		t.Errorf("%d marks, want 20, 2567 events and 1085 lost:\n%s", marks, s)
	}
}
