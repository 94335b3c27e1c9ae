package explain

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Pick names one decision: a thread and, if there are several, a time.
type Pick struct {
	PID  int32
	Time int64 // ns; Anytime: the thread's first disagreement, else its first decision
}

// Anytime is the time of a Pick that names none.
const Anytime = math.MinInt64

// ParsePick reads PID or PID@SECONDS, as the trace prints them.
func ParsePick(text string) (Pick, error) {
	pidText, timeText, hasTime := strings.Cut(text, "@")
	pid, err := strconv.ParseInt(pidText, 10, 32)
	if err != nil || pid <= 0 {
		return Pick{}, fmt.Errorf("%q is not PID or PID@TIME, such as 401@16.455985", text)
	}
	p := Pick{PID: int32(pid), Time: Anytime}
	if !hasTime {
		return p, nil
	}
	at, err := strconv.ParseFloat(timeText, 64)
	if err != nil || !(at >= 0 && at <= 9e9) { // NaN is neither
		return Pick{}, fmt.Errorf("%q: %q is not a time in seconds, such as 17.985811", text, timeText)
	}
	p.Time = int64(math.Round(at * 1e9))
	return p, nil
}

// Why tells the decision of a capture that p names: at the time given, or the
// nearest one.
func Why(ctx context.Context, b *Bundle, opts Options, p Pick) (*Story, error) {
	opts.keepPID, opts.enough = p.PID, &p
	c, err := Run(ctx, b, opts)
	if err != nil {
		return nil, err
	}
	d := p.choose(c.Kept)
	if d == nil {
		return nil, fmt.Errorf("%s: thread %d was never placed in this recording", b.Dir, p.PID)
	}
	opts.keepPID = 0
	opts.story = d.Index
	c, err = Run(ctx, b, opts)
	if err != nil {
		return nil, err
	}
	return c.story, nil
}

// answeredBy reports whether a decision leaves nothing to look for: it is told,
// or is one of the thread's after the time, behind which all are farther away.
func (p *Pick) answeredBy(d *Decision, told bool) bool {
	if p == nil {
		return false
	}
	return told || d.PID == p.PID && p.Time != Anytime && d.Time >= p.Time
}

// choose returns the decision that p means, nil when the thread has none.
func (p Pick) choose(all []*Decision) *Decision {
	var best *Decision
	for _, d := range all {
		switch {
		case d.PID != p.PID:
		case best == nil:
			best = d
		case p.Time == Anytime:
			if best.Agrees() && !d.Agrees() {
				best = d
			}
		case distance(d.Time, p.Time) < distance(best.Time, p.Time):
			best = d
		}
	}
	return best
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}
