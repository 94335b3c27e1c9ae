package sched

import "github.com/schedlab/schedlab/machine"

// DomainFlag is a set of sched-domain flags (mechanisms.md 5.3).
type DomainFlag uint16

// The flags, named as in debugfs without the SD_ prefix.
const (
	FlagBalanceNewidle DomainFlag = 1 << iota
	FlagBalanceExec
	FlagBalanceFork
	FlagBalanceWake
	FlagWakeAffine
	FlagPreferSibling
	FlagShareCPUCapacity // SMT
	FlagShareLLC
	FlagCluster
	FlagSerialize
	FlagOverlap
	FlagNUMA
	FlagAsymCPUCapacity
)

// Domain is one level of one CPU's chain of nested scheduling domains. Each
// CPU has objects of its own; Span, Groups and Shared may be shared between
// CPUs that see the same ones.
type Domain struct {
	Name       string // SMT, CLS, MC, DIE or PKG, NODE, NUMA
	Level      int    // depth in the topology's list of levels, also of dropped ones
	Span       machine.CPUMask
	SpanWeight int
	Flags      DomainFlag
	Parent     *Domain
	Child      *Domain
	Groups     *CPUGroup  // ring that starts with the group holding this CPU
	Shared     *LLCShared // set on the LLC domain only

	MinInterval    int64 // ms
	MaxInterval    int64 // ms
	BusyFactor     int64
	ImbalancePct   int64
	CacheNiceTries int32
	BusyIdx        int32 // v4.14 load indices
	IdleIdx        int32
	ImbNUMANr      int64 // tasks that may stay on a node despite imbalance (v5.18+)

	balanceInterval int64 // ms
	lastBalance     int64 // jiffies
	nrBalanceFailed int32
	maxNewidleCost  int64 // ns
	lastDecay       int64 // jiffies
	avgScanCost     int64 // ns
	newidle         newidleRate
	nohzIdle        bool
	balanced        BalanceStats
	wakeRemote      int64
	moveAffine      int64
}

func (d *Domain) has(f DomainFlag) bool { return d.Flags&f != 0 }

// CPUGroup is one part of a domain's span: the span of a child domain.
type CPUGroup struct {
	Span   machine.CPUMask
	Weight int
	Cores  int        // cores that have a CPU in it
	Flags  DomainFlag // of the child domain
	Next   *CPUGroup
	Cap    *GroupCapacity
}

// GroupCapacity is what all CPUs that see a group share about it.
type GroupCapacity struct {
	Capacity    int64
	MinCapacity int64
	MaxCapacity int64
	NextUpdate  int64 // jiffies
	Imbalance   bool  // a lower level could not balance because of affinity
	BalanceMask machine.CPUMask
}

// LLCShared is the record that the CPUs of one last-level cache share
// (mechanisms.md 5.5).
type LLCShared struct {
	NrBusyCPUs   int32
	HasIdleCores bool
	NrIdleScan   int32 // SIS_UTIL's budget, written by periodic balancing
	// Util and Capacity of the cache's CPUs, written by balance passes of the
	// domain above on kernels with preferred caches; 0 before the first.
	Util, Capacity int64
	// Seen is what the last balance pass over the cache saw (affinellc.go).
	Seen cacheSums

	Overload OverloadMask // sisfilter.go
	IdleCPUs IdleMask     // siscore.go
}
