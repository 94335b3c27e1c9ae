package capture

import (
	"fmt"
	"slices"
	"strings"
)

// Probes on functions of the fair scheduler. Each is a line of kprobe_events
// (Documentation/trace/kprobetrace.rst); what it reads is found by the names of
// structures and parameters, not by versions.

// probe is one probe to be placed.
type probe struct {
	name     string // of the event
	returns  bool
	function string
	fetches  []fetch
}

// fetch is one field that a probe reads.
type fetch struct {
	name string
	expr string // in the language of kprobe_events, type included
	// extra: the probe is worth having without it.
	extra bool
}

// definition is the line for kprobe_events.
func (p *probe) definition(group string) string {
	var b strings.Builder
	kind := "p"
	if p.returns {
		kind = "r"
	}
	fmt.Fprintf(&b, "%s:%s/%s %s", kind, group, p.name, p.function)
	for _, f := range p.fetches {
		fmt.Fprintf(&b, " %s=%s", f.name, f.expr)
	}
	return b.String()
}

// lesser lists what to try when the kernel refuses a probe: first without what
// needs the address of a variable (not every kernel tells addresses of data),
// then without all that it can do without.
func (p *probe) lesser() []*probe {
	var out []*probe
	for _, keep := range []func(fetch) bool{
		func(f fetch) bool { return !f.extra || !strings.HasPrefix(f.expr, "@") },
		func(f fetch) bool { return !f.extra },
	} {
		q := *p
		q.fetches = nil
		for _, f := range p.fetches {
			if keep(f) {
				q.fetches = append(q.fetches, f)
			}
		}
		if n := len(q.fetches); n < len(p.fetches) && n > 0 {
			out = append(out, &q)
		}
	}
	return out
}

