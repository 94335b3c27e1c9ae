package quota

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// recording writes ftrace's text: a worker (pid 42) is woken every 10 ms, waits
// 100 us, runs 1 ms, is preempted for 2 ms, runs another 0.5 ms and sleeps. In
// between runs a stranger.
func recording(t *testing.T, requests int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# tracer: nop\n#\n")
	at := func(ms float64) string { return fmt.Sprintf("%.6f", 100+ms/1000) }
	line := func(who string, ms float64, event string) {
		fmt.Fprintf(&b, "%16s [000] d..2. %s: %s\n", who, at(ms), event)
	}
	for i := range requests {
		start := float64(10 * i)
		line("<idle>-0", start, "sched_waking: comm=worker pid=42 prio=120 target_cpu=000")
		line("<idle>-0", start+0.01, "sched_wakeup: comm=worker pid=42 prio=120 target_cpu=000")
		line("<idle>-0", start+0.1, "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=worker next_pid=42 next_prio=120")
		line("worker-42", start+1.1, "sched_switch: prev_comm=worker prev_pid=42 prev_prio=120 prev_state=R ==> next_comm=stranger next_pid=7 next_prio=120")
		line("stranger-7", start+3.1, "sched_switch: prev_comm=stranger prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=worker next_pid=42 next_prio=120")
		line("worker-42", start+3.6, "sched_switch: prev_comm=worker prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120")
	}
	file := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// 30 requests, one every 10 ms, of 1 + 0.5 ms each: 100 a second that need 0.15
// CPUs. Waiting and being preempted are no work.
func TestObserve(t *testing.T) {
	file := recording(t, 30)
	for _, path := range []string{file, filepath.Dir(file)} {
		for _, task := range []string{"worker", "42"} {
			o, err := Observe(path, Which{Task: task})
			if err != nil {
				t.Fatal(err)
			}
			if o.Threads != 1 || o.Requests != 30 || o.Span != 290*time.Millisecond {
				t.Errorf("%s: %d threads, %d requests in %s; want 1, 30, 290ms", task, o.Threads, o.Requests, o.Span)
			}
			if want := slices.Repeat([]int64{1_500_000}, 30); !slices.Equal(o.Sizes.Table, want) {
				t.Errorf("%s: sizes %v", task, o.Sizes.Table)
			}
			if want := slices.Repeat([]int64{10_000_000}, 30); !slices.Equal(o.Intervals.Table, want) {
				t.Errorf("%s: intervals %v", task, o.Intervals.Table)
			}
			if o.Rate() != 100 {
				t.Errorf("%s: %g requests a second, want 100", task, o.Rate())
			}
		}
	}
}

func TestObserveSaysWhatIsMissing(t *testing.T) {
	few := recording(t, 5)
	empty := t.TempDir()
	for path, want := range map[string]string{
		few:                           "5 wakeups of threads of worker",
		empty:                         "is a folder without a recording",
		filepath.Join(empty, "x.txt"): "no such file",
	} {
		if _, err := Observe(path, Which{Task: "worker"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := Observe(few, Which{Group: "/app"}); err == nil || !strings.Contains(err.Error(), "threads in cgroup /app") {
		t.Errorf("got %v", err)
	}
}
