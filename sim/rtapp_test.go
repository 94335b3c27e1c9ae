package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// rt-app's events, held against the arithmetic of its grammar: on CPUs where
// nothing but work and sleep takes time, each column of the logs is a sum.

// logRow is a line of a log by its columns.
type logRow struct {
	Index, Perf, Run, Period, Start, End, Relative, Slack, Duration, CPeriod, Late int64
}

// rtRun simulates a workload without any cost and returns each thread's log, by
// the name between the base name and the ending.
func rtRun(t *testing.T, spec, text string, edit func(*Config)) (map[string][]logRow, *Result) {
	t.Helper()
	m, bench := rtBuild(t, spec, text, func(c *Config) {
		c.Costs = &Costs{SMTSpeed: fullSpeed}
		if edit != nil {
			edit(c)
		}
	})
	r := run(t, m)
	return rtLogs(t, bench, r), r
}

func rtBuild(t *testing.T, spec, text string, edit func(*Config)) (*Sim, workload.Benchmark) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "w.json")
	check(t, os.WriteFile(file, []byte(text), 0o644))
	bench, err := workload.Parse([]string{"rt-app", file})
	check(t, err)
	mach, err := machine.Parse(spec)
	check(t, err)
	scenario, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: 1})
	check(t, err)
	return simulateWith(t, spec, "v6.1", scenario, edit), bench
}

func rtLogs(t *testing.T, bench workload.Benchmark, r *Result) map[string][]logRow {
	t.Helper()
	logs := map[string][]logRow{}
	for _, file := range bench.(workload.Logger).Logs(&r.Observation) {
		var text strings.Builder
		check(t, file.Write(&text))
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file.Path), "rt-app-"), ".log")
		logs[name] = []logRow{}
		for line := range strings.Lines(text.String()) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			var l logRow
			_, err := fmt.Sscan(line, &l.Index, &l.Perf, &l.Run, &l.Period, &l.Start, &l.End, &l.Relative, &l.Slack, &l.Duration, &l.CPeriod, &l.Late)
			check(t, err)
			logs[name] = append(logs[name], l)
		}
	}
	return logs
}

// withGlobal is a workload with logs, which end with its threads.
func withGlobal(tasks, global string) string {
	return `{"tasks": {` + tasks + `}, "global": {` + global + `}}`
}

func ends(rows []logRow) []int64 {
	var list []int64
	for _, r := range rows {
		list = append(list, r.End)
	}
	return list
}

func wantEnds(t *testing.T, what string, rows []logRow, want ...int64) {
	t.Helper()
	if got := ends(rows); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: activations end at %v us, want %v", what, got, want)
	}
}

func TestRTAppRunAndSleep(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 3, "run": 1000, "sleep": 2000}`, ``), nil)
	// pLoad is 100 ns: perf is 1000 / 100.
	want := []logRow{
		{0, 10, 1000, 3000, 0, 3000, 0, 0, 1000, 0, 0},
		{0, 10, 1000, 3000, 3000, 6000, 3000, 0, 1000, 0, 0},
		{0, 10, 1000, 3000, 6000, 9000, 6000, 0, 1000, 0, 0},
	}
	if got := logs["T-0"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A run is a whole number of loops: floor(t * 1000 / pLoad), and each whole
// second of it floor(1e9 / pLoad).
func TestRTAppRunsWholeLoops(t *testing.T) {
	for _, c := range []struct {
		loop, micros, run, perf int64
	}{
		{128, 1000, 1000, 7},                   // 7812 loops of 128 ns are 999936 ns
		{3000, 10, 9, 0},                       // 3 loops
		{20000, 10, 0, 0},                      // none
		{300_000_000, 2_500_000, 2_100_000, 0}, // 3 loops for each second, 1 for the half: 0.9 + 0.9 + 0.3 s
	} {
		logs, _ := rtRun(t, "1n1c1t", withGlobal(fmt.Sprintf(`"T": {"loop": 1, "run": %d}`, c.micros), fmt.Sprintf(`"calibration": %d`, c.loop)), nil)
		got := logs["T-0"][0]
		if got.Run != c.run || got.Perf != c.perf || got.Duration != c.micros {
			t.Errorf("run %d with loops of %d ns: ran %d us, perf %d, c_duration %d; want %d, %d, %d", c.micros, c.loop, got.Run, got.Perf, got.Duration, c.run, c.perf, c.micros)
		}
	}
}

// runtime works in pieces of 32 us until the time is over: 4 of them for
// 100 us. Perf is 32 / pLoad for each.
func TestRTAppRuntimeIsWallTime(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 1, "runtime1": 100}`, `"calibration": 8`), nil)
	if got, want := logs["T-0"][0], (logRow{0, 16, 128, 128, 0, 128, 0, 0, 100, 0, 0}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	// Beside another thread a run takes twice as long, a runtime does not.
	logs, _ = rtRun(t, "1n1c1t", withGlobal(`"A": {"loop": 1, "run": 100000}, "B": {"loop": 1, "runtime": 50000}`, ``), nil)
	a, b := logs["A-0"][0].End, logs["B-1"][0].Period
	if b < 50000 || b > 54000 { // it may have to wait a tick of 4 ms to see that it is over
		t.Errorf("a runtime of 50000 us takes %d, want at most a tick more", b)
	}
	if shared := a - 100000; shared < 20000 || shared > 30000 { // the other one's half
		t.Errorf("a run of 100000 us takes %d, want 120000 to 130000", a)
	}
}

