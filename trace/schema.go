package trace

// Kind is what an event says.
type Kind uint8

// The kinds. Their fields are in the schema table below; typed views of them are
// in views.go.
const (
	KindOther            Kind = iota // any other event, kept by name with its printed form
	KindSwitch                       // sched_switch
	KindWaking                       // sched_waking
	KindWakeup                       // sched_wakeup
	KindWakeupNew                    // sched_wakeup_new
	KindMigrate                      // sched_migrate_task
	KindFork                         // sched_process_fork
	KindExec                         // sched_process_exec
	KindExit                         // sched_process_exit
	KindFree                         // sched_process_free
	KindStatRuntime                  // sched_stat_runtime
	KindSoftirqRaise                 // softirq_raise
	KindSoftirqEntry                 // softirq_entry
	KindSoftirqExit                  // softirq_exit
	KindAttach                       // cgroup_attach_task
	KindTick                         // tick: a scheduler tick begins on a CPU
	KindSelect                       // sel: entry of select_task_rq_fair
	KindSelectReturn                 // selr: its return
	KindThrottle                     // thr: throttle_cfs_rq
	KindUnthrottle                   // unthr: unthrottle_cfs_rq
	KindBalance                      // lb: entry of a balance pass
	KindBalanceReturn                // lbr: its return
	KindCanMigrate                   // cm: entry of can_migrate_task
	KindCanMigrateReturn             // cmr: its return
	KindDecay                        // decay: a CPU's blocked load is brought up to date (simulations only)
	KindIdleCost                     // idlecost: the bound of a CPU's avg_idle changes (simulations only)
	KindArrive                       // arrive: a task that was moved waits on its new CPU (simulations only)
	KindOverload                     // overload: a CPU enters or leaves the overload mask of a patch (simulations only)
	KindNewidle                      // newidle: a CPU without work starts to look for some (simulations only)
	KindIdleAgain                    // idleagain: an idle CPU looked for work in vain (simulations only)
	KindIdleState                    // idlestate: an idle CPU chooses another idle state (simulations only)
	KindPolicy                       // policy: a task's scheduling policy (simulations only)
	KindDelay                        // delay: a sleeper stays queued, or does not any longer (simulations only)
	KindLost                         // events were lost here: not an event of the kernel
	numKinds
)

// NumKinds is the number of kinds, for arrays indexed by Kind.
const NumKinds = int(numKinds)

// String returns the kernel's name of the event, or "other" and "lost".
func (k Kind) String() string { return k.schema().event }

// fieldType is how a field is printed, and so how it is read.
type fieldType uint8

const (
	fieldInt   fieldType = iota // decimal
	fieldHex                    // 0x and hexadecimal
	fieldCPU                    // decimal of at least three digits
	fieldTask                   // the name of a task: at most 15 bytes, any of them
	fieldPath                   // a text of any length
	fieldState                  // letters of State
	fieldBool                   // true or false
)

// field is one field of an event.
type field struct {
	name     string // as the kernel prints it
	typ      fieldType
	optional bool   // not all kernels have it
	alias    string // another name: that of the binary record, or of another kernel
}

// schema is what one kind of event carries.
type schema struct {
	event  string
	fields []field
	// suffix says that the print format ends in a bracket that carries nothing,
	// such as "[ns]" or "[action=SCHED]".
	suffix bool
	// arrow is the slot before which the print format has "==>".
	arrow int
	// once says that the same event cannot happen twice at the same time.
	once bool
}

// slot returns the index of a field, or -1.
func (s *schema) slot(name string) int {
	for i := range s.fields {
		if f := &s.fields[i]; f.name == name || f.alias == name && name != "" {
			return i
		}
	}
	return -1
}

var wakeFields = []field{
	{name: "comm", typ: fieldTask},
	{name: "pid"},
	{name: "prio"},
	{name: "success", optional: true}, // until 4.13
	{name: "target_cpu", typ: fieldCPU},
}

var taskFields = []field{
	{name: "comm", typ: fieldTask},
	{name: "pid"},
	{name: "prio"},
}

var softirqFields = []field{{name: "vec"}}

