package capture

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakeKernel is tracefs, procfs and sysfs in memory, with the rules that matter
// for changing things back: a new instance has its own files, a probe can only
// be removed while it is off everywhere, and kprobe_events is one for all.
type fakeKernel struct {
	files   map[string]string
	folders map[string]bool
	// fail is the number of the write, mkdir or remove that fails, from 1; 0:
	// none.
	fail, ops int
	failure   error
	refuse    func(definition string) error
	lacks     string // name of an event that the kernel does not have
	log       []string
}

const fakeTracing = "/sys/kernel/tracing"

// own is the stat of the process that captures.
const ownStat = "77 (sched lab) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1"

func newFakeKernel() *fakeKernel {
	k := &fakeKernel{files: map[string]string{}, folders: map[string]bool{}, failure: fs.ErrPermission}
	k.folders[fakeTracing+"/instances"] = true
	k.makeInstanceFiles(fakeTracing + "/instances/other")
	k.files[fakeTracing+"/instances/other/tracing_on"] = "1"
	k.files[fakeTracing+"/kprobe_events"] = "p:others/theirs do_exit\n"
	k.files["/proc/self/stat"] = ownStat
	k.files["/proc/77/stat"] = ownStat
	k.files[statsPath] = "0"
	k.files[countersPath] = "version 15\n"
	k.files[versionPath] = "Linux version 6.1.0 (x)\n"
	k.files[sysctlFolder+"/sched_rr_timeslice_ms"] = "100\n"
	k.files[debugSched+"/features"] = "WA_IDLE NO_SIS_PROP SIS_UTIL TTWU_QUEUE\n"
	k.files[debugSched+"/nr_migrate"] = "32\n"
	k.files[cpuFolder+"/online"] = "0-1\n"
	for _, cpu := range []string{"cpu0", "cpu1"} {
		k.files[cpuFolder+"/"+cpu+"/topology/thread_siblings_list"] = "0-1\n"
	}
	k.files[nodeFolder+"/node0/cpulist"] = "0-1\n"
	k.files["/proc/self/mounts"] = "cgroup2 /cg cgroup2 rw 0 0\n"
	k.files["/cg/cpu.stat"] = "usage_usec 5\n"
	k.files["/cg/be/cpu.weight"], k.files["/cg/be/cpu.idle"] = "0\n", "1\n"
	k.files["/cg/be/cpu.max"], k.files["/cg/be/cpu.stat"] = "max 100000\n", "usage_usec 3\n"
	k.files["/cg/other/memory.max"] = "max\n" // without the cpu controller
	k.files[symbolsPath] = "ffff t select_task_rq_fair\nffff T load_balance\nffff t can_migrate_task\nffff t throttle_cfs_rq\nffff T unthrottle_cfs_rq\n"
	k.files[btfPath] = string(fakeTypes())
	return k
}

func (k *fakeKernel) makeInstanceFiles(dir string) {
	for _, name := range []string{"tracing_on", "trace_clock", "buffer_size_kb", "options/overwrite", "events/enable", "per_cpu/cpu0/stats", "trace"} {
		k.files[dir+"/"+name] = "0"
	}
	k.files[dir+"/trace"] = "# tracer: nop\n"
	k.files[dir+"/per_cpu/cpu0/stats"] = "entries: 1\noverrun: 0\ndropped events: 0\n"
	for _, e := range recordedEvents {
		if e.name == k.lacks {
			continue
		}
		k.files[dir+"/events/"+e.system+"/"+e.name+"/enable"] = "0"
		k.files[dir+"/events/"+e.system+"/"+e.name+"/filter"] = "none"
	}
	k.folders[dir] = true
}

func (k *fakeKernel) operate(what string) error {
	k.ops++
	k.log = append(k.log, what)
	if k.ops == k.fail {
		return &fs.PathError{Op: "fake", Path: what, Err: k.failure}
	}
	return nil
}

func notThere(name string) error { return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist} }

func (k *fakeKernel) ReadFile(name string) ([]byte, error) {
	if text, ok := k.files[name]; ok {
		return []byte(text), nil
	}
	return nil, notThere(name)
}

func (k *fakeKernel) Open(name string) (io.ReadCloser, error) {
	data, err := k.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(strings.NewReader(string(data))), nil
}

