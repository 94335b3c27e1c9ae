package capture

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Own traces nothing but in an instance of its own. Its name tells who made it
// and what has to be changed back besides: see leftovers.go.

// tracingPlaces are where tracefs is usually mounted.
var tracingPlaces = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// tracingMend is how to get at tracefs.
const tracingMend = "mount it (mount -t tracefs nodev /sys/kernel/tracing) and run as root; in a container it must be passed in, and a kernel without CONFIG_TRACING has none"

// event is one event of the kernel to record.
type event struct {
	system, name string
	filter       string
	// wanted says what is lost without it; empty: nothing can be had without it.
	wanted string
}

// recordedEvents are the events of a bundle.
var recordedEvents = []event{
	{system: "sched", name: "sched_switch"},
	{system: "sched", name: "sched_waking"},
	{system: "sched", name: "sched_wakeup"},
	{system: "sched", name: "sched_wakeup_new"},
	{system: "sched", name: "sched_migrate_task"},
	{system: "sched", name: "sched_process_fork", wanted: "children will not inherit their parents' state"},
	{system: "sched", name: "sched_process_exec", wanted: "execs will not be seen"},
	{system: "sched", name: "sched_process_exit", wanted: "exits will not be seen"},
	{system: "irq", name: "softirq_entry", filter: "vec==7", wanted: "periodic balancing will not be seen"},
	{system: "cgroup", name: "cgroup_attach_task", wanted: "moves between control groups will not be seen"},
}

// instance is a trace instance of ours, and the probes for it.
type instance struct {
	k       kernelFS
	tracing string // where tracefs is
	name    string
	group   string // of our probes
	undo    *undo
	probes  []*probe
	notes   []string
}

func (i *instance) path(parts ...string) string {
	return filepath.Join(append([]string{i.tracing, "instances", i.name}, parts...)...)
}

func (i *instance) note(format string, args ...any) {
	i.notes = append(i.notes, fmt.Sprintf(format, args...))
}

// findTracing returns where tracefs is mounted.
func findTracing(k kernelFS) (string, bool) {
	for _, place := range tracingPlaces {
		if _, err := k.ReadDir(filepath.Join(place, "instances")); err == nil {
			return place, true
		}
	}
	return "", false
}

// create makes the instance and sets its clock and buffer, recording off.
func (i *instance) create(bufferKB int) error {
	dir := i.path()
	i.undo.add("removing the trace instance "+dir, func() error { return ignoreMissing(i.k.Remove(dir)) })
	if err := i.k.Mkdir(dir); err != nil {
		return fmt.Errorf("%s: %w; tracing needs root: run it with sudo, and in a container with the capability for tracefs", dir, err)
	}
	i.undo.add("switching tracing off", func() error { return ignoreMissing(i.k.WriteFile(i.path("tracing_on"), "0")) })
	if err := i.set("tracing_on", "0"); err != nil {
		return err
	}
	if err := i.set("trace_clock", "mono"); err != nil {
		return err
	}
	if err := i.set("buffer_size_kb", strconv.Itoa(bufferKB)); err != nil {
		return fmt.Errorf("%w; ask for a smaller buffer with --buffer-kb", err)
	}
	// A full buffer keeps what it has: a recording without its beginning tells
	// less than one without its end.
	if err := i.set("options/overwrite", "0"); err != nil {
		i.note("%v: if a buffer is full the oldest events are lost", err)
	}
	return nil
}

func (i *instance) set(file, value string) error {
	if err := i.k.WriteFile(i.path(file), value); err != nil {
		return fmt.Errorf("%s: cannot write %q: %w", i.path(file), value, err)
	}
	return nil
}

// enableEvents switches on what is to be recorded.
func (i *instance) enableEvents() error {
	i.undo.add("switching events off", func() error { return ignoreMissing(i.k.WriteFile(i.path("events/enable"), "0")) })
	for _, e := range recordedEvents {
		err := i.enable(e)
		switch {
		case err == nil:
		case e.wanted == "":
			return fmt.Errorf("%w; without this event nothing can be recorded", err)
		default:
			i.note("%v: %s", err, e.wanted)
		}
	}
	return nil
}

func (i *instance) enable(e event) error {
	folder := filepath.Join("events", e.system, e.name)
	if e.filter != "" {
		if err := i.set(filepath.Join(folder, "filter"), e.filter); err != nil {
			return err
		}
	}
	return i.set(filepath.Join(folder, "enable"), "1")
}

// probesFile is where probes are defined; it is common to all instances.
func (i *instance) probesFile() string { return filepath.Join(i.tracing, "kprobe_events") }

// noProbes is what there is without kprobe_events.
const noProbes = "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): placements are judged from sched_waking and sched_wakeup, without hidden state, and balance passes are not seen"

// placeProbes places what the kernel lets us, and notes what it does not.
func (i *instance) placeProbes() {
	if !exists(i.k, i.probesFile()) {
		i.note(noProbes)
		return
	}
	builder := &probeBuilder{types: i.readTypes(), has: i.functions()}
	for _, p := range builder.allProbes() {
		i.placeProbe(p)
	}
	i.notes = append(i.notes, builder.notes...)
}