// without names the fields of p that q has not.
func (p *probe) without(q *probe) string {
	var names []string
	for _, f := range p.fetches {
		if !slices.ContainsFunc(q.fetches, func(g fetch) bool { return g.name == f.name }) {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// probeBuilder makes probes for a kernel.
type probeBuilder struct {
	types *kernelTypes
	has   func(function string) bool // there is such a function
	notes []string
}

// allProbes returns what can be probed on this kernel, in the order in which
// the events happen.
func (b *probeBuilder) allProbes() []*probe {
	var all []*probe
	for _, add := range []func() []*probe{b.placement, b.balance, b.canMigrate, b.bandwidth} {
		all = append(all, add()...)
	}
	return all
}

// function returns the first of several names of a function that the kernel
// has, and notes when it has none.
func (b *probeBuilder) function(what string, names ...string) (string, bool) {
	for _, name := range names {
		if b.has(name) {
			return name, true
		}
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: this kernel has no function %s that could be probed", what, strings.Join(names, " or ")))
	return "", false
}

// arg returns the expression of a parameter by its name, else by its usual
// place, from 1.
func (b *probeBuilder) arg(function, name string, place int) string {
	if names, known := b.types.parameters(function); known {
		if i := slices.Index(names, name); i >= 0 {
			place = i + 1
		}
	}
	return fmt.Sprintf("$arg%d", place)
}

// read adds fields that are members of structures. Each entry is a name, a
// pointer expression, and the path of the member that it points at. A member
// that the kernel does not have is left out, with a note.
func (b *probeBuilder) read(p *probe, members [][3]string) {
	for _, m := range members {
		f, err := b.types.field(m[2])
		if err == nil && f.size == 0 {
			err = fmt.Errorf("the kernel's %s is not a number", m[2])
		}
		if err != nil {
			b.notes = append(b.notes, fmt.Sprintf("probe %s without %s: %v", p.name, m[0], err))
			continue
		}
		p.fetches = append(p.fetches, fetch{m[0], fmt.Sprintf("+%d(%s):%s", f.offset, m[1], typeName(f)), true})
	}
}

func typeName(f kernelField) string {
	if f.signed {
		return fmt.Sprintf("s%d", 8*f.size)
	}
	return fmt.Sprintf("u%d", 8*f.size)
}

// behind returns the expression of a pointer that is a member of what another
// one points at.
func (b *probeBuilder) behind(pointer, path string) (string, bool) {
	f, err := b.types.field(path)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("+%d(%s)", f.offset, pointer), true
}

const placementFunction = "select_task_rq_fair"

// placement is sel and selr.
func (b *probeBuilder) placement() []*probe {
	fn, ok := b.function("placements (sel, selr)", placementFunction)
	if !ok {
		return nil
	}
	task := b.arg(fn, "p", 1)
	sel := &probe{name: "sel", function: fn}
	sel.fetches = []fetch{
		{name: "prev", expr: b.arg(fn, "prev_cpu", 2) + ":s32"},
		{name: "flags", expr: b.arg(fn, b.flagsParameter(fn), 3) + ":x32"},
	}
	if b.passesTwoFlags(fn) {
		sel.fetches = append(sel.fetches, fetch{name: "wflags", expr: b.arg(fn, "wake_flags", 4) + ":x32"})
	}
	if !b.blind() {
		b.readHidden(sel, task)
	}
	return []*probe{sel, returnProbe("selr", fn, "ret", "s32")}
}

// readHidden adds the state that a placement depends on and no event shows.
func (b *probeBuilder) readHidden(sel *probe, task string) {
	b.read(sel, [][3]string{
		{"pid", task, "task_struct.pid"},
		{"flips", task, "task_struct.wakee_flips"},
		{"decay", task, "task_struct.wakee_flip_decay_ts"},
	})
	sel.fetches = append(sel.fetches, fetch{"jiffies", "@jiffies_64:u64", true})
	b.read(sel, [][3]string{
		{"recent", task, "task_struct.recent_used_cpu"},
		{"load", task, "task_struct.se.avg.load_avg"},
		{"util", task, "task_struct.se.avg.util_avg"},
		{"policy", task, "task_struct.policy"},
		{"nallowed", task, "task_struct.nr_cpus_allowed"},
	})
	b.readAffinity(sel, task)
	b.readQueues(sel, task)
}

// flagsParameter is the parameter with the kind of placement: the domain flag
// before v5.12, the wake flags since.
func (b *probeBuilder) flagsParameter(fn string) string {
	if b.passesTwoFlags(fn) {
		return "sd_flag"
	}
	return "wake_flags"
}

func (b *probeBuilder) passesTwoFlags(fn string) bool {
	names, known := b.types.parameters(fn)
	return known && slices.Contains(names, "sd_flag")
}

// readAffinity reads the first word of the mask that cpus_ptr points at, or of
// cpus_allowed before v5.3.
func (b *probeBuilder) readAffinity(p *probe, task string) {
	if mask, ok := b.behind(task, "task_struct.cpus_ptr"); ok {
		p.fetches = append(p.fetches, fetch{"allowed", fmt.Sprintf("+0(%s):x64", mask), true})
		return
	}
	f, err := b.types.field("task_struct.cpus_allowed")
	if err != nil {
		b.notes = append(b.notes, "probe sel without allowed: "+err.Error())
		return
	}
	p.fetches = append(p.fetches, fetch{"allowed", fmt.Sprintf("+%d(%s):x64", f.offset, task), true})
}

// readQueues reads the loads of the queue that the task was on and of its CPU.
func (b *probeBuilder) readQueues(p *probe, task string) {
	queue, ok := b.behind(task, "task_struct.se.cfs_rq")
	if !ok {
		b.notes = append(b.notes, "probe sel without qload, prevload and previdle: the kernel has no CONFIG_FAIR_GROUP_SCHED")
		return
	}
	b.read(p, [][3]string{{"qload", queue, "cfs_rq.avg.load_avg"}})
	rq, ok := b.behind(queue, "cfs_rq.rq")
	if !ok {
		b.notes = append(b.notes, "probe sel without prevload and previdle: the kernel's cfs_rq does not tell its CPU")
		return
	}
	b.read(p, [][3]string{{"prevload", rq, "rq.cfs.avg.load_avg"}, {"previdle", rq, "rq.avg_idle"}})
}

func returnProbe(name, function, field, typ string) *probe {
	return &probe{name: name, returns: true, function: function, fetches: []fetch{{name: field, expr: "$retval:" + typ}}}
}

// blind: the kernel does not describe its structures, so only registers can be
// read.
func (b *probeBuilder) blind() bool { return len(b.types.structs) == 0 }

// balance is lb and lbr; the function got its present name in v6.10.
func (b *probeBuilder) balance() []*probe {
	if b.blind() {
		return nil
	}
	fn, ok := b.function("balance passes (lb, lbr)", "sched_balance_rq", "load_balance")
	if !ok {
		return nil
	}
	domain := b.arg(fn, "sd", 3)
	lb := &probe{name: "lb", function: fn}
	lb.fetches = []fetch{{name: "dst", expr: b.arg(fn, "this_cpu", 1) + ":s32"}}
	b.read(lb, [][3]string{
		{"level", domain, "sched_domain.level"},
		{"span", domain, "sched_domain.span_weight"},
		{"failed", domain, "sched_domain.nr_balance_failed"},
		{"interval", domain, "sched_domain.balance_interval"},
	})
	lb.fetches = append(lb.fetches, fetch{name: "idle", expr: b.arg(fn, "idle", 4) + ":s32"})
	return []*probe{lb, returnProbe("lbr", fn, "pulled", "s32")}
}

// canMigrate is cm and cmr.
func (b *probeBuilder) canMigrate() []*probe {
	if b.blind() {
		return nil
	}
	fn, ok := b.function("tasks judged by balance passes (cm, cmr)", "can_migrate_task")
	if !ok {
		return nil
	}
	task, env := b.arg(fn, "p", 1), b.arg(fn, "env", 2)
	cm := &probe{name: "cm", function: fn}
	b.read(cm, [][3]string{
		{"pid", task, "task_struct.pid"},
		{"src", env, "lb_env.src_cpu"},
		{"dst", env, "lb_env.dst_cpu"},
		{"imbalance", env, "lb_env.imbalance"},
		{"type", env, "lb_env.migration_type"},
		{"load", task, "task_struct.se.avg.load_avg"},
		{"util", task, "task_struct.se.avg.util_avg"},
	})
	return []*probe{cm, returnProbe("cmr", fn, "ret", "s32")}
}

// bandwidth is thr and unthr.
func (b *probeBuilder) bandwidth() []*probe {
	if b.blind() {
		return nil
	}
	var all []*probe
	for _, p := range []struct{ name, function string }{{"thr", "throttle_cfs_rq"}, {"unthr", "unthrottle_cfs_rq"}} {
		fn, ok := b.function("throttling ("+p.name+")", p.function)
		if !ok {
			continue
		}
		queue := b.arg(fn, "cfs_rq", 1)
		made := &probe{name: p.name, function: fn, fetches: []fetch{{name: "cfs", expr: queue + ":x64"}}}
		if rq, ok := b.behind(queue, "cfs_rq.rq"); ok {
			b.read(made, [][3]string{{"cpu", rq, "rq.cpu"}})
		}
		all = append(all, made)
	}
	return all
}
