package sched

// A group's load, by which its weight is divided over its CPUs, as v3.1 to v3.7
// average it: over windows of 10 ms, of which each counts half as much as the
// next (mechanisms.md 3.1).

// sharesWindow is sysctl_sched_shares_window, in ns.
const sharesWindow = 10_000_000

// shareWindow is the history of one queue.
type shareWindow struct {
	period int64 // ns that it stands for
	load   int64 // Σ weight × ns
	stamp  int64 // ns of the last update
	loaded int64 // ns when it last had load
}

// foldWindow takes the time since the last update into a queue's history and
// publishes the average: at the end of each window if it has changed, or
// always, when asked to.
func (s *Scheduler) foldWindow(cfs *cfsRQ, publish bool) {
	if cfs.se == nil || s.throttledHierarchy(cfs) {
		return
	}
	w := &cfs.window
	delta := max(0, s.now-w.stamp)
	if w.stamp > w.loaded && s.now-w.loaded > 4*sharesWindow {
		w.period, w.load, delta = 0, 0, sharesWindow-1 // what was is forgotten
	}
	w.stamp = s.now
	w.period += delta
	if load := scaleDown(cfs.load); load > 0 {
		w.loaded = s.now
		w.load += delta * load
	}
	if publish || w.period > sharesWindow || w.period == 0 {
		cfs.publishWindow(publish)
	}
	for w.period > sharesWindow {
		w.period /= 2
		w.load /= 2
	}
}

func (cfs *cfsRQ) publishWindow(always bool) {
	delta := cfs.window.load/(cfs.window.period+1) - cfs.tgContrib
	if noise := cfs.tgContrib / 8; always || delta > noise || -delta > noise {
		cfs.tg.loadAvg += delta
		cfs.tgContrib += delta
	}
}

// updateWindowShares renews a CPU's group weights when it balances
// [update_shares].
func (s *Scheduler) updateWindowShares(cfs *cfsRQ) {
	s.foldWindow(cfs, true)
	s.updateLoadAvg(cfs.parent, cfs.se, updateGroupLoad) // up to now with the old weight
	s.updateGroupWeight(cfs.se)
}