// readTypes reads the kernel's own description of its types. Without it probes
// read registers only.
func (i *instance) readTypes() *kernelTypes {
	types, err := readTypes(i.k)
	if err == nil {
		return types
	}
	i.note("%v: the probes cannot read hidden state; a kernel with CONFIG_DEBUG_INFO_BTF could", err)
	return &kernelTypes{structs: map[string]uint32{}, funcs: map[string]uint32{}}
}

func readTypes(k kernelFS) (*kernelTypes, error) {
	data, err := k.ReadFile(btfPath)
	var types *kernelTypes
	if err == nil {
		types, err = parseTypes(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", btfPath, err)
	}
	return types, nil
}

// symbolsPath lists the kernel's functions.
const symbolsPath = "/proc/kallsyms"

// functions returns which of the kernel's functions there are. Copies that the
// compiler made (name.isra.0) do not count: their parameters are not certain.
func (i *instance) functions() func(string) bool {
	known := map[string]bool{}
	data, err := i.k.ReadFile(symbolsPath)
	if err != nil {
		i.note("%v: the kernel is asked for each function by its usual name", err)
		return func(string) bool { return true }
	}
	for len(data) > 0 {
		var line string
		line, data = cutLine(data)
		if fields := strings.Fields(line); len(fields) >= 3 && strings.EqualFold(fields[1], "t") {
			known[fields[2]] = true
		}
	}
	return func(name string) bool { return known[name] }
}

func cutLine(data []byte) (string, []byte) {
	for n, c := range data {
		if c == '\n' {
			return string(data[:n]), data[n+1:]
		}
	}
	return string(data), nil
}

// placeProbe defines a probe and switches it on in our instance.
func (i *instance) placeProbe(p *probe) {
	remove := fmt.Sprintf("-:%s/%s", i.group, p.name)
	i.undo.add("removing probe "+p.name, func() error {
		if !i.defined(p.name) {
			return nil
		}
		return i.k.WriteFile(i.probesFile(), remove+"\n")
	})
	// Before the definition goes the event must be off: a probe in use stays.
	i.undo.add("switching probe "+p.name+" off", func() error {
		return ignoreMissing(i.k.WriteFile(i.path("events", i.group, p.name, "enable"), "0"))
	})
	if !i.define(p) {
		return
	}
	if err := i.set(filepath.Join("events", i.group, p.name, "enable"), "1"); err != nil {
		i.note("%v", err)
		return
	}
	i.probes = append(i.probes, p)
}

// define defines the probe, or as much of it as the kernel accepts.
func (i *instance) define(p *probe) bool {
	err := i.k.WriteFile(i.probesFile(), p.definition(i.group)+"\n")
	if err == nil {
		return true
	}
	for _, q := range p.lesser() {
		if i.k.WriteFile(i.probesFile(), q.definition(i.group)+"\n") == nil {
			i.note("probe %s without %s: the kernel refuses to read that: %v", p.name, p.without(q), err)
			return true
		}
	}
	i.note("the kernel refuses probe %s on %s: %v%s", p.name, p.function, err, refusalHint(err))
	return false
}

func refusalHint(err error) string {
	if forbidden(err) {
		return "; kernel lockdown or a security module forbids probes"
	}
	return ""
}

// defined reports whether a probe of ours is defined.
func (i *instance) defined(name string) bool {
	data, err := i.k.ReadFile(i.probesFile())
	return err == nil && strings.Contains(string(data), ":"+i.group+"/"+name+" ")
}

// lost returns how many events each CPU had to drop, and how many hits probes
// have missed.
func (i *instance) lost() []string {
	var out []string
	cpus, err := i.k.ReadDir(i.path("per_cpu"))
	if err != nil {
		return []string{fmt.Sprintf("%v: whether events were lost is not known", err)}
	}
	for _, cpu := range cpus {
		data, err := i.k.ReadFile(i.path("per_cpu", cpu, "stats"))
		if err != nil {
			continue
		}
		if n := countLost(string(data)); n > 0 {
			out = append(out, fmt.Sprintf("%s lost %d events: its buffer was full; give --buffer-kb more, or record a shorter command", cpu, n))
		}
	}
	return append(out, i.missedHits()...)
}

// countLost adds up "overrun: 3" and "dropped events: 4".
func countLost(stats string) int64 {
	total := int64(0)
	for _, line := range strings.Split(stats, "\n") {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key != "overrun" && key != "commit overrun" && key != "dropped events" {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err == nil {
			total += n
		}
	}
	return total
}

// missedHits reads kprobe_profile: group/event, hits, misses.
func (i *instance) missedHits() []string {
	data, err := i.k.ReadFile(filepath.Join(i.tracing, "kprobe_profile"))
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		for _, p := range i.probes {
			if len(fields) == 3 && strings.TrimPrefix(fields[0], i.group+"/") == p.name && fields[2] != "0" {
				out = append(out, fmt.Sprintf("probe %s missed %s hits", p.name, fields[2]))
			}
		}
	}
	return out
}

// copyTrace copies what was recorded.
func (i *instance) copyTrace(out io.Writer) error {
	in, err := i.k.Open(i.path("trace"))
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close())
}

func ignoreMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}
