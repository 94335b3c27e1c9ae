package sim

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// Costs says how long everything takes that is not the task's own work, in
// nanoseconds of an otherwise idle core unless a field says otherwise. The
// numbers, their units and where they come from are data: costs/*.json.
type Costs struct {
	Name  string
	Sched sched.Prices

	SwitchProcess, SwitchThread, SwitchIdle int64 // schedule and switch: other address space, same, from or to idle
	Wakeup                                  int64 // try_to_wake_up without the placement search
	WakeLines                               int64 // lines of task and run queue that a wakeup fetches from where the task ran (a count)
	QueueLockHold                           int64 // a run-queue lock held by a wakeup or switch
	IPISend, IPIDeliver, IPIHandle          int64
	Tick, TimerInterrupt                    int64
	TimerSlack                              int64

	Prices    [workload.NumPrices]int64 // of work that programs are charged by name
	SelectFD  int64                     // select: one descriptor looked at, or one queue joined and left
	SpinLimit int64                     // a spinlock of PostgreSQL is spun for that long before its taker sleeps
	SpinSleep int64                     // and that long it sleeps then, the first time

	Syscall              int64
	PipeWrite, PipeRead  int64
	UnixSend, UnixRecv   int64
	UnixHold             int64 // of a socket call: with the socket's lock held
	UnixLines            int64 // contended cache lines of one socket call (a count)
	TCPSend, TCPRecv     int64 // the calls, without what the next two lines have
	TCPTransmit          int64 // one segment through TCP, IP and the loopback device, up to the receiver's TCP
	TCPReceive, TCPAck   int64 // its processing there; an ACK without data, both sides together
	UDPSend, UDPRecv     int64 // the calls; the send includes the softirq that receives
	LoopbackLines        int64 // contended cache lines of one TCP or UDP call (a count)
	LoopbackCopy         int64 // per KiB, into a socket and, from another CPU's cache, out of it
	CopyMemory           int64 // per KiB of such a copy that goes through memory
	SendfilePage         int64 // one page of a file put into a TCP segment instead of a copy
	Poll                 int64
	FutexWake, FutexWait int64 // the calls, without the wakeups and the switch
	FutexLines           int64 // lines of bucket and queue entry that a wake fetches from where the waiter slept (a count)
	Atomic               int64 // one atomic operation on a line that is at hand
	ClockRead            int64
	SpinTurn             int64 // one turn of a loop that waits: a look and a pause
	CopyPerKiB           int64
	NewPage              int64
	LockLines            int64 // contended cache lines of one pipe call (a count)
	FileLines            int64 // lines of an open file that a call of a thread takes for its reference (a count)
	PipeMemoryLines      int64 // lines that a pipe call touches of a message's memory (a count)
	UnixMemoryLines      int64 // the same of a socket call: header, data, fragment table
	LineMemory           int64 // one line from memory instead of a cache
	LineLLC, LineRemote  int64 // one line moved between cores of an LLC, and between LLCs
	ForkProcess          int64
	ForkThread           int64
	ExitProcess          int64
	ExitThread           int64
	Reap                 int64
	RefillCore           int64 // per KiB of footprint: others ran on this CPU meanwhile
	RefillLLC            int64 // per KiB: the task comes from another core of the LLC
	RefillRemote         int64 // per KiB: it comes from another LLC or node
	SMTSpeed             int64 // speed of each of two busy siblings, 1024 = alone
	IdleStates           int64 // idle states of the machine: polling, C1, C1E, C6 (a count, 1 to 4)
	IdleMonitor          int64 // 1: idle CPUs watch a flag and need no interrupt; 0: they need one
	IdlePoll             int64 // exit latency of polling
	IdleShallow          int64 // of C1
	IdleMedium, IdleDeep int64 // of C1E and C6
	ShallowResidency     int64 // the sleep from which on C1 is worth it
	MediumResidency      int64 // the same of C1E
	DeepResidency        int64 // and C6
}