// schemas is the table. The kernel's events follow their print formats; the
// probes follow captures as schedlab and its users record them.
var schemas = [numKinds]schema{
	KindOther: {event: "other"},
	KindLost:  {event: "lost", fields: []field{{name: "count", optional: true}}},
	KindSwitch: {event: "sched_switch", arrow: 4, once: true, fields: []field{
		{name: "prev_comm", typ: fieldTask},
		{name: "prev_pid"},
		{name: "prev_prio"},
		{name: "prev_state", typ: fieldState},
		{name: "next_comm", typ: fieldTask},
		{name: "next_pid"},
		{name: "next_prio"},
	}},
	KindWaking:    {event: "sched_waking", fields: wakeFields, once: true},
	KindWakeup:    {event: "sched_wakeup", fields: wakeFields, once: true},
	KindWakeupNew: {event: "sched_wakeup_new", fields: wakeFields, once: true},
	KindMigrate: {event: "sched_migrate_task", once: true, fields: []field{
		{name: "comm", typ: fieldTask},
		{name: "pid"},
		{name: "prio"},
		{name: "orig_cpu"},
		{name: "dest_cpu"},
	}},
	KindFork: {event: "sched_process_fork", once: true, fields: []field{
		{name: "comm", typ: fieldTask, alias: "parent_comm"},
		{name: "pid", alias: "parent_pid"},
		{name: "child_comm", typ: fieldTask},
		{name: "child_pid"},
	}},
	KindExec: {event: "sched_process_exec", once: true, fields: []field{
		{name: "filename", typ: fieldPath},
		{name: "pid"},
		{name: "old_pid"},
	}},
	KindExit: {event: "sched_process_exit", once: true, fields: []field{
		{name: "comm", typ: fieldTask},
		{name: "pid"},
		{name: "prio"},
		{name: "group_dead", typ: fieldBool, optional: true}, // since 6.16
	}},
	KindFree: {event: "sched_process_free", fields: taskFields, once: true},
	KindStatRuntime: {event: "sched_stat_runtime", suffix: true, once: true, fields: []field{
		{name: "comm", typ: fieldTask},
		{name: "pid"},
		{name: "runtime"},
		{name: "vruntime", optional: true}, // until 6.7; printed behind a "[ns]" of its own
	}},
	KindSoftirqRaise: {event: "softirq_raise", fields: softirqFields, suffix: true},
	KindSoftirqEntry: {event: "softirq_entry", fields: softirqFields, suffix: true},
	KindSoftirqExit:  {event: "softirq_exit", fields: softirqFields, suffix: true},
	KindAttach: {event: "cgroup_attach_task", fields: []field{
		{name: "dst_root"},
		{name: "dst_id"},
		{name: "dst_level", optional: true},
		{name: "dst_path", typ: fieldPath, optional: true, alias: "cname"},
		{name: "pid"},
		{name: "comm", typ: fieldTask},
	}},
	KindTick: {event: "tick", once: true, fields: []field{{name: "cpu"}}},
	KindSelect: {event: "sel", once: true, fields: []field{
		{name: "prev"},
		{name: "flags", typ: fieldHex},
		{name: "wflags", typ: fieldHex, optional: true}, // 5.10 only
		{name: "pid", optional: true},
		{name: "flips", optional: true},
		{name: "decay", optional: true},
		{name: "jiffies", optional: true},
		{name: "recent", optional: true},
		{name: "load", optional: true},
		{name: "util", optional: true},
		{name: "policy", optional: true},
		{name: "nallowed", optional: true},
		{name: "allowed", typ: fieldHex, optional: true},
		{name: "qload", optional: true},
		{name: "prevload", optional: true},
		{name: "previdle", optional: true},
	}},
	KindSelectReturn: {event: "selr", fields: []field{{name: "ret"}}},
	KindThrottle:     {event: "thr", fields: queueFields},
	KindUnthrottle:   {event: "unthr", fields: queueFields},
	KindBalance: {event: "lb", fields: []field{
		{name: "dst"},
		{name: "level"},
		{name: "span"},
		{name: "failed", optional: true},
		{name: "interval", optional: true},
		{name: "idle"},
	}},
	KindBalanceReturn: {event: "lbr", fields: []field{{name: "pulled"}}},
	KindCanMigrate: {event: "cm", fields: []field{
		{name: "pid"},
		{name: "src"},
		{name: "dst"},
		{name: "imbalance", optional: true},
		{name: "type", optional: true},
		{name: "load", optional: true},
		{name: "util", optional: true},
	}},
	KindCanMigrateReturn: {event: "cmr", fields: []field{{name: "ret"}}},
	KindDecay:            {event: "decay", fields: []field{{name: "cpu"}}},
	KindIdleCost:         {event: "idlecost", fields: []field{{name: "cpu"}, {name: "ns"}}},
	KindArrive:           {event: "arrive", fields: []field{{name: "pid"}, {name: "cpu"}}},
	KindOverload:         {event: "overload", fields: []field{{name: "cpu"}, {name: "on"}}},
	KindNewidle:          {event: "newidle", fields: []field{{name: "cpu"}}},
	KindIdleAgain:        {event: "idleagain", fields: []field{{name: "cpu"}}},
	KindIdleState:        {event: "idlestate", fields: []field{{name: "cpu"}, {name: "state"}}},
	KindPolicy:           {event: "policy", fields: []field{{name: "pid"}, {name: "policy"}}},
	KindDelay:            {event: "delay", fields: []field{{name: "pid"}, {name: "cpu"}, {name: "stage"}, {name: "path", typ: fieldPath, optional: true}}},
}

var queueFields = []field{{name: "cfs", typ: fieldHex}, {name: "cpu"}}

func (k Kind) schema() *schema {
	if k >= numKinds {
		k = KindOther
	}
	return &schemas[k]
}

// kindsByEvent maps the kernel's names.
var kindsByEvent = func() map[string]Kind {
	kinds := make(map[string]Kind, NumKinds)
	for k := KindOther + 1; k < numKinds; k++ {
		if k != KindLost {
			kinds[schemas[k].event] = k
		}
	}
	return kinds
}()

// softirqNames are the kernel's names of its softirq vectors.
var softirqNames = [...]string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}
