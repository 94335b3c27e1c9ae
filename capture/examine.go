package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Check is one thing that a recording needs or is better with.
type Check struct {
	// Name is a word or two, such as "tracefs".
	Name string
	// OK: it is there, whole.
	OK bool
	// Found says what there is, or what is missing and what is lost by that.
	Found string
	// Mend says how to get what is missing; empty when OK.
	Mend string
}

// Examine says what [Run] could record on this machine. It looks and changes
// nothing, so that what only an attempt would show (a security module that
// forbids probes) stays open.
func Examine() []Check {
	if runtime.GOOS != "linux" {
		return []Check{{Name: "Linux", Found: "this is " + runtime.GOOS + ", and only Linux's scheduler can be recorded",
			Mend: "copy schedlab to a Linux machine; simulating and explaining work here"}}
	}
	return examine(osFS{}, os.Geteuid())
}

func examine(k kernelFS, uid int) []Check {
	checks := []Check{checkRoot(uid), checkLockdown(k)}
	tracing, found := findTracing(k)
	checks = append(checks, checkTracing(k, tracing, found))
	if found {
		i := &instance{k: k, tracing: tracing}
		checks = append(checks, checkEvents(i), checkProbes(i))
	}
	return append(checks, checkTypes(k), checkSettings(k), checkCounters(k))
}

func checkRoot(uid int) Check {
	if uid == 0 {
		return Check{Name: "root", OK: true, Found: "running as root"}
	}
	return Check{Name: "root", Found: fmt.Sprintf("running as user %d, who may not trace; what root would see may be hidden below", uid),
		Mend: "run it with sudo"}
}

// lockdownPath has the level in brackets: "none [integrity] confidentiality".
const lockdownPath = "/sys/kernel/security/lockdown"

// checkLockdown: tracefs and probes are forbidden from "confidentiality" on,
// debugfs from "integrity" on (security/security.c, lockdown_reasons).
func checkLockdown(k kernelFS) Check {
	data, err := k.ReadFile(lockdownPath)
	text := string(data)
	const mend = "boot with lockdown=none (Secure Boot may insist on it: switch that off in the firmware)"
	switch {
	case err != nil:
		return Check{Name: "lockdown", OK: true, Found: "the kernel shows no lockdown"}
	case strings.Contains(text, "[confidentiality]"):
		return Check{Name: "lockdown", Found: "confidentiality: tracing and probes are forbidden", Mend: mend}
	case strings.Contains(text, "[integrity]"):
		return Check{Name: "lockdown", Found: "integrity: debugfs is shut, so the scheduler's features and tunables cannot be read", Mend: mend}
	}
	return Check{Name: "lockdown", OK: true, Found: "none"}
}

func checkTracing(k kernelFS, tracing string, found bool) Check {
	if found {
		return Check{Name: "tracefs", OK: true, Found: tracing}
	}
	for _, place := range tracingPlaces {
		if _, err := k.ReadDir(place); forbidden(err) {
			return Check{Name: "tracefs", Found: place + " may not be looked into: nothing can be recorded, and whether the kernel has events and probes is not known", Mend: "run it as root"}
		}
	}
	return Check{Name: "tracefs", Found: "not in " + strings.Join(tracingPlaces, " or ") + ": nothing can be recorded", Mend: tracingMend}
}

func checkEvents(i *instance) Check {
	var lacking []string
	for _, e := range recordedEvents {
		if !exists(i.k, filepath.Join(i.tracing, "events", e.system, e.name)) {
			lacking = append(lacking, e.lack())
		}
	}
	if lacking == nil {
		return Check{Name: "events", OK: true, Found: fmt.Sprintf("all %d", len(recordedEvents))}
	}
	return Check{Name: "events", Found: strings.Join(lacking, "; "), Mend: "run as root; a kernel with CONFIG_FTRACE and CONFIG_CGROUPS has them all"}
}

// lack says what is lost when the kernel does not have the event.
func (e event) lack() string {
	if e.wanted == "" {
		return "no " + e.name + ": nothing can be recorded"
	}
	return "no " + e.name + ": " + e.wanted
}

// checkProbes counts the probes that would be placed.
func checkProbes(i *instance) Check {
	if !exists(i.k, i.probesFile()) {
		return Check{Name: "probes", Found: noProbes, Mend: "run as root, on a kernel with CONFIG_KPROBE_EVENTS"}
	}
	builder := &probeBuilder{types: i.readTypes(), has: i.functions()}
	found := fmt.Sprintf("%d can be placed", len(builder.allProbes()))
	if len(builder.notes) == 0 {
		return Check{Name: "probes", OK: true, Found: found}
	}
	return Check{Name: "probes", Found: found + "; " + strings.Join(builder.notes, "; "),
		Mend: "none but another kernel, such as the distribution's own; what can be placed is recorded"}
}

func checkTypes(k kernelFS) Check {
	types, err := readTypes(k)
	if err != nil {
		return Check{Name: "BTF", Found: fmt.Sprintf("%v: the probes cannot read hidden state", err),
			Mend: "a kernel with CONFIG_DEBUG_INFO_BTF, as distributions have"}
	}
	return Check{Name: "BTF", OK: true, Found: fmt.Sprintf("%d structures, %d functions", len(types.structs), len(types.funcs))}
}

func checkSettings(k kernelFS) Check {
	if d := (&description{}); d.features(k) {
		return Check{Name: "settings", OK: true, Found: "the scheduler's features can be read"}
	}
	return Check{Name: "settings", Found: "the scheduler's features cannot be read: the kernel's defaults will be assumed",
		Mend: "run as root with debugfs mounted: mount -t debugfs none /sys/kernel/debug"}
}

func checkCounters(k kernelFS) Check {
	if exists(k, countersPath) {
		return Check{Name: "counters", OK: true, Found: countersPath}
	}
	return Check{Name: "counters", Found: "no " + countersPath + ": how often the scheduler did what will not be known",
		Mend: "a kernel with CONFIG_SCHEDSTATS"}
}
