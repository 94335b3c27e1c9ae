package experiments

import "slices"

// Document is a published document and the experiment files that repeat what it
// measured. The first part has the document's name and is what "reproduce NAME"
// runs; the others stand apart so that it stays within its time.
type Document struct {
	Name  string
	About string // what it is, in a few words
	Parts []string
}

// Documents lists the four documents.
func Documents() []Document {
	return []Document{
		{"sched-idle-balance", "April 2022: filtering overloaded CPUs out of the idle search, and balancing towards sched-idle CPUs",
			[]string{"sched-idle-balance", "sched-idle-balance-net"}},
		{"wake-affine", "Autumn 2017: which of two caches a wakeup goes to, WA_IDLE and WA_WEIGHT",
			[]string{"wake-affine", "wake-affine-net", "wake-affine-apps", "wake-affine-lu"}},
		{"schedule-balance-map", "January 2013: a map instead of a walk over the domains in task placement",
			[]string{"schedule-balance-map"}},
		{"bandwidth-idle", "November 2011: idle time under CFS bandwidth control",
			[]string{"bandwidth-idle"}},
	}
}

// DocumentOf finds the document that an experiment is a part of.
func DocumentOf(part string) (Document, bool) {
	for _, d := range Documents() {
		if slices.Contains(d.Parts, part) {
			return d, true
		}
	}
	return Document{}, false
}
