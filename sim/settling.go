package sim

// settling looks at windows at the end of a warm-up, one as long as what will be
// measured, until two in a row are alike. How long a benchmark takes to settle
// depends on its size: 12 groups of hackbench on 96 CPUs are steady after
// 300 ms, 296 groups of sockets after two seconds.
type settling struct {
	until  int64 // no later
	seen   pace  // at the end of the last window
	window pace  // of the last window
	count  int   // of windows
}

// pace counts what a window is compared by.
type pace struct{ messages, wakeups int64 }

// alikePercent is how much two windows in a row may differ.
const alikePercent = 5

// beginWarmup returns when to look first: two windows fit into a warm-up that
// is long enough.
func (s *stretch) beginWarmup(now int64) int64 {
	s.settling.until = now + s.spec.Warmup + s.spec.Settle
	if s.spec.Settle == 0 {
		return now + s.spec.Warmup
	}
	return now + max(0, s.spec.Warmup-2*s.spec.Measure)
}

// goesOn ends a window and reports whether another one is needed.
func (g *settling) goesOn(m *Sim, window int64) bool {
	now := pace{m.progress, m.result.Wakeups}
	last := g.window
	g.window, g.seen = pace{now.messages - g.seen.messages, now.wakeups - g.seen.wakeups}, now
	g.count++
	switch {
	case m.now+window > g.until:
		return false
	case g.count <= 2: // the first has no beginning, the second nothing before it
		return true
	}
	return !alike(g.window.messages, last.messages) || !alike(g.window.wakeups, last.wakeups)
}

func alike(a, b int64) bool { return 100*(max(a, b)-min(a, b)) <= alikePercent*max(a, b) }