// costField ties a name in a cost file to a field and its unit.
type costField struct {
	name, unit string
	field      func(*Costs) *int64
}

var costFields = []costField{
	{"search", "ns", func(c *Costs) *int64 { return &c.Sched.Search }},
	{"probe", "ns", func(c *Costs) *int64 { return &c.Sched.Probe }},
	{"probe_shared", "ns", func(c *Costs) *int64 { return &c.Sched.ProbeShared }},
	{"probe_modified", "ns", func(c *Costs) *int64 { return &c.Sched.ProbeModified }},
	{"probe_remote", "ns", func(c *Costs) *int64 { return &c.Sched.ProbeRemote }},
	{"probe_return", "ns", func(c *Costs) *int64 { return &c.Sched.ProbeReturn }},
	{"sibling_probe", "ns", func(c *Costs) *int64 { return &c.Sched.SiblingProbe }},
	{"domain_step", "ns", func(c *Costs) *int64 { return &c.Sched.DomainStep }},
	{"affine_check", "ns", func(c *Costs) *int64 { return &c.Sched.AffineCheck }},
	{"group_cpu", "ns", func(c *Costs) *int64 { return &c.Sched.GroupCPU }},
	{"task_examined", "ns", func(c *Costs) *int64 { return &c.Sched.TaskExamined }},
	{"task_moved", "ns", func(c *Costs) *int64 { return &c.Sched.TaskMoved }},
	{"remote_lock", "ns", func(c *Costs) *int64 { return &c.Sched.RemoteLock }},
	{"blocked_update", "ns", func(c *Costs) *int64 { return &c.Sched.BlockedUpdate }},
	{"shared_line_write", "ns", func(c *Costs) *int64 { return &c.Sched.SharedLineWrite }},
	{"bandwidth_check", "ns", func(c *Costs) *int64 { return &c.Sched.BandwidthCheck }},
	{"pool_lock", "ns", func(c *Costs) *int64 { return &c.Sched.PoolLock }},
	{"throttle_step", "ns", func(c *Costs) *int64 { return &c.Sched.ThrottleStep }},
	{"mask_update", "ns", func(c *Costs) *int64 { return &c.Sched.MaskUpdate }},
	{"mask_lookup", "ns", func(c *Costs) *int64 { return &c.Sched.MaskLookup }},
	{"mask_fetch", "ns", func(c *Costs) *int64 { return &c.Sched.MaskFetch }},
	{"mask_fetch_remote", "ns", func(c *Costs) *int64 { return &c.Sched.MaskFetchRemote }},
	{"pull_probe", "ns", func(c *Costs) *int64 { return &c.Sched.PullProbe }},
	{"map_lookup", "ns", func(c *Costs) *int64 { return &c.Sched.MapLookup }},
	{"switch_process", "ns", func(c *Costs) *int64 { return &c.SwitchProcess }},
	{"switch_thread", "ns", func(c *Costs) *int64 { return &c.SwitchThread }},
	{"switch_idle", "ns", func(c *Costs) *int64 { return &c.SwitchIdle }},
	{"wakeup", "ns", func(c *Costs) *int64 { return &c.Wakeup }},
	{"wake_lines", "lines", func(c *Costs) *int64 { return &c.WakeLines }},
	{"queue_lock_hold", "ns", func(c *Costs) *int64 { return &c.QueueLockHold }},
	{"ipi_send", "ns", func(c *Costs) *int64 { return &c.IPISend }},
	{"ipi_deliver", "ns", func(c *Costs) *int64 { return &c.IPIDeliver }},
	{"ipi_handle", "ns", func(c *Costs) *int64 { return &c.IPIHandle }},
	{"tick", "ns", func(c *Costs) *int64 { return &c.Tick }},
	{"timer_interrupt", "ns", func(c *Costs) *int64 { return &c.TimerInterrupt }},
	{"timer_slack", "ns", func(c *Costs) *int64 { return &c.TimerSlack }},
	{"syscall", "ns", func(c *Costs) *int64 { return &c.Syscall }},
	{"pipe_write", "ns", func(c *Costs) *int64 { return &c.PipeWrite }},
	{"pipe_read", "ns", func(c *Costs) *int64 { return &c.PipeRead }},
	{"unix_send", "ns", func(c *Costs) *int64 { return &c.UnixSend }},
	{"unix_recv", "ns", func(c *Costs) *int64 { return &c.UnixRecv }},
	{"unix_hold", "ns", func(c *Costs) *int64 { return &c.UnixHold }},
	{"unix_lines", "lines", func(c *Costs) *int64 { return &c.UnixLines }},
	{"tcp_send", "ns", func(c *Costs) *int64 { return &c.TCPSend }},
	{"tcp_recv", "ns", func(c *Costs) *int64 { return &c.TCPRecv }},
	{"tcp_transmit", "ns", func(c *Costs) *int64 { return &c.TCPTransmit }},
	{"tcp_receive", "ns", func(c *Costs) *int64 { return &c.TCPReceive }},
	{"tcp_ack", "ns", func(c *Costs) *int64 { return &c.TCPAck }},
	{"udp_send", "ns", func(c *Costs) *int64 { return &c.UDPSend }},
	{"udp_recv", "ns", func(c *Costs) *int64 { return &c.UDPRecv }},
	{"loopback_lines", "lines", func(c *Costs) *int64 { return &c.LoopbackLines }},
	{"loopback_copy", "ns/KiB", func(c *Costs) *int64 { return &c.LoopbackCopy }},
	{"copy_memory", "ns/KiB", func(c *Costs) *int64 { return &c.CopyMemory }},
	{"sendfile_page", "ns", func(c *Costs) *int64 { return &c.SendfilePage }},
	{"poll", "ns", func(c *Costs) *int64 { return &c.Poll }},
	{"select_fd", "ns", func(c *Costs) *int64 { return &c.SelectFD }},
	{"spin_limit", "ns", func(c *Costs) *int64 { return &c.SpinLimit }},
	{"spin_sleep", "ns", func(c *Costs) *int64 { return &c.SpinSleep }},
	{"pg_plan", "ns", priceField(workload.PricePlan)},
	{"pg_execute", "ns", priceField(workload.PriceExecute)},
	{"pg_page_read", "ns", priceField(workload.PricePageRead)},
	{"pgbench_reply", "ns", priceField(workload.PriceReply)},
	{"pgbench_command", "ns", priceField(workload.PriceCommand)},
	{"pgbench_query", "ns", priceField(workload.PriceQuery)},
	{"pgbench_scan", "ns", priceField(workload.PriceScan)},
	{"tbench_client", "ns", priceField(workload.PriceTbenchClient)},
	{"tbench_server", "ns", priceField(workload.PriceTbenchServer)},
	{"lu_jacobian", "ns", priceField(workload.PriceLUJacobian)},
	{"lu_solve", "ns", priceField(workload.PriceLUSolve)},
	{"lu_rhs", "ns", priceField(workload.PriceLURHS)},
	{"sysbench_statement", "ns", priceField(workload.PriceSysbench)},
	{"mysql_point", "ns", priceField(workload.PriceMySQLPoint)},
	{"mysql_range", "ns", priceField(workload.PriceMySQLRange)},
	{"mysql_write", "ns", priceField(workload.PriceMySQLWrite)},
	{"mysql_control", "ns", priceField(workload.PriceMySQLControl)},
	{"pgsql_point", "ns", priceField(workload.PricePgSQLPoint)},
	{"pgsql_range", "ns", priceField(workload.PricePgSQLRange)},
	{"pgsql_write", "ns", priceField(workload.PricePgSQLWrite)},
	{"pgsql_control", "ns", priceField(workload.PricePgSQLControl)},
	{"futex_wake", "ns", func(c *Costs) *int64 { return &c.FutexWake }},
	{"futex_wait", "ns", func(c *Costs) *int64 { return &c.FutexWait }},
	{"futex_lines", "lines", func(c *Costs) *int64 { return &c.FutexLines }},
	{"atomic", "ns", func(c *Costs) *int64 { return &c.Atomic }},
	{"clock_read", "ns", func(c *Costs) *int64 { return &c.ClockRead }},
	{"spin_turn", "ns", func(c *Costs) *int64 { return &c.SpinTurn }},
	{"copy_per_kib", "ns/KiB", func(c *Costs) *int64 { return &c.CopyPerKiB }},
	{"new_page", "ns", func(c *Costs) *int64 { return &c.NewPage }},
	{"lock_lines", "lines", func(c *Costs) *int64 { return &c.LockLines }},
	{"file_lines", "lines", func(c *Costs) *int64 { return &c.FileLines }},
	{"pipe_memory_lines", "lines", func(c *Costs) *int64 { return &c.PipeMemoryLines }},
	{"unix_memory_lines", "lines", func(c *Costs) *int64 { return &c.UnixMemoryLines }},
	{"line_memory", "ns", func(c *Costs) *int64 { return &c.LineMemory }},
	{"line_llc", "ns", func(c *Costs) *int64 { return &c.LineLLC }},
	{"line_remote", "ns", func(c *Costs) *int64 { return &c.LineRemote }},
	{"fork_process", "ns", func(c *Costs) *int64 { return &c.ForkProcess }},
	{"fork_thread", "ns", func(c *Costs) *int64 { return &c.ForkThread }},
	{"exit_process", "ns", func(c *Costs) *int64 { return &c.ExitProcess }},
	{"exit_thread", "ns", func(c *Costs) *int64 { return &c.ExitThread }},
	{"reap", "ns", func(c *Costs) *int64 { return &c.Reap }},
	{"refill_core", "ns/KiB", func(c *Costs) *int64 { return &c.RefillCore }},
	{"refill_llc", "ns/KiB", func(c *Costs) *int64 { return &c.RefillLLC }},
	{"refill_remote", "ns/KiB", func(c *Costs) *int64 { return &c.RefillRemote }},
	{"smt_speed", "1/1024", func(c *Costs) *int64 { return &c.SMTSpeed }},
	{"idle_states", "states", func(c *Costs) *int64 { return &c.IdleStates }},
	{"idle_monitor", "0 or 1", func(c *Costs) *int64 { return &c.IdleMonitor }},
	{"idle_poll", "ns", func(c *Costs) *int64 { return &c.IdlePoll }},
	{"idle_shallow", "ns", func(c *Costs) *int64 { return &c.IdleShallow }},
	{"idle_medium", "ns", func(c *Costs) *int64 { return &c.IdleMedium }},
	{"idle_deep", "ns", func(c *Costs) *int64 { return &c.IdleDeep }},
	{"shallow_residency", "ns", func(c *Costs) *int64 { return &c.ShallowResidency }},
	{"medium_residency", "ns", func(c *Costs) *int64 { return &c.MediumResidency }},
	{"deep_residency", "ns", func(c *Costs) *int64 { return &c.DeepResidency }},
}

