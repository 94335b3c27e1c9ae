package capture

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// What belongs to a trace: the machine, the settings in force, the groups.

const (
	statsPath    = "/proc/sys/kernel/sched_schedstats"
	countersPath = "/proc/schedstat"
	versionPath  = "/proc/version"
	sysctlFolder = "/proc/sys/kernel"
	debugSched   = "/sys/kernel/debug/sched"
	cpuFolder    = "/sys/devices/system/cpu"
	nodeFolder   = "/sys/devices/system/node"
)

// description is one text file of a bundle, and what could not be found out.
type description struct {
	strings.Builder
	notes []string
}

func (d *description) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// line adds "path: value" of a file that can be read.
func (d *description) line(k kernelFS, path string) bool {
	data, err := k.ReadFile(path)
	if err != nil {
		return false
	}
	_, _ = fmt.Fprintf(d, "%s: %s\n", path, oneLine(string(data)))
	return true
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// describeMachine lists the files of sysfs by which a machine is known, and the
// scheduler's domains where debugfs shows them.
func describeMachine(k kernelFS) *description {
	d := &description{}
	d.domains(k)
	d.line(k, filepath.Join(cpuFolder, "online"))
	cpus := numbered(k, cpuFolder, "cpu")
	for _, cpu := range cpus {
		for _, file := range []string{"topology/thread_siblings_list", "topology/cluster_cpus_list", "topology/package_cpus_list", "cpu_capacity"} {
			d.line(k, filepath.Join(cpu, file))
		}
	}
	for _, cpu := range cpus {
		for _, cache := range numbered(k, filepath.Join(cpu, "cache"), "index") {
			for _, file := range []string{"level", "type", "size", "shared_cpu_list"} {
				d.line(k, filepath.Join(cache, file))
			}
		}
	}
	for _, node := range numbered(k, nodeFolder, "node") {
		d.line(k, filepath.Join(node, "cpulist"))
		d.line(k, filepath.Join(node, "distance"))
	}
	if len(cpus) == 0 {
		d.note("%s shows no CPU: the machine is not described", cpuFolder)
	}
	return d
}

// domains writes a line for each sched domain: its name, imbalance_pct and flags.
func (d *description) domains(k kernelFS) {
	for _, cpu := range numbered(k, filepath.Join(debugSched, "domains"), "cpu") {
		for _, domain := range numbered(k, cpu, "domain") {
			name, _ := k.ReadFile(filepath.Join(domain, "name"))
			pct, _ := k.ReadFile(filepath.Join(domain, "imbalance_pct"))
			flags, _ := k.ReadFile(filepath.Join(domain, "flags"))
			_, _ = fmt.Fprintf(d, "%s %s ibp=%s flags=%s\n", domain, oneLine(string(name)), oneLine(string(pct)), oneLine(string(flags)))
		}
	}
}

var trailingNumber = regexp.MustCompile(`^\d+$`)

// numbered returns the paths of the entries "prefix0", "prefix1", ... of a
// folder, by number.
func numbered(k kernelFS, folder, prefix string) []string {
	names, err := k.ReadDir(folder)
	if err != nil {
		return nil
	}
	var out []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, prefix); ok && trailingNumber.MatchString(rest) {
			out = append(out, filepath.Join(folder, name))
		}
	}
	sortByNumber(out)
	return out
}

// describeSettings lists the scheduler's features and tunables, and the kernel.
func describeSettings(k kernelFS) *description {
	d := &description{}
	if !d.features(k) {
		d.note("the scheduler's features cannot be read: the kernel's defaults will be assumed. Mount debugfs (mount -t debugfs none /sys/kernel/debug); under kernel lockdown they cannot be had")
	}
	d.debugTunables(k)
	d.sysctls(k)
	version, err := k.ReadFile(versionPath)
	if err != nil {
		d.note("%v: name the folder above the bundle after the kernel, such as 6.1", err)
		return d
	}
	d.WriteString(strings.TrimSpace(string(version)) + "\n")
	return d
}

// features writes the line of feature bits; kernels before v5.13 have it
// elsewhere.
func (d *description) features(k kernelFS) bool {
	for _, path := range []string{debugSched + "/features", "/sys/kernel/debug/sched_features"} {
		if data, err := k.ReadFile(path); err == nil {
			d.WriteString(strings.TrimSpace(string(data)) + " \n")
			return true
		}
	}
	return false
}

func (d *description) debugTunables(k kernelFS) {
	names, err := k.ReadDir(debugSched)
	if err != nil {
		return // a kernel before v5.13, which has them among the sysctls
	}
	for _, name := range names {
		switch name {
		case "debug", "features", "preempt", "verbose":
			continue
		}
		data, err := k.ReadFile(filepath.Join(debugSched, name))
		if err == nil {
			_, _ = fmt.Fprintf(d, "%s: %s\n", name, oneLine(string(data)))
		}
	}
}

func (d *description) sysctls(k kernelFS) {
	names, err := k.ReadDir(sysctlFolder)
	if err != nil {
		d.note("%v: the scheduler's sysctls are not known", err)
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, "sched_") {
			d.line(k, filepath.Join(sysctlFolder, name))
		}
	}
}

// groupFiles are what is told about a group, beside cpu.stat.
var groupFiles = []struct{ key, file string }{{"idle", "cpu.idle"}, {"weight", "cpu.weight"}, {"max", "cpu.max"}}

// describeGroups lists the control groups with the cpu controller: the root,
// and those below it, parents first.
func describeGroups(k kernelFS) *description {
	d := &description{}
	root, ok := cgroupRoot(k)
	if !ok {
		d.note("cgroup v2 is not mounted: control groups are not described")
		return d
	}
	d.group(k, root, "/")
	d.groupsBelow(k, root, "")
	return d
}

// cgroupRoot returns where cgroup v2 is mounted.
func cgroupRoot(k kernelFS) (string, bool) {
	data, err := k.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", false
	}
	for _, line := range strings.Split(string(data), "\n") {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1], true
		}
	}
	return "", false
}

func (d *description) groupsBelow(k kernelFS, dir, path string) {
	names, err := k.ReadDir(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		below := filepath.Join(dir, name)
		if !exists(k, filepath.Join(below, "cpu.weight")) {
			continue
		}
		d.group(k, below, path+"/"+name)
		d.groupsBelow(k, below, path+"/"+name)
	}
}

func (d *description) group(k kernelFS, dir, path string) {
	_, _ = fmt.Fprintf(d, "== %s", path)
	for _, f := range groupFiles {
		data, _ := k.ReadFile(filepath.Join(dir, f.file)) // the root has none
		_, _ = fmt.Fprintf(d, " %s=%s", f.key, oneLine(string(data)))
	}
	d.WriteString(" \n")
	if stat, err := k.ReadFile(filepath.Join(dir, "cpu.stat")); err == nil {
		d.WriteString(strings.TrimSpace(string(stat)) + "\n")
	}
}