func TestRTAppPeriodicTask(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 4, "run": 3000, "timer": {"ref": "unique", "period": 10000}}`, ``), nil)
	for i, got := range logs["T-0"] {
		start := int64(i) * 10000
		if want := (logRow{0, 30, 3000, 10000, start, start + 10000, start, 7000, 3000, 10000, 0}); got != want {
			t.Errorf("activation %d: got %v, want %v", i, got, want)
		}
	}
}

// The two figures of rt-app's tutorial: the third run takes longer than the
// period of 20 ms. A relative timer begins anew there; an absolute one keeps its
// grid, misses the next one too, and has caught up after it.
func TestRTAppMissedTimers(t *testing.T) {
	const phases = `"T": {"loop": 1, "phases": {
		"a": {"loop": 2, "run": 10000, "timer": {"ref": "unique", "period": 20000, "mode": "MODE"}},
		"b": {"run": 35000, "timer": {"ref": "unique", "period": 20000, "mode": "MODE"}},
		"c": {"loop": 2, "run": 10000, "timer": {"ref": "unique", "period": 20000, "mode": "MODE"}}}}`
	for mode, want := range map[string]struct{ ends, slacks []int64 }{
		"relative": {[]int64{20000, 40000, 75000, 95000, 115000}, []int64{10000, 10000, -15000, 10000, 10000}},
		"absolute": {[]int64{20000, 40000, 75000, 85000, 100000}, []int64{10000, 10000, -15000, -5000, 5000}},
	} {
		logs, _ := rtRun(t, "1n1c1t", withGlobal(strings.ReplaceAll(phases, "MODE", mode), ``), nil)
		wantEnds(t, mode, logs["T-0"], want.ends...)
		for i, row := range logs["T-0"] {
			if row.Slack != want.slacks[i] {
				t.Errorf("%s: slack %d in activation %d, want %d", mode, row.Slack, i, want.slacks[i])
			}
		}
	}
}

// Two timers in a phase: slack is that of the last, or of both.
func TestRTAppSlackOfSeveralTimers(t *testing.T) {
	const task = `"T": {"loop": 1, "run": 1000, "timer1": {"ref": "unique1", "period": 5000}, "run": 3000, "timer2": {"ref": "unique2", "period": 9000}}`
	for cumulative, want := range map[bool]int64{false: 1000, true: 4000 + 1000} { // due at 5 and 9 ms, asked at 1 and 8
		logs, _ := rtRun(t, "1n1c1t", withGlobal(task, fmt.Sprintf(`"cumulative_slack": %v`, cumulative)), nil)
		if got := logs["T-0"][0]; got.Slack != want || got.CPeriod != 14000 || got.End != 9000 || got.Duration != 4000 {
			t.Errorf("cumulative %v: got %v, want slack %d, c_period 14000, end 9000 and c_duration 4000", cumulative, got, want)
		}
	}
}

// A timer that is not unique is one for all threads that name it: each use moves
// it on, so two threads take turns in its periods.
func TestRTAppSharedTimer(t *testing.T) {
	const task = `"T": {"instance": 2, "loop": 3, "timer": {"ref": "NAME", "period": 1000}}`
	logs, _ := rtRun(t, "1n2c1t", withGlobal(strings.ReplaceAll(task, "NAME", "unique"), ``), nil)
	wantEnds(t, "own timers", logs["T-0"], 1000, 2000, 3000)
	wantEnds(t, "own timers", logs["T-1"], 1000, 2000, 3000)
	logs, _ = rtRun(t, "1n2c1t", withGlobal(strings.ReplaceAll(task, "NAME", "tick"), ``), nil)
	all := append(ends(logs["T-0"]), ends(logs["T-1"])...)
	seen := map[int64]bool{}
	for _, end := range all {
		seen[end] = true
	}
	for end := int64(1000); end <= 6000; end += 1000 {
		if !seen[end] {
			t.Errorf("no thread of the shared timer is woken at %d us: %v", end, all)
		}
	}
}

// A delay moves the first activation and the timer's grid with it.
func TestRTAppDelay(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"delay": 5000, "loop": 2, "run": 1000, "timer": {"ref": "unique", "period": 3000}}`, ``), nil)
	wantEnds(t, "delayed by 5 ms", logs["T-0"], 8000, 11000)
	if got := logs["T-0"][0].Relative; got != 5000 {
		t.Errorf("begins at %d us, want 5000", got)
	}
}

