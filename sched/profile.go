package sched

import (
	"fmt"
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

	Topology topologyRules // domain.go, mechanisms.md 5.3
	Wake     wakeRules     // wake.go, affine.go, idlesibling.go, mechanisms.md 6
	SlowPath slowPathRules // idlest.go, mechanisms.md 7
	Balance  balanceRules  // balance.go, newidle.go, nohz.go, mechanisms.md 9

	// GroupIdle: cpu.idle exists, and with it idle-classed entities (v5.15).
	GroupIdle bool
	// PickDropsBuddies: a buddy hint is used up by being followed even when it
	// names what runs already; from v5.14 on only a switch uses it up [M].
	PickDropsBuddies bool
	// RunnableLoad: placement and balancing use runnable_load_avg, without
	// blocked tasks (before v5.5).
	RunnableLoad bool
}

// profiles lists the kernels in the order of their age.
var profiles = []*Profile{
	&v414numa, &v414, &v510, &v517, &v517tip, &v61,
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

var features414 = Features(GentleFairSleepers, StartDebit, NextBuddy, LastBuddy, CacheHotBuddy,
	WakeupPreemption, TTWUQueue, SISAvgCPU, SISProp, LBMin, AttachAgeLoad, WAIdle, WAWeight, WABias)

var features510 = features414.With(UtilEst).With(UtilEstFastup).With(AltPeriod).With(BaseSlice)

var offByDefault = Features(NextBuddy, SISAvgCPU, LBMin)

var v414 = Profile{
	Name:     "v4.14",
	Summary:  "wake_affine with WA_IDLE, WA_WEIGHT and WA_BIAS (October 2017)",
	Known:    features414,
	Defaults: features414 &^ offByDefault,
	Topology: topology414, Wake: wake414, SlowPath: slowPath414, Balance: balance414,
	RunnableLoad: true, PickDropsBuddies: true,
}

// v4.14-numa is v4.14 at commit 3fed382b46ba: wake_affine compares NUMA nodes
// and the WA_ bits do not exist yet.
var v414numa = Profile{
	Name:     "v4.14-numa",
	Summary:  "v4.14-rc with node-level wake_affine, before the WA_ features",
	Known:    features414 &^ Features(WAIdle, WAWeight, WABias),
	Defaults: features414 &^ Features(WAIdle, WAWeight, WABias) &^ offByDefault,
	Topology: topology414, Wake: wake414numa, SlowPath: slowPath414, Balance: balance414,
	RunnableLoad: true, PickDropsBuddies: true,
}

var v510 = Profile{
	Name:     "v5.10",
	Summary:  "v5.10 stable: three separate idle searches, no cpu.idle",
	Known:    features510,
	Defaults: features510 &^ offByDefault,
	Topology: topology510, Wake: wake510, SlowPath: slowPath510, Balance: balance510,
	PickDropsBuddies: true,
}

var features517 = features510 &^ Features(SISAvgCPU)

var v517 = Profile{
	Name:     "v5.17",
	Summary:  "v5.17: SIS_PROP with wake_avg_idle, cpu.idle groups",
	Known:    features517,
	Defaults: features517 &^ offByDefault,
	Topology: topology517, Wake: wake517, SlowPath: slowPath517, Balance: balance517,
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
	Topology: topology517tip, Wake: wake517, SlowPath: slowPath517tip, Balance: balance517tip,
	GroupIdle: true,
}

var features61 = features517.With(SISUtil)

var v61 = Profile{
	Name:     "v6.1",
	Summary:  "v6.1: SIS_UTIL instead of SIS_PROP",
	Known:    features61,
	Defaults: features61 &^ offByDefault &^ Features(SISProp),
	Topology: topology61, Wake: wake61, SlowPath: slowPath61, Balance: balance61,
	GroupIdle: true,
}

// HasDefault reports whether the feature of that debugfs name is on by default.
func (p *Profile) HasDefault(name string) bool {
	for f := Feature(0); f < numFeatures; f++ {
		if f.String() == name {
			return p.Defaults.Has(f)
		}
	}
	return false
}
