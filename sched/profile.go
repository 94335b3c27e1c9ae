package sched

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is one kernel version's fair scheduler: its feature bits, and which
// of the named variants of each mechanism it uses. Everything that differs
// between versions is here; code below a variant never asks for the version.
type Profile struct {
	Name    string // as on the command line: "v5.17"
	Summary string // one line for `schedlab kernels`

	Known    FeatureSet // bits that this kernel has
	Defaults FeatureSet // those that are on
	// Inert are known bits that change nothing here: they belong to other
	// scheduling classes, to debugging, or to mechanisms that are not modelled.
	Inert FeatureSet
	// Implied are bits of newer kernels for what this one does without a name for
	// it: always on, and not for anyone to set.
	Implied FeatureSet
	// Tunables are the numbers that the kernel lets an administrator set.
	Tunables tunableRules // tunable.go

	Time     *timeRules    // cfs.go, eevdf.go, mechanisms.md 1
	Topology topologyRules // domain.go, mechanisms.md 5.3
	Wake     wakeRules     // wake.go, affine.go, idlesibling.go, mechanisms.md 6
	SlowPath slowPathRules // idlest.go, mechanisms.md 7
	Balance  balanceRules  // balance.go, newidle.go, nohz.go, mechanisms.md 9

	Bandwidth bandwidthRules // bandwidth.go, mechanisms.md 4

	// GroupIdle: cpu.idle exists, and with it idle-classed entities (v5.15).
	GroupIdle bool
	// ThrottlesTasks: a group out of quota loses its tasks one by one, each at
	// its return to user mode, instead of all at once (v6.18 [M], v7.2 [V]).
	ThrottlesTasks bool
	// KeepsEmptyWeight: a group without queued tasks on a CPU keeps its weight
	// there; before, its blocked load gave it a new one (v6.12).
	KeepsEmptyWeight bool // group.go
	// PickDropsBuddies: a buddy hint is used up by being followed even when it
	// names what runs already; from v5.14 on only a switch uses it up [M].
	PickDropsBuddies bool
	// RunnableLoad: placement and balancing use runnable_load_avg, without
	// blocked tasks (before v5.5).
	RunnableLoad bool
	// WeightLoad: both go by the weights that are queued right now, and groups
	// get whole weights of the table's scale (before v3.11, load38.go).
	WeightLoad bool
	// WindowShares: a group's load for its shares is averaged over windows of
	// time instead of decaying (v3.1 to v3.7, sharewindow.go).
	WindowShares bool
	// UtilEst takes a sample when a task sleeps; nil before v4.17.
	UtilEst utilEstRule // utilest.go
	// PlainForkUtil: a new task's utilization is estimated with its weight on
	// the table scale; before, a scaling slip nearly always gave it the limit.
	PlainForkUtil bool
	// SlowPublishing: a queue tells its group about its load at most once a
	// millisecond (v6.7).
	SlowPublishing bool
	// PublishesByPresent: that millisecond is measured by the present time, not by
	// the clock that the runqueue has read (v6.7; v7.2 goes by the runqueue's again).
	PublishesByPresent bool // group.go
	// DecaysIdleLag: a task that is woken away from an idle CPU loses what its
	// load should have decayed since that CPU's queue was last updated (v6.0).
	DecaysIdleLag bool // loadavg.go
	// DetachesInDequeue: a task that is moved takes its load along when it leaves
	// its queue, before the group hears of the queue's load and the groups above
	// get new weights; before, afterwards (v6.1).
	DetachesInDequeue bool // loadavg.go
	// PreferredLLC: processes have a preferred last-level cache (llcpref.go).
	PreferredLLC bool
}

// profiles lists the kernels in the order of their age.
var profiles = []*Profile{
	&v32, &v38, &v413numa, &v414numa, &v414, &v510, &v517, &v517tip, &v61, &v612, &v72,
}

// Profiles returns every known profile, oldest first.
func Profiles() []*Profile { return profiles }

// LookupProfile returns the profile of that name.
func LookupProfile(name string) (*Profile, error) {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return nil, fmt.Errorf("unknown kernel %q; there are %s", name, strings.Join(names, ", "))
}

// inert414 belong to other classes, to debugging, or to time rules that are
// not modelled: reschedule timers and the time that interrupts take.
var inert414 = Features(HRTick, DoubleTick, NontaskCapacity, RTPushIPI, RTRuntimeShare)

var inert510 = inert414.With(WarnDoubleClock)

var inert517 = inert510 | Features(HRTickDL, LatencyWarn)

var features414 = inert414 | Features(GentleFairSleepers, StartDebit, NextBuddy, LastBuddy, CacheHotBuddy,
	WakeupPreemption, TTWUQueue, SISAvgCPU, SISProp, LBMin, AttachAgeLoad, WAIdle, WAWeight, WABias)

var features510 = inert510 | features414 | Features(UtilEst, UtilEstFastup, AltPeriod, BaseSlice)