func TestRTAppLocks(t *testing.T) {
	// Both want the mutex at once, on two CPUs: the second works after the first.
	logs, _ := rtRun(t, "1n2c1t", withGlobal(`"T": {"instance": 2, "loop": 1, "lock": "m", "run": 1000, "unlock": "m"}`, ``), nil)
	if a, b := logs["T-0"][0].End, logs["T-1"][0].End; min(a, b) != 1000 || max(a, b) != 2000 {
		t.Errorf("ends at %d and %d us, want 1000 and 2000", a, b)
	}
}

func TestRTAppConditions(t *testing.T) {
	const waiters = `"W": {"instance": 2, "loop": 1, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m", "run": 500}`
	// A signal wakes one of two, a broadcast both.
	logs, _ := rtRun(t, "1n4c1t", withGlobal(waiters+`, "S": {"loop": 1, "phases": {
		"a": {"sleep": 1000, "lock": "m", "signal": "c", "unlock": "m"}, "b": {"sleep": 1000, "lock": "m", "signal": "c", "unlock": "m"}}}`, ``), nil)
	if a, b := logs["W-0"][0].End, logs["W-1"][0].End; min(a, b) != 1500 || max(a, b) != 2500 {
		t.Errorf("signals at 1 and 2 ms: waiters end at %d and %d us, want 1500 and 2500", a, b)
	}
	logs, _ = rtRun(t, "1n4c1t", withGlobal(waiters+`, "S": {"loop": 1, "sleep": 1000, "lock": "m", "broad": "c", "unlock": "m"}`, ``), nil)
	wantEnds(t, "broadcast at 1 ms", logs["W-0"], 1500)
	wantEnds(t, "broadcast at 1 ms", logs["W-1"], 1500)
}

// sync signals and waits at once: the two hand each other the turn. A waits from
// the start, B comes at 1 ms and runs again when A is through.
func TestRTAppSync(t *testing.T) {
	logs, _ := rtRun(t, "1n2c1t", withGlobal(`
		"A": {"loop": 1, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "run": 300, "signal": "c", "unlock": "m"},
		"B": {"loop": 1, "sleep": 1000, "lock": "m", "sync": {"ref": "c", "mutex": "m"}, "unlock": "m", "run": 200}`, ``), nil)
	wantEnds(t, "the waiter", logs["A-0"], 1300)
	wantEnds(t, "who syncs", logs["B-1"], 1500)
}

func TestRTAppSuspendAndResume(t *testing.T) {
	logs, _ := rtRun(t, "1n2c1t", withGlobal(`
		"A": {"loop": 2, "suspend", "run": 200},
		"B": {"loop": 2, "sleep": 1000, "resume": "A"}`, ``), nil)
	wantEnds(t, "suspended", logs["A-0"], 1200, 2200)
	// A resume that nobody waits for is lost: A sleeps until the run is stopped.
	logs, r := rtRun(t, "1n2c1t", withGlobal(`"A": {"loop": 1, "sleep": 1000, "suspend", "run": 200}, "B": {"loop": 1, "resume": "A"}`, ``), nil)
	if len(logs["A-0"]) != 0 || r.End != 1e9+2*1200e3 { // 1 s + twice what the threads do
		t.Errorf("an early resume: %v until %d ns, want no activation until 1002400000", logs["A-0"], r.End)
	}
}