// priceField is the field of a price that programs name.
func priceField(p workload.Price) func(*Costs) *int64 {
	return func(c *Costs) *int64 { return &c.Prices[p] }
}

func parameterNames() []string {
	names := make([]string, len(costFields))
	for i := range costFields {
		names[i] = costFields[i].name
	}
	return names
}

// costFile is the JSON form: every parameter with its unit and its source. A
// file with a base overrides some of another file's parameters.
type costFile struct {
	Base        string               `json:"base,omitempty"`
	Description string               `json:"description"`
	Parameters  map[string]parameter `json:"parameters"`
}

type parameter struct {
	Value  int64  `json:"value"`
	Unit   string `json:"unit"`
	Source string `json:"source"`
}

//go:embed costs/*.json
var costFiles embed.FS

const defaultCosts = "default"

// LoadCosts returns the built-in cost file of that name.
func LoadCosts(name string) (*Costs, error) {
	text, err := costFiles.ReadFile("costs/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no cost file %q; there are %s, or write the path of a file that ends in .json", name, strings.Join(CostNames(), ", "))
	}
	return parseCosts(name, text)
}

// maxCostFileBytes is far above any real cost file.
const maxCostFileBytes = 1 << 20

// LoadCostFile reads a cost file of the user's own. It may name a built-in
// file as its base and override some of its parameters.
func LoadCostFile(path string) (*Costs, error) {
	text, err := smallfile.Read(path, maxCostFileBytes)
	if err != nil {
		return nil, fmt.Errorf("the cost file cannot be read: %w", err)
	}
	return parseCosts(path, text)
}

