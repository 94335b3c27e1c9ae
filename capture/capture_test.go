package capture

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedlab/schedlab/bundle"
)

// ranWith is a command that notes whether it ran, and prints.
func ranWith(k *fakeKernel, ran *bool) runner {
	return func(_ context.Context, _ []string, out io.Writer) error {
		*ran = true
		for dir := range k.folders {
			if strings.HasPrefix(filepath.Base(dir), instancePrefix) && k.files[dir+"/tracing_on"] != "1" {
				return errors.New("recording is off")
			}
		}
		_, err := io.WriteString(out, "hello\n")
		return err
	}
}

func options(t *testing.T) Options {
	return Options{Dir: filepath.Join(t.TempDir(), "b"), Command: []string{"cmd"}}
}

func TestBundleIsComplete(t *testing.T) {
	k, ran, o := newFakeKernel(), false, options(t)
	report, err := run(context.Background(), k, o, ranWith(k, &ran))
	if err != nil || !ran || report.CommandError != nil {
		t.Fatalf("error %v, ran %v, command %v", err, ran, report)
	}
	if len(report.Notes) != 0 || len(report.Lost) != 0 {
		t.Errorf("notes %q, lost %q, want none: this kernel has everything", report.Notes, report.Lost)
	}
	for name, want := range map[string]string{
		bundle.MachineFile:  "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list: 0-1\n",
		bundle.TunablesFile: "WA_IDLE NO_SIS_PROP SIS_UTIL TTWU_QUEUE \nnr_migrate: 32\n/proc/sys/kernel/sched_rr_timeslice_ms: 100\n/proc/sys/kernel/sched_schedstats: 1\nLinux version 6.1.0 (x)\n",
		bundle.GroupsFile:   "== / idle= weight= max= \nusage_usec 5\n== /be idle=1 weight=0 max=max 100000 \nusage_usec 3\n",
		bundle.OutputFile:   "hello\n",
		bundle.BeforeFile:   "version 15\n",
		bundle.AfterFile:    "version 15\n",
	} {
		data, err := os.ReadFile(filepath.Join(o.Dir, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %q, %v, want %q in it", name, data, err, want)
		}
	}
	if got := readGzip(t, filepath.Join(o.Dir, bundle.TraceFile)); got != "# tracer: nop\n" {
		t.Errorf("trace %q", got)
	}
	if left := k.ours(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	k.othersUntouched(t)
	for _, want := range []string{
		"write /sys/kernel/tracing/instances/schedlab-77-4242-stats0/trace_clock mono",
		"write /sys/kernel/tracing/instances/schedlab-77-4242-stats0/events/irq/softirq_entry/filter vec==7",
		"write /sys/kernel/tracing/kprobe_events r:schedlab_77_4242/selr select_task_rq_fair ret=$retval:s32",
		// 192+256+40, 192+144, 128+40: see fakeTypes
		"load=+488($arg1):u64", "qload=+168(+336($arg1)):u64", "prevload=+424(+320(+336($arg1))):u64",
	} {
		if !strings.Contains(k.String(), want) {
			t.Errorf("the kernel was not told %q", want)
		}
	}
}

func readGzip(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Whichever change fails, everything else is changed back; and what could not
// be changed back is said, and done by the next capture.
func TestEveryFailureIsChangedBack(t *testing.T) {
	whole := newFakeKernel()
	ran := false
	if _, err := run(context.Background(), whole, options(t), ranWith(whole, &ran)); err != nil {
		t.Fatal(err)
	}
	// The instance and 4 settings of it, 10 events and a filter, 8 probes defined
	// and switched on, the statistics, recording on and off: 5 + 11 + 16 + 1 + 2.
	// Back again: the statistics, 8 probes off and gone, events off, recording
	// off, the instance: 1 + 16 + 3.
	if whole.ops != 55 {
		t.Fatalf("a whole run makes %d changes, want 55:\n%s", whole.ops, whole)
	}
	for n := 1; n <= whole.ops; n++ {
		for _, failure := range []error{fs.ErrPermission, errors.New("input/output error")} {
			k := newFakeKernel()
			k.fail, k.failure = n, failure
			ran := false
			report, err := run(context.Background(), k, options(t), ranWith(k, &ran))
			left := k.ours()
			told := err != nil && strings.Contains(err.Error(), "not everything could be changed back")
			if len(left) > 0 && !told {
				t.Errorf("change %d, %s: left behind and not told (error %v): %q", n, k.log[n-1], err, left)
			}
			if err == nil && len(report.Notes) == 0 && !strings.Contains(k.log[n-1], "overwrite") {
				t.Errorf("change %d, %s failed, and nobody said so", n, k.log[n-1])
			}
			k.othersUntouched(t)
			delete(k.files, "/proc/77/stat") // the process has ended
			k.fail = 0
			if _, err := sweep(k, fakeTracing); err != nil {
				t.Errorf("change %d: sweeping: %v", n, err)
			}
			if left := slices.DeleteFunc(k.ours(), func(s string) bool { return s == statsPath+"=1" && told }); len(left) != 0 {
				t.Errorf("change %d, %s: left behind after the next capture: %q", n, k.log[n-1], left)
			}
			k.othersUntouched(t)
		}
	}
}

// A command that fails, or makes capture itself fail, is no reason to leave
// anything behind.
func TestCommandFailures(t *testing.T) {
	broken := errors.New("exit status 3")
	k := newFakeKernel()
	report, err := run(context.Background(), k, options(t), func(context.Context, []string, io.Writer) error { return broken })
	if err != nil || !errors.Is(report.CommandError, broken) {
		t.Errorf("error %v, report %+v, want the command's error in the report", err, report)
	}
	if left := k.ours(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}

	k = newFakeKernel()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = run(context.Background(), k, options(t), func(context.Context, []string, io.Writer) error { panic("bug") })
	}()
	if left := k.ours(); len(left) != 0 {
		t.Errorf("left behind by a panic: %q", left)
	}
}

// An interrupted capture writes what it has and changes everything back.
func TestInterruptedCapture(t *testing.T) {
	k, o := newFakeKernel(), options(t)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := run(ctx, k, o, func(ctx context.Context, _ []string, _ io.Writer) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context canceled", err)
	}
	if left := k.ours(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if got := readGzip(t, filepath.Join(o.Dir, bundle.TraceFile)); got != "# tracer: nop\n" {
		t.Errorf("trace %q, want what was recorded", got)
	}
}

// What a killed capture has left is removed by the next one; what a living one
// uses is not.
func TestSweepKnowsTheDeadFromTheLiving(t *testing.T) {
	prepared := func() *fakeKernel {
		k := newFakeKernel()
		s := &session{k: k, o: Options{Dir: "x"}, undo: &undo{}}
		if err := s.prepare(); err != nil { // and then SIGKILL: undo never runs
			t.Fatal(err)
		}
		if left := k.ours(); len(left) != 10 { // the instance, 8 probes, the statistics
			t.Fatalf("a prepared capture has changed %q, want 10 things", left)
		}
		return k
	}
	k := prepared()
	if notes, err := sweep(k, fakeTracing); err != nil || len(notes) != 0 || len(k.ours()) != 10 {
		t.Errorf("living: notes %q, error %v, left %d, want nothing touched", notes, err, len(k.ours()))
	}

	for name, change := range map[string]func(*fakeKernel){
		"ended":             func(k *fakeKernel) { delete(k.files, "/proc/77/stat") },
		"its number reused": func(k *fakeKernel) { k.files["/proc/77/stat"] = strings.Replace(ownStat, "4242", "9999", 1) },
	} {
		k := prepared()
		change(k)
		notes, err := sweep(k, fakeTracing)
		if err != nil || len(k.ours()) != 0 {
			t.Errorf("%s: error %v, left %q", name, err, k.ours())
		}
		if len(notes) != 10 { // instance, statistics, 8 probes
			t.Errorf("%s: %d notes, want 10: %q", name, len(notes), notes)
		}
		k.othersUntouched(t)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeKernel)
		fatal  bool
		want   []string
	}{
		"no tracefs": {func(k *fakeKernel) { k.files, k.folders = map[string]string{}, map[string]bool{} }, true,
			[]string{"no tracefs in /sys/kernel/tracing", "mount -t tracefs"}},
		"no permission": {func(k *fakeKernel) { k.fail = 1 }, true, []string{"needs root", "sudo"}},
		"no kprobes": {func(k *fakeKernel) { delete(k.files, fakeTracing+"/kprobe_events") }, false,
			[]string{"no kprobes (CONFIG_KPROBE_EVENTS)", "judged from sched_waking"}},
		"no types": {func(k *fakeKernel) { delete(k.files, btfPath) }, false, []string{"cannot read hidden state", "CONFIG_DEBUG_INFO_BTF"}},
		"probes refused": {func(k *fakeKernel) { k.refuse = func(string) error { return fs.ErrPermission } }, false,
			[]string{"the kernel refuses probe sel on select_task_rq_fair", "lockdown"}},
		"no addresses of data": {func(k *fakeKernel) {
			k.refuse = func(d string) error {
				if strings.Contains(d, "@") {
					return fs.ErrNotExist
				}
				return nil
			}
		}, false, []string{"probe sel without jiffies: "}},
		"reading refused": {func(k *fakeKernel) {
			k.refuse = func(d string) error {
				if strings.Contains(d, "+") {
					return fs.ErrInvalid
				}
				return nil
			}
		}, false, []string{"probe sel without pid, flips, "}},
		"no such function": {func(k *fakeKernel) { k.files[symbolsPath] = "ffff t select_task_rq_fair.isra.0\n" }, false,
			[]string{"placements (sel, selr): this kernel has no function select_task_rq_fair", "sched_balance_rq or load_balance"}},
		"no cgroup events": {func(k *fakeKernel) { k.lacks = "cgroup_attach_task" }, false,
			[]string{"moves between control groups will not be seen"}},
		"no switches": {func(k *fakeKernel) { k.lacks = "sched_switch" }, true, []string{"sched_switch/enable", "nothing can be recorded"}},
		"no features": {func(k *fakeKernel) { delete(k.files, debugSched+"/features") }, false, []string{"features cannot be read", "mount -t debugfs"}},
		"no counters": {func(k *fakeKernel) { delete(k.files, countersPath) }, false, []string{"CONFIG_SCHEDSTATS"}},
		"no cgroups":  {func(k *fakeKernel) { delete(k.files, "/proc/self/mounts") }, false, []string{"cgroup v2 is not mounted"}},
	} {
		t.Run(name, func(t *testing.T) {
			k, ran := newFakeKernel(), false
			c.change(k)
			report, err := run(context.Background(), k, options(t), ranWith(k, &ran))
			if c.fatal != (err != nil) || c.fatal == ran {
				t.Fatalf("error %v, ran %v; want it fatal: %v", err, ran, c.fatal)
			}
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				text = strings.Join(report.Notes, "\n")
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in: %s", want, text)
				}
			}
			if left := k.ours(); !c.fatal && len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestLostEventsAreCounted(t *testing.T) {
	stats := "entries: 100\noverrun: 7\ncommit overrun: 1\nbytes: 9\ndropped events: 20\nread events: 3\n"
	if got := countLost(stats); got != 28 { // 7 + 1 + 20
		t.Errorf("%d lost, want 28", got)
	}
	k, ran := newFakeKernel(), false
	report, err := run(context.Background(), k, options(t), func(ctx context.Context, c []string, out io.Writer) error {
		for dir := range k.folders {
			if strings.HasPrefix(filepath.Base(dir), instancePrefix) {
				k.files[dir+"/per_cpu/cpu0/stats"] = stats
			}
		}
		k.files[fakeTracing+"/kprobe_profile"] = "  schedlab_77_4242/sel   100  3\n  others/theirs 5 9\n"
		return ranWith(k, &ran)(ctx, c, out)
	})
	if err != nil || len(report.Lost) != 2 {
		t.Fatalf("error %v, lost %q, want two", err, report)
	}
	for i, want := range []string{"cpu0 lost 28 events", "probe sel missed 3 hits"} {
		if !strings.Contains(report.Lost[i], want) {
			t.Errorf("lost %q, want %q", report.Lost[i], want)
		}
	}
}

// Before v5.12 the placement function gets two flags (captures of 5.10 have
// both).
func TestTwoFlagsOfOldKernels(t *testing.T) {
	w := newTypeWriter()
	s32 := w.integer("int", 4, true)
	w.structure("task_struct", fakeMember{"pid", s32, 16})
	w.function("select_task_rq_fair", "p", "prev_cpu", "sd_flag", "wake_flags")
	types, err := parseTypes(w.bytes())
	if err != nil {
		t.Fatal(err)
	}
	b := &probeBuilder{types: types, has: func(name string) bool { return name == placementFunction }}
	got := b.placement()[0].definition("g")
	want := "p:g/sel select_task_rq_fair prev=$arg2:s32 flags=$arg3:x32 wflags=$arg4:x32 pid=+16($arg1):s32 jiffies=@jiffies_64:u64"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestStatOfAnyName(t *testing.T) {
	pid, start, ok := parseStat("12 (a) S (b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 555 0")
	if pid != "12" || start != "555" || !ok { // the 20th field behind the last parenthesis
		t.Errorf("%q %q %v, want 12, 555", pid, start, ok)
	}
	for _, bad := range []string{"", "12", "x (a) S", "12 (a) S 1 2"} {
		if _, _, ok := parseStat(bad); ok {
			t.Errorf("%q was understood", bad)
		}
	}
}

func TestDefaultBuffer(t *testing.T) {
	for _, c := range []struct{ cpus, want int }{
		{1, 32768},   // 262144 at most 32768
		{64, 4096},   // 262144/64
		{1024, 2048}, // 256, at least 2048
	} {
		if got := DefaultBufferKB(c.cpus); got != c.want {
			t.Errorf("%d CPUs: %d KiB, want %d", c.cpus, got, c.want)
		}
	}
}

// On a machine where tracing is possible: the real thing.
func TestRealKernel(t *testing.T) {
	tracing, found := findTracing(osFS{})
	if !found || os.Geteuid() != 0 {
		t.Log("left out: needs root and tracefs")
		return
	}
	probes := func() string {
		data, _ := os.ReadFile(filepath.Join(tracing, "kprobe_events"))
		return string(data)
	}
	before := probes()
	own := func() []string {
		me, err := self(osFS{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := osFS{}.ReadDir(filepath.Join(tracing, "instances"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, me.instance(false)) })
	}
	o := Options{Dir: filepath.Join(t.TempDir(), "b"), Command: []string{"sh", "-c", "sleep 0.01; echo done"}, BufferKB: 2048}
	report, err := Run(context.Background(), o)
	if err != nil {
		t.Logf("left out: %v", err)
		return
	}
	t.Logf("%q", report.Notes)
	got := readGzip(t, filepath.Join(o.Dir, bundle.TraceFile))
	for _, want := range []string{"sched_switch:", "sched_process_exec: filename=", "sched_process_fork:", "sched_wakeup"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in the trace", want)
		}
	}

	o.Dir, o.Command = filepath.Join(t.TempDir(), "c"), []string{"sleep", "60"}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Run(ctx, o); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("interrupted: error %v after %v", err, time.Since(began))
	}
	if left := own(); len(left) != 0 || probes() != before {
		t.Errorf("left behind: %q, probes %q, before %q", left, probes(), before)
	}
}
