package capture

import (
	"io/fs"
	"strings"
	"testing"
)

// checkNamed returns the check of that name.
func checkNamed(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %v", name, checks)
	return Check{}
}

// withoutFiles removes everything below a path from a false kernel.
func (k *fakeKernel) withoutFiles(prefix string) {
	for name := range k.files {
		if strings.HasPrefix(name, prefix) {
			delete(k.files, name)
		}
	}
	for name := range k.folders {
		if strings.HasPrefix(name, prefix) {
			delete(k.folders, name)
		}
	}
}

// wholeKernel has the events where the kernel lists them, not only an
// instance's.
func wholeKernel() *fakeKernel {
	k := newFakeKernel()
	for _, e := range recordedEvents {
		k.files[fakeTracing+"/events/"+e.system+"/"+e.name+"/enable"] = "0"
	}
	return k
}

func TestExaminedMachineLacksNothing(t *testing.T) {
	k := wholeKernel()
	for _, c := range examine(k, 0) {
		if !c.OK && c.Name != "probes" { // the false kernel's types are few
			t.Errorf("%s: %s", c.Name, c.Found)
		}
		if c.OK != (c.Mend == "") {
			t.Errorf("%s: ok %v, mend %q", c.Name, c.OK, c.Mend)
		}
	}
	if k.ops != 0 {
		t.Errorf("examining changed the kernel: %v", k.log)
	}
}

// The probes that are announced are those that a capture places.
func TestExamineAnnouncesTheProbesThatArePlaced(t *testing.T) {
	k := wholeKernel()
	found := checkNamed(t, examine(k, 0), "probes").Found
	i := &instance{k: k, tracing: fakeTracing, name: "other", group: "g", undo: &undo{}}
	builder := &probeBuilder{types: i.readTypes(), has: i.functions()}
	// sel, selr, lb, lbr, cm, cmr, thr, unthr
	if n := len(builder.allProbes()); n != 8 || !strings.HasPrefix(found, "8 can be placed") {
		t.Errorf("%d probes; examine says %q", n, found)
	}
}

func TestExamineNamesWhatIsLacking(t *testing.T) {
	cases := []struct {
		name, check, found, mend string
		uid                      int
		spoil                    func(*fakeKernel)
	}{
		{"user", "root", "user 1000", "sudo", 1000, func(*fakeKernel) {}},
		{"lockdown", "lockdown", "probes are forbidden", "lockdown=none", 0,
			func(k *fakeKernel) { k.files[lockdownPath] = "none integrity [confidentiality]\n" }},
		{"half a lockdown", "lockdown", "debugfs is shut", "lockdown=none", 0,
			func(k *fakeKernel) { k.files[lockdownPath] = "none [integrity] confidentiality\n" }},
		{"no tracefs", "tracefs", "nothing can be recorded", "mount -t tracefs", 0,
			func(k *fakeKernel) { k.withoutFiles(fakeTracing) }},
		{"no exec event", "events", "execs will not be seen", "CONFIG_FTRACE", 0,
			func(k *fakeKernel) { k.withoutFiles(fakeTracing + "/events/sched/sched_process_exec") }},
		{"no switch event", "events", "no sched_switch: nothing can be recorded", "CONFIG_FTRACE", 0,
			func(k *fakeKernel) { k.withoutFiles(fakeTracing + "/events/sched/sched_switch") }},
		{"no kprobes", "probes", "no kprobes", "CONFIG_KPROBE_EVENTS", 0,
			func(k *fakeKernel) { k.withoutFiles(fakeTracing + "/kprobe_events") }},
		{"inlined placement", "probes", "no function select_task_rq_fair", "another kernel", 0,
			func(k *fakeKernel) { k.files[symbolsPath] = "ffff T load_balance\n" }},
		{"no BTF", "BTF", "cannot read hidden state", "CONFIG_DEBUG_INFO_BTF", 0,
			func(k *fakeKernel) { k.withoutFiles(btfPath) }},
		{"no debugfs", "settings", "defaults will be assumed", "mount -t debugfs", 0,
			func(k *fakeKernel) { k.withoutFiles(debugSched) }},
		{"no counters", "counters", "no " + countersPath, "CONFIG_SCHEDSTATS", 0,
			func(k *fakeKernel) { k.withoutFiles(countersPath) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := wholeKernel()
			c.spoil(k)
			got := checkNamed(t, examine(k, c.uid), c.check)
			if got.OK || !strings.Contains(got.Found, c.found) || !strings.Contains(got.Mend, c.mend) {
				t.Errorf("%+v; want it lacking, with %q and %q", got, c.found, c.mend)
			}
		})
	}
}

// shutKernel lets nobody into tracefs, as it is for users.
type shutKernel struct{ *fakeKernel }

func (k shutKernel) ReadDir(name string) ([]string, error) {
	if strings.HasPrefix(name, fakeTracing) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return k.fakeKernel.ReadDir(name)
}

func TestExamineTellsForbiddenFromMissing(t *testing.T) {
	got := checkNamed(t, examine(shutKernel{wholeKernel()}, 1000), "tracefs")
	if got.OK || !strings.HasPrefix(got.Found, fakeTracing+" may not be looked into") || got.Mend != "run it as root" {
		t.Errorf("%+v", got)
	}
}

// What capture refuses to begin without is what the examination names.
func TestExamineAndCaptureAgreeOnTracefs(t *testing.T) {
	k := newFakeKernel()
	k.withoutFiles(fakeTracing)
	err := (&session{k: k, undo: &undo{}}).prepare()
	mend := checkNamed(t, examine(k, 0), "tracefs").Mend
	if err == nil || !strings.HasSuffix(err.Error(), mend) {
		t.Errorf("capture: %v; examine: %q", err, mend)
	}
}