// The semaphore remembers posts: two that come before the wait let it pass
// twice without sleeping.
func TestRTAppSemaphores(t *testing.T) {
	logs, _ := rtRun(t, "1n2c1t", withGlobal(`
		"P": {"loop": 3, "sem_post": "s", "sleep": 1000},
		"W": {"loop": 3, "run": 1500, "sem_wait": "s"}`, ``), nil)
	// Posts at 0, 1 and 2 ms; the waits come at 1.5, 3 and 4.5 ms.
	wantEnds(t, "posts before the waits", logs["W-1"], 1500, 3000, 4500)
	logs, _ = rtRun(t, "1n2c1t", withGlobal(`
		"P": {"loop": 2, "sleep": 1000, "sem_post": "s"},
		"W": {"loop": 2, "run": 100, "sem_wait": "s"}`, ``), nil)
	wantEnds(t, "waits before the posts", logs["W-1"], 1000, 2000)
}

// The example of the tutorial: FIRST at 3 ms, SECOND at 6 ms, THIRD at 9 ms.
func TestRTAppBarriers(t *testing.T) {
	logs, _ := rtRun(t, "1n2c1t", withGlobal(`
		"task0": {"loop": 2, "run1": 1000, "sleep1": 2000, "barrier1": "FIRST", "run2": 2000, "barrier2": "SECOND", "run3": 1000, "sleep3": 2000, "barrier3": "THIRD"},
		"task1": {"loop": 2, "run1": 2000, "barrier1": "FIRST", "run2": 1000, "sleep2": 2000, "barrier2": "SECOND", "run3": 2000, "barrier3": "THIRD"}`, ``), nil)
	wantEnds(t, "task0", logs["task0-0"], 9000, 18000)
	wantEnds(t, "task1", logs["task1-1"], 9000, 18000)
}

// Two threads on one CPU: without a yield the first one works 200 us in one go.
func TestRTAppYield(t *testing.T) {
	const task = `"T": {"instance": 2, "loop": 1, "run": 100, YIELD "run": 100}`
	logs, _ := rtRun(t, "1n1c1t", withGlobal(strings.ReplaceAll(task, "YIELD", ""), ``), nil)
	if a, b := logs["T-0"][0].End, logs["T-1"][0].End; min(a, b) != 200 || max(a, b) != 400 {
		t.Errorf("without yield: ends at %d and %d us, want 200 and 400", a, b)
	}
	logs, _ = rtRun(t, "1n1c1t", withGlobal(strings.ReplaceAll(task, "YIELD", `"yield": "",`), ``), nil)
	if a, b := logs["T-0"][0].End, logs["T-1"][0].End; min(a, b) != 300 || max(a, b) != 400 {
		t.Errorf("with yield: ends at %d and %d us, want 300 and 400", a, b)
	}
}

// Forked threads are numbered after those that began at once, and named after
// that number and the fork's own.
func TestRTAppFork(t *testing.T) {
	logs, _ := rtRun(t, "1n4c1t", withGlobal(`
		"child": {"instance": 0, "loop": 1, "run": 500},
		"parent": {"loop": 2, "sleep": 1000, "fork": "child"}`, ``), nil)
	wantEnds(t, "the parent", logs["parent-0"], 1000, 2000)
	wantEnds(t, "the first fork", logs["child-1-0000"], 1500)
	wantEnds(t, "the second fork", logs["child-2-0001"], 2500)
	if got := logs["child-2-0001"][0].Index; got != 2 || len(logs) != 3 {
		t.Errorf("index %d and %d logs, want 2 and 3", got, len(logs))
	}
}

func TestRTAppGivesUpAtTheForkLimit(t *testing.T) {
	m, bench := rtBuild(t, "1n2c1t", withGlobal(`"child": {"instance": 0, "loop": 1, "run": 1}, "parent": {"run": 10, "fork": "child"}`, ``), nil)
	r := run(t, m)
	if got := len(r.Observation.Forks); got != 1024 {
		t.Errorf("%d forks, want 1024", got)
	}
	if got, want := bench.Report(&r.Observation).Failure, "rt-app gives up: a task was forked more than 1024 times"; got != want {
		t.Errorf("failure %q, want %q", got, want)
	}
}

