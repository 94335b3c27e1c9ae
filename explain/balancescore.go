package explain

import (
	"sort"

	"github.com/schedlab/schedlab/sched"
)

// BalanceCounts compares passes and verdicts of one sort with the model's.
type BalanceCounts struct {
	Moved    Count // passes that moved tasks: the model would have moved some
	None     Count // passes that moved none: nor would the model
	Same     Count // of the passes that moved tasks: exactly those
	Due      Count // periodic passes that the model finds due
	Source   Count // passes that judged a task: source and move type are the model's
	Verdicts Count // of can_migrate_task
	Refused  int64 // verdicts that were no
}

func (b *BalanceCounts) plus(o *BalanceCounts) {
	b.Moved.plus(o.Moved)
	b.None.plus(o.None)
	b.Same.plus(o.Same)
	b.Due.plus(o.Due)
	b.Source.plus(o.Source)
	b.Verdicts.plus(o.Verdicts)
	b.Refused += o.Refused
}

func (b *BalanceCounts) passes() int64 { return b.Moved.Decisions + b.None.Decisions }

// BalanceCell is the counts of one level and one idle type.
type BalanceCell struct {
	// Level is the name of the domain, [LevelActive] for the verdicts of active
	// balancing.
	Level string
	Idle  sched.IdleType
	BalanceCounts
}

// Balance is what a recording tells about balancing.
type Balance struct {
	Cells  []*BalanceCell // from the bottom up, by idle type
	Causes [numPassCauses]int64
	// VerdictCauses counts the verdicts that differ.
	VerdictCauses [numVerdictCauses]int64
	Kept          []*BalancePass // the passes that the model would have made otherwise
}

// Total adds the cells up.
func (b *Balance) Total() BalanceCounts {
	var t BalanceCounts
	for _, c := range b.Cells {
		t.plus(&c.BalanceCounts)
	}
	return t
}

func (b *Balance) plus(o *Balance) {
	for _, c := range o.Cells {
		b.cell(c.Level, c.Idle).plus(&c.BalanceCounts)
	}
	for i, n := range o.Causes {
		b.Causes[i] += n
	}
	for i, n := range o.VerdictCauses {
		b.VerdictCauses[i] += n
	}
}

// LevelActive stands in the place of a domain's name where there is none.
const LevelActive = "active"

// levelOrder is how levels are listed.
var levelOrder = map[string]int{"SMT": 0, "CLS": 1, "MC": 2, "DIE": 3, "PKG": 4, "NODE": 5, "NUMA": 6, LevelActive: 7}

// cell returns the counts of a level and an idle type, in their place.
func (b *Balance) cell(level string, idle sched.IdleType) *BalanceCell {
	i := sort.Search(len(b.Cells), func(i int) bool {
		c := b.Cells[i]
		if c.Level == level {
			return c.Idle >= idle
		}
		return levelOrder[c.Level] > levelOrder[level]
	})
	if i < len(b.Cells) && b.Cells[i].Level == level && b.Cells[i].Idle == idle {
		return b.Cells[i]
	}
	b.Cells = append(b.Cells, nil)
	copy(b.Cells[i+1:], b.Cells[i:])
	b.Cells[i] = &BalanceCell{Level: level, Idle: idle}
	return b.Cells[i]
}

// scorePass counts a finished pass.
func (r *replay) scorePass(p *openPass) {
	b := &r.result.Balance
	c := b.cell(p.Model.Level, p.Idle)
	if p.Model.Dated {
		c.Due.check(p.Model.Due)
	}
	if p.Shown {
		c.Source.check(p.Source == p.Model.Source && p.Move == p.Model.Move)
	}
	if p.Pulled > 0 {
		c.Moved.check(p.Agrees())
		c.Same.check(p.sameTasks())
	} else {
		c.None.check(p.Agrees())
	}
	if p.Agrees() {
		return
	}
	p.Cause = p.cause()
	b.Causes[p.Cause]++
	kept := p.BalancePass
	b.Kept = append(b.Kept, &kept)
}

// scoreVerdict counts one answer.
func (r *replay) scoreVerdict(p *openPass, v *openVerdict, moves bool) {
	level, idle := LevelActive, sched.Idle
	if p.open {
		level, idle = p.Model.Level, p.Idle
	}
	b := &r.result.Balance
	c := b.cell(level, idle)
	c.Verdicts.check(v.moves == moves)
	if !moves {
		c.Refused++
	}
	if v.moves != moves {
		b.VerdictCauses[r.verdictCause(v)]++
	}
}
