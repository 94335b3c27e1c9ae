package workload

import (
	"fmt"
	"slices"
)

// Periodic tasks, as rt-app has them: they work, sleep until a timer's next
// period, and log how that went. One turn from OpActivate to OpActivated is an
// activation.

// Activation is one turn. Times are ns of virtual time; sums of measured times
// are whole µs, since rt-app rounds each one before it adds it.
type Activation struct {
	Task       TaskID
	Kind       int32 // N of the OpActivated that ended it
	Start, End int64 // what the clock showed
	RunMicros  int64 // wall time between OpClockIn and OpClockOut, and of OpRunWall
	Pieces     int64 // of OpRunWall
	// SlackMicros is how long before a timer's time its OpDue came, negative
	// when that was too late: of the last one, or summed up.
	SlackMicros int64
	// LateMicros is how long after a timer's time the task ran again, summed up.
	LateMicros int64
}

// MaxActivations is how many activations a run can log: some 300 MB of them.
const MaxActivations = 5_000_000

// TimerSpec declares one timer of periods.
type TimerSpec struct {
	// Absolute timers keep their grid after a time that was missed; relative
	// ones begin anew where that was noticed.
	Absolute bool
}

// Pool is a range of tasks that OpForkNext starts one after the other.
type Pool struct {
	First, Count TaskID
}

// Periodic is what the operations of periodic tasks refer to by number.
type Periodic struct {
	Timers []TimerSpec
	Pools  []Pool
	// CPUSets are lists of CPUs; nil stands for those that the task may use at
	// first.
	CPUSets [][]int
	// Groups are paths of control groups, "/" for the root.
	Groups []string
}

// Access is how an OpTouch goes through its buffer.
type Access uint8

// The ways.
const (
	// AccessBlock writes in the widest words, as memset does.
	AccessBlock Access = iota
	// AccessBytes loads or stores byte after byte.
	AccessBytes
	// AccessChase follows pointers in an order that no prefetcher guesses; N
	// counts the pointers.
	AccessChase
	// AccessStride follows pointers in the order of their addresses.
	AccessStride
	numAccesses
)

var accessNames = [numAccesses]string{"block", "bytes", "chase", "stride"}

// MicrosOf rounds nanoseconds to whole microseconds, halves away from zero.
func MicrosOf(ns int64) int64 {
	if ns < 0 {
		return -MicrosOf(-ns)
	}
	return (ns + 500) / 1000
}

// OfActivation reports whether the operation is one of periodic tasks.
func (op Op) OfActivation() bool { return op >= OpEpoch && op < numOps }

// Periodic reports whether the program has any of these operations.
func (p Program) Periodic() bool {
	return slices.ContainsFunc(p, func(in Instr) bool { return in.Op.OfActivation() })
}

func (p Program) validateActivation(i int, in Instr, b Bounds) error {
	switch in.Op {
	case OpRunWall:
		if in.N < 0 || in.M < 1 {
			return fmt.Errorf("%d ns in pieces of %d ns: want at least 0 in pieces of at least 1", in.N, in.M)
		}
	case OpDue:
		if in.N < 0 || in.M < 0 || in.Slot > 1 {
			return fmt.Errorf("period %d ns, offset %d ns: want neither negative", in.N, in.M)
		}
		if int(in.Target) <= i || int(in.Target) >= len(p) {
			return fmt.Errorf("target %d must be an instruction after the timer", in.Target)
		}
		return within("timer", int64(in.Chan), b.Timers)
	case OpSleepUntil, OpLate:
		return within("timer", int64(in.Chan), b.Timers)
	case OpForkNext:
		return within("pool", int64(in.Chan), b.Pools)
	case OpAffinity:
		return within("CPU set", int64(in.Chan), b.CPUSets)
	case OpGroup:
		return within("group", int64(in.Chan), b.Groups)
	case OpPriority:
		if in.N < -20 || in.N > 19 || in.M < 0 || in.M > int64(Idle) {
			return fmt.Errorf("nice %d and policy %d: want -20 to 19 and a policy of the fair class", in.N, in.M)
		}
	case OpSyscalls:
		if in.N < 1 {
			return fmt.Errorf("%d calls: want at least 1", in.N)
		}
	case OpTouch:
		if in.N < 1 || in.M < 1 || Access(in.Slot) >= numAccesses {
			return fmt.Errorf("%d bytes of a buffer of %d: want at least 1 of each, and a known way", in.N, in.M)
		}
	}
	return nil
}

// validatePeriodic checks what the operations refer to.
func (s *Scenario) validatePeriodic(cpus int) error {
	for i, pool := range s.Pools {
		if pool.Count < 0 || pool.First < 0 || int(pool.First)+int(pool.Count) > len(s.Tasks) {
			return fmt.Errorf("pool %d: tasks %d to %d: declared are %d", i, pool.First, pool.First+pool.Count-1, len(s.Tasks))
		}
	}
	for i, set := range s.CPUSets {
		if set != nil && len(set) == 0 {
			return fmt.Errorf("CPU set %d is empty", i)
		}
		for _, cpu := range set {
			if err := within("CPU", int64(cpu), cpus); err != nil {
				return fmt.Errorf("CPU set %d: %w", i, err)
			}
		}
	}
	return nil
}

// addPeriodic appends another scenario's, whose tasks follow tasks of s.
func (s *Scenario) addPeriodic(other *Periodic, tasks TaskID) {
	s.Timers = append(s.Timers, other.Timers...)
	for _, pool := range other.Pools {
		s.Pools = append(s.Pools, Pool{pool.First + tasks, pool.Count})
	}
	s.CPUSets = append(s.CPUSets, other.CPUSets...)
	s.Groups = append(s.Groups, other.Groups...)
}