// Affinity changes with the phases: in the second the thread has half of the
// CPU that another one works on all the time.
func TestRTAppAffinity(t *testing.T) {
	logs, r := rtRun(t, "1n2c1t", withGlobal(`
		"hog": {"cpus": [1], "loop": 1, "run": 400000},
		"T": {"cpus": [0], "loop": 1, "phases": {"a": {"run": 100000}, "b": {"cpus": [1], "run": 100000}, "c": {"run": 100000}}}`, ``), nil)
	rows := logs["T-1"]
	if a, c := rows[0].Period, rows[2].Period; a != 100000 || c != 100000 {
		t.Errorf("alone on CPU 0: %d and %d us, want 100000", a, c)
	}
	if b := rows[1].Period; b < 190000 || b > 210000 {
		t.Errorf("beside the hog: %d us, want about 200000", b)
	}
	var moves int64
	for _, n := range r.Migrations {
		moves += n
	}
	if moves < 2 {
		t.Errorf("%d migrations, want at least one to CPU 1 and one back", moves)
	}
}

// turnsIn runs tasks on one CPU for four seconds and returns how many turns of
// 1 ms each of two threads has had.
func turnsIn(t *testing.T, tasks, a, b string) (int, int) {
	t.Helper()
	logs, _ := rtRun(t, "1n1c1t", withGlobal(tasks, `"duration": 4`), func(c *Config) { c.Check = false })
	return len(logs[a]), len(logs[b])
}

func wantRatio(t *testing.T, what string, a, b int, want float64) {
	t.Helper()
	if got := float64(a) / float64(b); got < want*0.9 || got > want*1.1 {
		t.Errorf("%s: %d and %d turns, a ratio of %.2f, want %.2f", what, a, b, got, want)
	}
}

func TestRTAppPriorities(t *testing.T) {
	a, b := turnsIn(t, `"A": {"run": 1000}, "B": {"priority": 5, "run": 1000}`, "A-0", "B-1")
	wantRatio(t, "nice 0 beside nice 5", a, b, 1024.0/335)
	a, b = turnsIn(t, `"A": {"run": 1000}, "B": {"policy": "SCHED_IDLE", "run": 1000}`, "A-0", "B-1")
	if b > a/50 {
		t.Errorf("SCHED_IDLE: %d turns beside %d, want 3 in 1024", b, a)
	}
	// A phase changes the priority of a running thread: its first 500 turns run
	// at nice 0, after that it has nice 5.
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"A": {"run": 1000}, "B": {"loop": 1, "phases": {
		"a": {"loop": 500, "run": 1000}, "b": {"loop": -1, "priority": 5, "run": 1000}}}`, `"duration": 4`), func(c *Config) { c.Check = false })
	rows := logs["B-1"]
	if end := rows[499].End; end < 950_000 || end > 1_050_000 {
		t.Errorf("500 turns of 1 ms at half the CPU end at %d us, want 1000000", end)
	}
	wantRatio(t, "afterwards", len(logs["A-0"])-500, len(rows)-500, 1024.0/335)
}

// Two threads in a group have as much together as one outside of it.
func TestRTAppTaskgroups(t *testing.T) {
	a, b := turnsIn(t, `"A": {"run": 1000}, "B": {"instance": 2, "taskgroup": "/g", "run": 1000}`, "A-0", "B-1")
	wantRatio(t, "a thread beside one of two in a group", a, b, 2)
}

// memset at 64 ns for a KiB, system calls of 100 ns, and pointers that hit the
// core's own cache in 4 ns: the machine's caches are not known, so all fits.
func TestRTAppMemoryAndIO(t *testing.T) {
	costs := func(c *Config) { c.Costs = &Costs{SMTSpeed: fullSpeed, CopyPerKiB: 64, Syscall: 100_000} }
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 1, "phases": {
		"mem": {"mem": 1024000}, "io": {"iorun": 100000}, "chase": {"memrun": {"type": "chase", "size": 4096, "count": 1000}},
		"bytes": {"memrun": {"type": "read", "size": 4096, "count": 30000}}}}`, `"mem_buffer_size": 40000`), costs)
	want := []int64{64, 300, 4, 10} // 1000 KiB; 3 writes of at most 40000 bytes; 1000 hops; 3 bytes a ns
	for i, row := range logs["T-0"] {
		if row.Period != want[i] {
			t.Errorf("phase %d takes %d us, want %d", i, row.Period, want[i])
		}
	}
}