var offByDefault = Features(NextBuddy, SISAvgCPU, LBMin,
	HRTick, HRTickDL, DoubleTick, WarnDoubleClock, RTRuntimeShare, LatencyWarn)

// features38 is what v3.2 and v3.8 have; ATTACH_AGE_LOAD is what they do
// without a name for it.
var (
	inert38    = Features(HRTick, DoubleTick, NontaskCapacity, RTRuntimeShare, ArchPower, ForceSDOverlap)
	features38 = inert38 | Features(GentleFairSleepers, StartDebit, NextBuddy, LastBuddy, CacheHotBuddy,
		WakeupPreemption, TTWUQueue, LBMin, LBBias)
	defaults38 = features38 &^ Features(NextBuddy, LBMin, HRTick, DoubleTick, ForceSDOverlap)
)

// features2011 are what was proposed on top of v3.2, in part our model or a
// reconstruction (caveat.go), features2013 the reconstruction of what was
// proposed on top of v3.8.
var (
	features2011 = nohzFixes.With(NohzIdleFix) | bandwidthPatches
	features2013 = balanceMapVersions | Features(SBMWakeAffine, SBMWakeBalance)
)

var v32 = Profile{
	Name:     "v3.2",
	Summary:  "v3.2: instantaneous loads, a nominated balancer for tickless CPUs (November 2011)",
	Known:    features38.Without(LBMin) | features2011, // [M]
	Defaults: defaults38.Without(ArchPower),
	Inert:    inert38,
	Implied:  Features(AttachAgeLoad),
	Tunables: tunables414,
	Time:     &cfsTime,
	Topology: topology32, Wake: wake32, SlowPath: slowPath38, Balance: balance32, Bandwidth: bandwidth32,
	RunnableLoad: true, WeightLoad: true, WindowShares: true, PickDropsBuddies: true,
}

var v38 = Profile{
	Name:     "v3.8",
	Summary:  "v3.8: instantaneous loads, idle groups searched; base of the schedule balance map (January 2013)",
	Known:    features38 | features2013,
	Defaults: defaults38.With(SBMWakeAffine),
	Inert:    inert38,
	Implied:  Features(AttachAgeLoad),
	Tunables: tunables414,
	Time:     &cfsTime,
	Topology: topology38, Wake: wake38, SlowPath: slowPath38, Balance: balance38, Bandwidth: bandwidth38,
	RunnableLoad: true, WeightLoad: true, PickDropsBuddies: true,
}

var v414 = Profile{
	Name:     "v4.14",
	Summary:  "wake_affine with WA_IDLE, WA_WEIGHT and WA_BIAS (October 2017)",
	Known:    features414.With(BandwidthExpiry),
	Defaults: features414 &^ offByDefault,
	Inert:    inert414,
	Tunables: tunables414,
	Time:     &cfsTime,
	Topology: topology414, Wake: wake414, SlowPath: slowPath414, Balance: balance414, Bandwidth: bandwidth414,
	RunnableLoad: true, PickDropsBuddies: true,
}

// v4.13-numa is v4.14 with the wake_affine of commit 3fed382b46ba, which came
// with v4.13: it compares the sums of two NUMA nodes, and the WA_ bits do not
// exist yet.
var v413numa = Profile{
	Name:     "v4.13-numa",
	Summary:  "v4.13 with node-level wake_affine by sums taken at each wakeup (3fed382b46ba, June 2017)",
	Known:    features414 &^ Features(WAIdle, WAWeight, WABias),
	Defaults: features414 &^ Features(WAIdle, WAWeight, WABias) &^ offByDefault,
	Inert:    inert414,
	Tunables: tunables414,
	Time:     &cfsTime,
	Topology: topology414, Wake: wake413numa, SlowPath: slowPath414, Balance: balance414, Bandwidth: bandwidth414,
	RunnableLoad: true, PickDropsBuddies: true,
}

// v4.14-numa is v4.14-rc before commit d153b153446f, what the document of
// October 2017 measured as "pre": between NUMA nodes wake_affine compares what
// balance passes have last seen of the two caches (a731ebe6f17b).
var v414numa = func() Profile {
	p := v413numa
	p.Name = "v4.14-numa"
	p.Summary = "v4.14-rc with node-level wake_affine by what was last seen of two caches (a731ebe6f17b, September 2017)"
	p.Wake = wake414numa
	return p
}()

var v510 = Profile{
	Name:     "v5.10",
	Summary:  "v5.10 stable: three separate idle searches, no cpu.idle",
	Known:    features510,
	Defaults: features510 &^ offByDefault,
	Inert:    inert510,
	Tunables: tunables414,
	UtilEst:  utilEst510,
	Time:     &cfsTime,
	Topology: topology510, Wake: wake510, SlowPath: slowPath510, Balance: balance510, Bandwidth: bandwidth510,
	PickDropsBuddies: true,
}

