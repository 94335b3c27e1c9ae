package explain

import (
	"fmt"
	"os"
	"sort"

	"github.com/schedlab/schedlab/sched"
)

// BalanceCounts compares passes and verdicts of one sort with the model's.
type BalanceCounts struct {
	Moved    Count // passes that moved tasks: the model would have moved some
	None     Count // passes that moved none: nor would the model
	Same     Count // of the passes that moved tasks: exactly those
	Due      Count // periodic passes that the model finds due
	Sort     Count // passes of which the kernel's move type and source are known: the same
	Verdicts Count // of can_migrate_task
	Refused  int64 // verdicts that were no
}

func (b *BalanceCounts) plus(o *BalanceCounts) {
	b.Moved.plus(o.Moved)
	b.None.plus(o.None)
	b.Same.plus(o.Same)
	b.Due.plus(o.Due)
	b.Sort.plus(o.Sort)
	b.Verdicts.plus(o.Verdicts)
	b.Refused += o.Refused
}

// passes is how many passes were compared.
func (b *BalanceCounts) passes() int64 { return b.Moved.Decisions + b.None.Decisions }

// BalanceCell is the counts of one level and one idle type.
type BalanceCell struct {
	Level  string
	Active bool // verdicts of active balancing, which have no level
	Idle   sched.IdleType
	BalanceCounts
}

// Balance is what a recording tells about balancing.
type Balance struct {
	Cells  []*BalanceCell
	Causes [numPassCauses]int64
	Kept   []*BalancePass // the passes that the model would have made otherwise
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
}

// levelActive is the level of verdicts of active balancing.
const levelActive = "active"

// levelOrder is how levels are listed, from the bottom up.
var levelOrder = map[string]int{"SMT": 0, "CLS": 1, "MC": 2, "DIE": 3, "PKG": 3, "NODE": 4, "NUMA": 5, levelActive: 6}

func (b *Balance) cell(level string, idle sched.IdleType) *BalanceCell {
	before := func(c *BalanceCell) bool {
		switch {
		case levelOrder[c.Level] != levelOrder[level]:
			return levelOrder[c.Level] < levelOrder[level]
		case c.Level != level:
			return c.Level < level
		}
		return c.Idle < idle
	}
	i := sort.Search(len(b.Cells), func(i int) bool { return !before(b.Cells[i]) })
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
	c := r.result.Balance.cell(p.Model.Level, p.Idle)
	if p.Model.Dated {
		c.Due.check(p.Model.Due)
	}
	if p.Shown {
		c.Sort.check(p.Source == p.Model.Source && p.Move == p.Model.Move)
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
	p.Cause = r.passCause(p)
	r.result.Balance.Causes[p.Cause]++
	kept := p.BalancePass
	r.result.Balance.Kept = append(r.result.Balance.Kept, &kept)
	if os.Getenv("BALDEBUG") != "" {
		var pids []int32
		for _, t := range p.Model.Moved {
			pids = append(pids, t.ID)
		}
		fmt.Printf("PASS %s %.6f-%.6f dst %d %s %s failed %d: kernel %v pulled %d (shown %v src %d move %d imb %d); model due %v elected %v src %d move %d imb %d %s<%s %v %v\n", r.bundle.Dir, float64(p.Time)/1e9, float64(p.End)/1e9, p.CPU, p.Model.Level, p.Idle, p.question.Failed, p.Kernel, p.Pulled, p.Shown, p.Source, p.Move, p.Imbalance, p.Model.Due, p.Model.Elected, p.Model.Source, p.Model.Move, p.Model.Imbalance, p.Model.Local, p.Model.Busiest, pids, p.Cause)
	}
}

// scoreVerdict counts one answer.
func (r *replay) scoreVerdict(c *cpuState, v *openVerdict, moves bool, now int64) {
	level, idle := levelActive, sched.Idle
	if p := &c.bal.pass; p.open {
		level, idle = p.Model.Level, p.Idle
	}
	cell := r.result.Balance.cell(level, idle)
	cell.Verdicts.check(v.moves == moves)
	if !moves {
		cell.Refused++
	}
	if os.Getenv("BALDEBUG") != "" {
		fmt.Printf("VERDICT %s %.6f %s pid %d %d->%d: kernel %v model %v %s queued %v failed %d move %d idle %v\n", r.bundle.Dir, float64(now)/1e9, level, v.who.ID, v.ask.From, v.ask.To, moves, v.moves, v.reason, v.who.Queued(), c.bal.pass.question.Failed, v.ask.Move, idle)
	}
}
