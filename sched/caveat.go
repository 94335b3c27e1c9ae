package sched

// Features that are no kernel's and no patch that can be read: whoever prints a
// result says so.

// caveats are in the order in which they are told.
var caveats = []struct {
	feature Feature
	what    string
}{
	{SchedBalanceMap, reconstructedMap},
	{SchedBalanceMapV2, reconstructedMap},
	{SchedBalanceMapV1, reconstructedMap},
	{NohzIdleFix, modelOfNohz},
	{NohzFixPicks, modelOfNohz},
	{NohzFixKick, modelOfNohz},
	{NohzFixDue, modelOfNohz},
	{NohzFixClock, modelOfNohz},
	{ThrottleStates, reconstructedStates},
}

const (
	reconstructedMap    = "a reconstruction: the text of the patches is not at hand"
	reconstructedStates = "a reconstruction from the patch's change log: its text is not at hand"
	modelOfNohz         = "our model of an improved tickless balancer, not the patch of 2011, whose text is not at hand"
)

// FeatureCaveat says why results with the feature of that name are not those of
// a kernel or a patch, "" when they are.
func FeatureCaveat(name string) string {
	for _, c := range caveats {
		if c.feature.String() == name {
			return c.what
		}
	}
	return ""
}

// Caveats lists, one sentence each, what a report has to say about the
// configuration's features. Empty for features of kernels and of patches that
// can be read.
func (c *Config) Caveats() []string {
	var told []string
	for _, caveat := range caveats {
		if c.Features.Has(caveat.feature) {
			told = append(told, caveat.feature.String()+c.uncertainPoints(caveat.feature)+" is "+caveat.what)
		}
	}
	return told
}

// uncertainPoints names the settings that decide what a reconstruction leaves
// open.
func (c *Config) uncertainPoints(f Feature) string {
	state := func(f Feature) string {
		if c.Features.Has(f) {
			return f.String()
		}
		return "NO_" + f.String()
	}
	switch f {
	case SchedBalanceMap:
		return " (" + state(SBMWakeAffine) + ")"
	case SchedBalanceMapV2:
		return " (" + state(SBMWakeAffine) + ", " + state(SBMWakeBalance) + ")"
	case SchedBalanceMapV1:
		return " (" + state(SBMWakeBalance) + ")"
	}
	return ""
}
