package sched

import (
	"fmt"
	"strings"

	"github.com/schedlab/schedlab/machine"
)

// patchVariants are the versions of proposed patches in use: the schedule
// balance map of 2013 (balancemap.go), and of 2022 SIS filters (sisfilter.go,
// siscore.go) and sched-idle balance (schedidle.go). They are chosen by feature
// bits when the scheduler is built; nil is off.
type patchVariants struct {
	place    placeRule // nil: wake.go's
	keepsMap bool      // of the domains (balancemap.go)
	overload *overloadRules
	filter   filterRule
	core     bool // SIS_CORE
	pull     *pullRules
	// newidleDone reports whether a CPU about to idle has got what its search
	// was for.
	newidleDone func(rq *runqueue, pulled int, overloadNearby bool) bool
}

// filterVersions and pullVersions exclude each other: each is another version
// of the same patch.
var (
	filterVersions = Features(SISFilter, SISFilterV1, SISFilterV3, SISCore)
	pullVersions   = Features(SchedIdleBalance, SchedIdleBalanceV1)
)

// chooseVariants reads the feature bits. The sched-idle pull needs to know the
// overloaded CPUs also when no filter uses them; it then tracks them as RFC v2
// does.
func (s *Scheduler) chooseVariants() error {
	v := &s.variants
	v.newidleDone = hasAnyTask
	for _, versions := range []FeatureSet{filterVersions, pullVersions, balanceMapVersions} {
		if chosen := (s.features & versions).Names(); len(chosen) > 1 {
			return fmt.Errorf("features %s are versions of one patch; choose one", strings.Join(chosen, " and "))
		}
	}
	v.place = s.profile.Wake.place
	if version := s.features & balanceMapVersions; version != 0 {
		v.place, v.keepsMap = balanceMapPlacement(version), true
	}
	switch {
	case s.features.Has(SISFilter):
		v.overload, v.filter = &overloadRFC, filterRFCv2
	case s.features.Has(SISFilterV1):
		v.overload, v.filter = &overloadRFC, filterRFCv1
	case s.features.Has(SISFilterV3):
		v.overload, v.filter = &overloadV3, filterV3
	case s.features.Has(SISCore):
		v.core = true
	}
	switch {
	case s.features.Has(SchedIdleBalance):
		v.pull = &pullRFCv2
	case s.features.Has(SchedIdleBalanceV1):
		v.pull = &pullRFCv1
	}
	if v.pull != nil {
		v.newidleDone = v.pull.newidleDone
		if v.overload == nil {
			v.overload = &overloadRFC
		}
	}
	return nil
}

// initFilterMasks makes room in a cache's record for what the patches keep.
func (s *Scheduler) initFilterMasks(shared *LLCShared, span machine.CPUMask) {
	n := len(s.rqs)
	if s.variants.overload != nil {
		shared.Overload = OverloadMask{CPUs: machine.NewCPUMask(n), Line: newSharedLine(n)}
	}
	if s.variants.core {
		shared.IdleCPUs = IdleMask{CPUs: span.Clone(), Line: newSharedLine(n)}
	}
}

// SharedLine is the cache line that holds a cache's mask. It remembers which
// CPUs have a copy: an update takes it away from all others, and their next
// look at it has to fetch it again.
type SharedLine struct{ Holders machine.CPUMask }

func newSharedLine(n int) SharedLine { return SharedLine{machine.NewCPUMask(n)} }

// writeMask counts an update of a mask by a CPU.
func (s *Scheduler) writeMask(line *SharedLine, by *runqueue) {
	s.work.MaskUpdates++
	clear(line.Holders)
	line.Holders.Set(int(by.cpu))
}

// readMask counts a look at the mask of owner's cache by a CPU.
func (s *Scheduler) readMask(line *SharedLine, by, owner *runqueue) {
	s.work.MaskLookups++
	switch {
	case line.Holders.Has(int(by.cpu)):
		return
	case by.llcID == owner.llcID:
		s.work.MaskFetches++
	default:
		s.work.MaskFetchesRemote++
	}
	line.Holders.Set(int(by.cpu))
}