// CostsFor returns the cost file of a machine, the default one if it has none
// of its own.
func CostsFor(machineName string) (*Costs, error) {
	for _, name := range CostNames() {
		if name == machineName {
			return LoadCosts(name)
		}
	}
	return LoadCosts(defaultCosts)
}

// CostNames lists the built-in cost files.
func CostNames() []string {
	entries, err := costFiles.ReadDir("costs")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	sort.Strings(names)
	return names
}

func parseCosts(name string, text []byte) (*Costs, error) {
	var file costFile
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("cost file %s:%d: %w", name, lineAt(text, dec.InputOffset(), err), err)
	}
	costs := &Costs{}
	if file.Base != "" {
		base, err := LoadCosts(file.Base)
		if err != nil {
			return nil, fmt.Errorf("cost file %s: base: %w", name, err)
		}
		costs = base
	}
	costs.Name = name
	if err := file.applyTo(costs); err != nil {
		return nil, fmt.Errorf("cost file %s: %w", name, err)
	}
	return costs, nil
}

// lineAt is the line of the file that a JSON error is about: where it says so
// itself, else how far the decoder had read.
func lineAt(text []byte, read int64, err error) int {
	offset := read
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mistyped):
		offset = mistyped.Offset
	}
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte{'\n'})
}

func (f *costFile) applyTo(c *Costs) error {
	known := make(map[string]bool, len(costFields))
	for _, field := range costFields {
		known[field.name] = true
		p, given := f.Parameters[field.name]
		switch {
		case !given && f.Base == "":
			return fmt.Errorf("parameter %s (%s) is missing", field.name, field.unit)
		case !given:
			continue
		case p.Unit != field.unit:
			return fmt.Errorf("parameter %s must be in %s, not %q", field.name, field.unit, p.Unit)
		case p.Source == "":
			return fmt.Errorf("parameter %s needs a source", field.name)
		}
		if err := checkValue(field.name, p.Value); err != nil {
			return err
		}
		*field.field(c) = p.Value
	}
	names := make([]string, 0, len(f.Parameters))
	for name := range f.Parameters {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !known[name] {
			return fmt.Errorf("unknown parameter %q; %s", name, suggest.DidYouMean(name, parameterNames()))
		}
	}
	return c.checkRanges()
}

// checkRanges looks at the parameters that not every number will do for.
func (c *Costs) checkRanges() error {
	switch {
	case c.SMTSpeed < 1 || c.SMTSpeed > fullSpeed:
		return fmt.Errorf("smt_speed must be between 1 and %d", fullSpeed)
	case c.IdleStates < 1 || c.IdleStates > maxIdleStates:
		return fmt.Errorf("idle_states must be between 1 and %d", maxIdleStates)
	case c.IdleMonitor > 1:
		return fmt.Errorf("idle_monitor must be 0 or 1")
	}
	return nil
}