var features517 = (inert517 | features510) &^ Features(SISAvgCPU)

var v517 = Profile{
	Name:     "v5.17",
	Summary:  "v5.17: SIS_PROP with wake_avg_idle, cpu.idle groups",
	Known:    features517,
	Defaults: features517 &^ offByDefault,
	Inert:    inert517,
	Tunables: tunables517,
	UtilEst:  utilEst510,
	Time:     &cfsTime,
	Topology: topology517, Wake: wake517, SlowPath: slowPath517, Balance: balance517, Bandwidth: bandwidth517,
	GroupIdle: true,
}

// features2022 are the patches that were proposed on top of v5.17-tip; none of
// them is on by default.
var features2022 = Features(SISFilter, SISFilterV1, SISFilterV3, SISCore, SchedIdleBalance, SchedIdleBalanceV1)

var v517tip = Profile{
	Name:     "v5.17-tip",
	Summary:  "tip/sched/core of February 2022: v5.17 with imb_numa_nr, base of the 2022 RFC",
	Known:    features517 | features2022,
	Defaults: features517 &^ offByDefault,
	Inert:    inert517,
	Tunables: tunables517,
	UtilEst:  utilEst510,
	Time:     &cfsTime,
	Topology: topology517tip, Wake: wake517, SlowPath: slowPath517tip, Balance: balance517tip, Bandwidth: bandwidth517,
	GroupIdle: true,
}

// NI_RANDOM came to v6.1's stable tree late in its life.
var features61 = features517 | Features(SISUtil, NIRandom)

var v61 = Profile{
	Name:     "v6.1",
	Summary:  "v6.1: SIS_UTIL instead of SIS_PROP",
	Known:    features61,
	Defaults: features61 &^ offByDefault &^ Features(SISProp),
	Inert:    inert517,
	Tunables: tunables517,
	UtilEst:  utilEst510,
	Time:     &cfsTime,
	Topology: topology61, Wake: wake61, SlowPath: slowPath61, Balance: balance61, Bandwidth: bandwidth517,
	GroupIdle: true, DecaysIdleLag: true, DetachesInDequeue: true,
}

// inert612: HRTICK ends slices on time here.
var inert612 = inert517.Without(HRTick)

// eevdfFeatures are the bits of its virtual time.
var eevdfFeatures = Features(HRTick, PlaceLag, PlaceDeadlineInitial, PlaceRelDeadline, RunToParity,
	PreemptShort, PickBuddy, DelayDequeue, DelayZero)

var features612 = inert612 | eevdfFeatures | Features(NextBuddy, CacheHotBuddy, WakeupPreemption, TTWUQueue, SISUtil,
	LBMin, AttachAgeLoad, WAIdle, WAWeight, WABias, UtilEst, NIRandom)

var v612 = Profile{
	Name:     "v6.12",
	Summary:  "v6.12 stable: EEVDF with delayed dequeue, clusters",
	Known:    features612,
	Defaults: features612 &^ offByDefault,
	Inert:    inert612,
	Tunables: tunables612,
	Time:     &eevdfTime612,
	Topology: topology612, Wake: wake612, SlowPath: slowPath61, Balance: balance612, Bandwidth: bandwidth612,
	GroupIdle: true, UtilEst: utilEst612, PlainForkUtil: true, SlowPublishing: true, DecaysIdleLag: true,
	KeepsEmptyWeight: true, DetachesInDequeue: true, PublishesByPresent: true,
}

// inert72: PARANOID_AVG guards sums that do not overflow here.
var inert72 = inert612.With(ParanoidAvg).Without(DoubleTick)

var features72 = (features612 | inert72 | Features(NIRate)) &^ Features(DoubleTick)

var v72 = Profile{
	Name:     "v7.2",
	Summary:  "v7.2: EEVDF with exact slice ends, preferred caches, throttling task by task",
	Known:    features72,
	Defaults: features72&^offByDefault&^Features(ParanoidAvg) | Features(HRTick, HRTickDL),
	Inert:    inert72,
	Tunables: tunables612,
	Time:     &eevdfTime72,
	Topology: topology72, Wake: wake72, SlowPath: slowPath72, Balance: balance72, Bandwidth: bandwidth612,
	GroupIdle: true, UtilEst: utilEst72, PlainForkUtil: true, SlowPublishing: true, DecaysIdleLag: true,
	KeepsEmptyWeight: true, DetachesInDequeue: true, PreferredLLC: true, ThrottlesTasks: true,
}

// IsInert reports whether the feature of that debugfs name exists on the kernel
// but changes nothing in the simulator.
func (p *Profile) IsInert(name string) bool { return slices.Contains(p.Inert.Names(), name) }

// HasDefault reports whether the feature of that debugfs name is on by default.
func (p *Profile) HasDefault(name string) bool {
	for f := Feature(0); f < numFeatures; f++ {
		if f.String() == name {
			return p.Defaults.Has(f)
		}
	}
	return false
}