// Phases run in their order, each as often as it says, and all of them as often
// as the task says.
func TestRTAppLoops(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 2, "phases": {"a": {"loop": 2, "run": 100}, "b": {"loop": 3, "run": 10}}}`, ``), nil)
	wantEnds(t, "2 x (2 x 100 + 3 x 10 us)", logs["T-0"], 100, 200, 210, 220, 230, 330, 430, 440, 450, 460)
	logs, _ = rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 0, "phases": {"a": {"run": 100}}}`, ``), nil)
	wantEnds(t, "a task that loops 0 times", logs["T-0"])
}

// A duration ends the run whatever the threads do: 20 activations of 100 ms.
func TestRTAppDuration(t *testing.T) {
	logs, r := rtRun(t, "1n1c1t", withGlobal(`"T": {"run": 10000, "timer": {"ref": "unique", "period": 100000}}`, `"duration": 2`), nil)
	if got := len(logs["T-0"]); got < 19 || got > 20 || r.End < 2e9 || r.End > 2e9+1000 {
		t.Errorf("%d activations until %d ns, want 20 until 2000000000", got, r.End)
	}
}

// A run that logs more than there is room for fails, and keeps what it has.
func TestRTAppStopsWhenTheLogIsFull(t *testing.T) {
	m, bench := rtBuild(t, "1n1c1t", withGlobal(`"T": {"run": 10}`, `"duration": 600`), nil)
	m.periodic.room = 5
	r := run(t, m)
	if got := len(r.Observation.Activations); got != 5 || r.End > 1e6 {
		t.Errorf("%d activations until %d ns, want 5 within a millisecond", got, r.End)
	}
	if failure := bench.Report(&r.Observation).Failure; !strings.Contains(failure, "as many as can be logged") {
		t.Errorf("failure %q", failure)
	}
}

// With a buffer of 1 MiB the log holds the newest 1048576 / 88 lines.
func TestRTAppLogBuffer(t *testing.T) {
	logs, _ := rtRun(t, "1n1c1t", withGlobal(`"T": {"loop": 12000, "run": 10}`, `"log_size": 1`), func(c *Config) { c.Check = false })
	rows := logs["T-0"]
	// Each turn reads the clock four times, and nothing takes less than 1 ns.
	if last := rows[len(rows)-1].End; len(rows) != 11915 || last != 120048 {
		t.Errorf("%d lines, the last of %d us; want 11915 and 120048", len(rows), last)
	}
}

// With the costs of a real machine the arithmetic still holds, to the digit:
// the timer's grid lies a whole number of periods after the first thread's
// clock, wu_lat is the way from there to the end, and slack the way from the end
// of the work to there.
func TestRTAppPeriodicTaskOnARealMachine(t *testing.T) {
	m, bench := rtBuild(t, "1n4c2t", withGlobal(`"T": {"instance": 3, "loop": 50, "run": 700, "timer": {"ref": "unique", "period": 5000}}`, ``), nil)
	r := run(t, m)
	zero := m.periodic.epoch
	for i := range r.Observation.Activations {
		a := &r.Observation.Activations[i]
		seen := 0
		for _, b := range r.Observation.Activations[:i] {
			if b.Task == a.Task {
				seen++
			}
		}
		due := zero + int64(seen+1)*5_000_000
		if want := workload.MicrosOf(a.End - m.costs.ClockRead - due); a.LateMicros != want || a.LateMicros < 50 {
			t.Errorf("task %d, activation %d: wu_lat %d us, want %d, and at least the timer slack of 50", a.Task, seen, a.LateMicros, want)
		}
		if spare := workload.MicrosOf(due-a.Start) - a.RunMicros - a.SlackMicros; spare < 0 || spare > 1 {
			t.Errorf("task %d, activation %d: start, run and slack leave %d us of the period, want 0 or 1", a.Task, seen, spare)
		}
	}
	logs := rtLogs(t, bench, r)
	for name, rows := range logs {
		for i := range rows[1:] {
			if gap := rows[i+1].Start - rows[i].End; gap < 0 || gap > 1 {
				t.Errorf("%s: activation %d begins %d us after the end of the one before", name, i+1, gap)
			}
		}
	}
}
