package workload

import (
	"fmt"
	"time"
)

// Work is what a benchmark does over and over, alike for as long as it runs:
// Units times the same. It is what may be cut short and scaled, and what goes
// on for ever in the background.
type Work struct {
	// Start is the mark at which the work begins.
	Start int
	// Units is how many units there are.
	Units int64
	// Lasts, if set, is how long the work goes on in ns, by the clock and not by
	// units: the program of a stretch ends itself that much earlier, and what is
	// scaled is what the scheduler counts.
	Lasts int64
	// Groups is how many groups of tasks do that work, each on its own.
	Groups int
	// Loops are the loops of all tasks that count units.
	Loops []WorkLoop
}

// WorkLoop is an OpLoop of the tasks of a group that runs PerUnit turns in each
// unit of work, so that its count is Units times PerUnit.
//
// The tasks of a group are sources of work, each at its own pace, or drain it:
// one turn of theirs for each turn of each source.
type WorkLoop struct {
	Program, At int32
	Group       int32
	PerUnit     int64
	// Messages is how many writes belong to a source's turn, those of who
	// drains it included.
	Messages int64
	Drains   bool
}

// Stretch says how much of a benchmark's work is simulated at most: a warm-up,
// then a stretch whose speed stands for the rest, then the last units of work
// and the end as in the whole run. Times are virtual, in ns.
type Stretch struct {
	Warmup, Measure int64
	// Settle is how much longer the warm-up may take, at most, until two windows
	// of Measure in a row are alike.
	Settle int64
}

// Given reports whether there is a stretch: the zero value means the whole run.
func (s Stretch) Given() bool { return s.Measure > 0 }

// String writes the stretch for people.
func (s Stretch) String() string {
	settle := ""
	if s.Settle > 0 {
		settle = fmt.Sprintf(", up to %s more until it is steady", time.Duration(s.Settle))
	}
	return fmt.Sprintf("%s of warm-up%s, then %s measured", time.Duration(s.Warmup), settle, time.Duration(s.Measure))
}

// Scalable is a benchmark of which a stretch can stand for the whole.
type Scalable interface {
	Benchmark
	// SetStretch applies to the scenarios that Build returns from now on.
	SetStretch(Stretch)
}

// stretched is embedded by benchmarks that declare their Work.
type stretched struct {
	stretch *Stretch
}

// SetStretch implements [Scalable].
func (s *stretched) SetStretch(stretch Stretch) { s.stretch = &stretch }

func (s *stretched) notes(obs *Observation) []string {
	if obs.Skipped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("scaled from a stretch of each run: %s", s.stretch)}
}

func (s *Scenario) validateWork() error {
	if s.Stretch != nil && s.Work == nil {
		return fmt.Errorf("a stretch of no declared work")
	}
	if s.Stretch != nil && (s.Stretch.Warmup < 0 || s.Stretch.Settle < 0 || s.Stretch.Measure <= 0) {
		return fmt.Errorf("a stretch of %s: the warm-up must not be negative, the rest positive", s.Stretch)
	}
	if s.Work == nil {
		return nil
	}
	if err := within("mark", int64(s.Work.Start), s.Marks); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	if s.Work.Lasts < 0 || s.Work.Lasts > 0 && len(s.Work.Loops) > 0 {
		return fmt.Errorf("work of %s that has loops: it ends by the clock or by its loops, not both", time.Duration(s.Work.Lasts))
	}
	for i, l := range s.Work.Loops {
		if err := s.validateWorkLoop(l); err != nil {
			return fmt.Errorf("work: loop %d: %w", i, err)
		}
	}
	return s.validateDrains()
}

// validateDrains checks that who drains a group's work has a turn for each of
// its sources'.
func (s *Scenario) validateDrains() error {
	tasks := make([]int64, len(s.Programs))
	for i := range s.Tasks {
		tasks[s.Tasks[i].Program]++
	}
	turns := make([]int64, s.Work.Groups) // of all sources, in a unit
	for _, l := range s.Work.Loops {
		if !l.Drains {
			turns[l.Group] += tasks[l.Program] * l.PerUnit
		}
	}
	for i, l := range s.Work.Loops {
		if l.Drains && l.PerUnit != turns[l.Group] {
			return fmt.Errorf("work: loop %d drains group %d with %d turns a unit; its sources have %d", i, l.Group, l.PerUnit, turns[l.Group])
		}
	}
	return nil
}

func (s *Scenario) validateWorkLoop(l WorkLoop) error {
	if err := within("program", int64(l.Program), len(s.Programs)); err != nil {
		return err
	}
	if err := within("group", int64(l.Group), s.Work.Groups); err != nil {
		return err
	}
	p := s.Programs[l.Program]
	if err := within("instruction", int64(l.At), len(p)); err != nil {
		return err
	}
	if in := p[l.At]; in.Op != OpLoop || in.N != s.Work.Units*l.PerUnit {
		return fmt.Errorf("instruction %d of program %d is %q, want a loop of %d turns", l.At, l.Program, in, s.Work.Units*l.PerUnit)
	}
	return nil
}