func (k *fakeKernel) ReadDir(name string) ([]string, error) {
	var names []string
	add := func(p string) {
		if rest, ok := strings.CutPrefix(p, name+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			names = append(names, first)
		}
	}
	for p := range k.files {
		add(p)
	}
	for p := range k.folders {
		add(p)
	}
	if len(names) == 0 && !k.folders[name] {
		return nil, notThere(name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (k *fakeKernel) Mkdir(name string) error {
	if err := k.operate("mkdir " + name); err != nil {
		return err
	}
	if k.folders[name] {
		return fs.ErrExist
	}
	k.makeInstanceFiles(name)
	for _, line := range strings.Split(k.files[fakeTracing+"/kprobe_events"], "\n") {
		if group, probe, ok := parseDefinition(line); ok {
			k.files[path.Join(name, "events", group, probe, "enable")] = "0"
		}
	}
	return nil
}

func (k *fakeKernel) Remove(name string) error {
	if err := k.operate("rmdir " + name); err != nil {
		return err
	}
	if !k.folders[name] {
		return notThere(name)
	}
	delete(k.folders, name)
	for p := range k.files {
		if strings.HasPrefix(p, name+"/") {
			delete(k.files, p)
		}
	}
	return nil
}

func (k *fakeKernel) WriteFile(name, text string) error {
	if err := k.operate("write " + name + " " + strings.TrimSpace(text)); err != nil {
		return err
	}
	if name == fakeTracing+"/kprobe_events" {
		return k.editProbes(strings.TrimSpace(text))
	}
	if _, ok := k.files[name]; !ok {
		return notThere(name)
	}
	k.files[name] = text
	if dir, all := strings.CutSuffix(name, "/events/enable"); all {
		for p := range k.files {
			if strings.HasPrefix(p, dir+"/events/") && strings.HasSuffix(p, "/enable") {
				k.files[p] = text
			}
		}
	}
	return nil
}

func (k *fakeKernel) editProbes(text string) error {
	file := fakeTracing + "/kprobe_events"
	if full, remove := strings.CutPrefix(text, "-:"); remove {
		if !strings.Contains(k.files[file], ":"+full+" ") {
			return fs.ErrNotExist
		}
		for p, value := range k.files {
			if strings.HasSuffix(p, "/events/"+full+"/enable") && value == "1" {
				return syscall.EBUSY
			}
		}
		var kept []string
		for _, line := range strings.Split(k.files[file], "\n") {
			if !strings.Contains(line, ":"+full+" ") {
				kept = append(kept, line)
			}
		}
		k.files[file] = strings.Join(kept, "\n")
		for p := range k.files {
			if strings.HasSuffix(p, "/events/"+full+"/enable") {
				delete(k.files, p)
			}
		}
		return nil
	}
	if k.refuse != nil {
		if err := k.refuse(text); err != nil {
			return err
		}
	}
	group, name, ok := parseDefinition(text)
	if !ok {
		return fs.ErrInvalid
	}
	k.files[file] += text + "\n"
	for dir := range k.folders {
		if dir != fakeTracing+"/instances" {
			k.files[path.Join(dir, "events", group, name, "enable")] = "0"
		}
	}
	return nil
}

// ours lists what a capture has changed and not changed back.
func (k *fakeKernel) ours() []string {
	var left []string
	for dir := range k.folders {
		if strings.HasPrefix(path.Base(dir), instancePrefix) {
			left = append(left, dir)
		}
	}
	for _, line := range strings.Split(k.files[fakeTracing+"/kprobe_events"], "\n") {
		if strings.Contains(line, ":"+groupPrefix) {
			left = append(left, line)
		}
	}
	if k.files[statsPath] != "0" {
		left = append(left, statsPath+"="+k.files[statsPath])
	}
	slices.Sort(left)
	return left
}

// othersUntouched fails when somebody else's tracing was changed.
func (k *fakeKernel) othersUntouched(t *testing.T) {
	t.Helper()
	other := fakeTracing + "/instances/other"
	if !k.folders[other] || k.files[other+"/tracing_on"] != "1" {
		t.Errorf("the other instance was changed: there %v, tracing_on %q", k.folders[other], k.files[other+"/tracing_on"])
	}
	for _, e := range recordedEvents {
		if p := other + "/events/" + e.system + "/" + e.name + "/enable"; k.files[p] != "0" {
			t.Errorf("%s is %q, want 0", p, k.files[p])
		}
	}
	if !strings.Contains(k.files[fakeTracing+"/kprobe_events"], "p:others/theirs do_exit") {
		t.Errorf("the other probe is gone: %q", k.files[fakeTracing+"/kprobe_events"])
	}
}

func (k *fakeKernel) String() string { return fmt.Sprint(strings.Join(k.log, "\n")) }
