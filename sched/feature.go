package sched

import (
	"fmt"
	"sort"
	"strings"
)

// Feature is one bit of the kernel's sched_features, spelled as in debugfs.
type Feature uint8

// The feature bits that the mechanisms name.
const (
	GentleFairSleepers Feature = iota
	StartDebit
	NextBuddy
	LastBuddy
	CacheHotBuddy
	WakeupPreemption
	TTWUQueue
	SISAvgCPU
	SISProp
	SISUtil
	LBMin
	AttachAgeLoad
	WAIdle
	WAWeight
	WABias
	UtilEst
	UtilEstFastup
	AltPeriod
	BaseSlice
	// Patches of the 2022 series that v5.17-tip is the base of (mechanisms.md
	// 10); a bit switches on one version of one of them.
	SISFilter
	SISFilterV1
	SISFilterV3
	SISCore
	SchedIdleBalance
	SchedIdleBalanceV1
	NIRandom // newidle balancing rolls dice for each domain
	NIRate   // and looks at the rate of the passes
	PlaceLag // EEVDF's placement goes by lag, and so does v7.2's migration filter
	LBBias   // loads are smoothed over ticks, to the side of caution (before v4.20)
	// The schedule balance map of 2013, versions 3 to 1, and two points of it
	// that are not known (balancemap.go, mechanisms.md 8).
	SchedBalanceMap
	SchedBalanceMapV2
	SchedBalanceMapV1
	SBMWakeAffine
	SBMWakeBalance
	// Our model of a better tickless balancer than v3.2's, whole and in parts
	// (nohz32.go, mechanisms.md 4.11).
	NohzIdleFix
	NohzFixPicks
	NohzFixKick
	NohzFixDue
	NohzFixClock
	// Bandwidth control (bandwidth.go): three patches of 2011, and the rule of
	// v4.18 to v5.3 for kernels that do not have it.
	BandwidthStaticKey
	BandwidthReturnFix
	ThrottleStates
	BandwidthExpiry

	// The rest of EEVDF (eevdf.go).
	PlaceDeadlineInitial
	PlaceRelDeadline
	RunToParity
	PreemptShort
	PickBuddy
	DelayDequeue
	DelayZero

	// Known to kernels, without effect here: see [Profile.Inert].
	ParanoidAvg
	HRTick // CFS leaves slices to the tick
	HRTickDL
	DoubleTick
	NontaskCapacity
	WarnDoubleClock
	RTPushIPI
	RTRuntimeShare
	LatencyWarn
	ArchPower
	ForceSDOverlap
	numFeatures
)

// A set is one word.
const _ = uint(64 - numFeatures)

var featureNames = [numFeatures]string{
	"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY",
	"WAKEUP_PREEMPTION", "TTWU_QUEUE", "SIS_AVG_CPU", "SIS_PROP", "SIS_UTIL", "LB_MIN",
	"ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST", "UTIL_EST_FASTUP",
	"ALT_PERIOD", "BASE_SLICE",
	"SIS_FILTER", "SIS_FILTER_V1", "SIS_FILTER_V3", "SIS_CORE",
	"SCHED_IDLE_BALANCE", "SCHED_IDLE_BALANCE_V1",
	"NI_RANDOM", "NI_RATE", "PLACE_LAG", "LB_BIAS",
	"SCHED_BALANCE_MAP", "SCHED_BALANCE_MAP_V2", "SCHED_BALANCE_MAP_V1", "SBM_WAKE_AFFINE", "SBM_WAKE_BALANCE",
	"NOHZ_IDLE_FIX", "NOHZ_FIX_PICKS", "NOHZ_FIX_KICK", "NOHZ_FIX_DUE", "NOHZ_FIX_CLOCK",
	"BANDWIDTH_STATIC_KEY", "BANDWIDTH_RETURN_FIX", "THROTTLE_STATES", "BANDWIDTH_EXPIRY",
	"PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "PREEMPT_SHORT", "PICK_BUDDY",
	"DELAY_DEQUEUE", "DELAY_ZERO", "PARANOID_AVG", "HRTICK", "HRTICK_DL", "DOUBLE_TICK", "NONTASK_CAPACITY",
	"WARN_DOUBLE_CLOCK", "RT_PUSH_IPI", "RT_RUNTIME_SHARE", "LATENCY_WARN", "ARCH_POWER", "FORCE_SD_OVERLAP",
}

// String returns the debugfs spelling.
func (f Feature) String() string { return featureNames[f] }

// FeatureSet is a set of feature bits.
type FeatureSet uint64

// Features returns the set of the given bits.
func Features(fs ...Feature) FeatureSet {
	var s FeatureSet
	for _, f := range fs {
		s |= 1 << f
	}
	return s
}

// Has reports whether f is in the set.
func (s FeatureSet) Has(f Feature) bool { return s>>f&1 != 0 }

// With returns the set with f added, Without with f removed.
func (s FeatureSet) With(f Feature) FeatureSet { return s | 1<<f }

// Without returns the set with f removed.
func (s FeatureSet) Without(f Feature) FeatureSet { return s &^ (1 << f) }

// Names lists the members in declaration order.
func (s FeatureSet) Names() []string {
	var out []string
	for f := Feature(0); f < numFeatures; f++ {
		if s.Has(f) {
			out = append(out, f.String())
		}
	}
	return out
}

// SetFeature applies one debugfs-style word ("WA_IDLE" or "NO_WA_IDLE") to the
// configuration. A name that the profile's kernel does not have is an error
// that lists those it has. Bits that the kernel has but the simulator does not
// act on ([Profile.Inert]) are accepted, so that a recorded kernel's whole list
// can be applied.
func (c *Config) SetFeature(word string) error {
	name, off := strings.CutPrefix(word, "NO_")
	for f := Feature(0); f < numFeatures; f++ {
		if f.String() != name || !c.Profile.Known.Has(f) {
			continue
		}
		if off {
			c.Features = c.Features.Without(f)
		} else {
			c.Features = c.Features.With(f)
		}
		return nil
	}
	names := c.Profile.Known.Names()
	sort.Strings(names)
	return fmt.Errorf("kernel %s has no scheduler feature %q; it has %s (put NO_ before a name to switch it off)",
		c.Profile.Name, word, strings.Join(names, " "))
}
