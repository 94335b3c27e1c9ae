package experiment

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// grace is how long an interrupted run waits for cells that are about to
// finish. It keeps the stop within a second.
const grace = 500 * time.Millisecond

// RunOptions steer an execution; none of them changes a result.
type RunOptions struct {
	Workers  int                                // cells at once; 0: one per CPU
	Journal  *Journal                           // finished cells; nil: none are kept
	Progress func(done, total int, resumed int) // after each cell, from one goroutine; may be nil
}

// Results are the outcomes of a plan, in the plan's order.
type Results struct {
	Plan     *Plan
	Outcomes []*Outcome
}

// Interrupted is the error of a run that was stopped before its end. It unwraps
// to the context's error.
type Interrupted struct {
	Done, Total int
	Err         error
}

// Error says how far the run came.
func (i *Interrupted) Error() string {
	return fmt.Sprintf("interrupted: %d of %d cells are finished", i.Done, i.Total)
}

// Unwrap returns the context's error.
func (i *Interrupted) Unwrap() error { return i.Err }

// Execute runs every cell that the journal does not hold yet. A cell that fails
// is an outcome; the only error is *Interrupted.
func Execute(ctx context.Context, p *Plan, runner Runner, o RunOptions) (*Results, error) {
	results := &Results{Plan: p, Outcomes: make([]*Outcome, len(p.Cells))}
	pending := results.resume(o.Journal)
	e := &execution{plan: p, runner: runner, journal: o.Journal, jobs: make(chan int, len(pending)),
		finished: make(chan finishedCell, len(pending))}
	for _, cell := range pending {
		e.jobs <- cell
	}
	close(e.jobs)
	e.start(ctx, workerCount(o.Workers, len(pending)))
	resumed := len(p.Cells) - len(pending)
	done := e.collect(ctx, results, resumed, o.Progress)
	if done < len(p.Cells) {
		return results, &Interrupted{Done: done, Total: len(p.Cells), Err: ctx.Err()}
	}
	return results, nil
}

// resume takes over what the journal holds and lists the cells still to run.
func (r *Results) resume(journal *Journal) []int {
	var pending []int
	for i := range r.Plan.Cells {
		if r.Outcomes[i] = journal.Lookup(&r.Plan.Cells[i]); r.Outcomes[i] == nil {
			pending = append(pending, i)
		}
	}
	return pending
}

func workerCount(asked, cells int) int {
	if asked <= 0 {
		asked = runtime.NumCPU()
	}
	return min(asked, cells)
}

// execution is the state shared by the workers of one run.
type execution struct {
	plan     *Plan
	runner   Runner
	journal  *Journal
	jobs     chan int
	finished chan finishedCell
}

type finishedCell struct {
	cell    int
	outcome *Outcome
}

// start launches the workers; finished is closed after the last one.
func (e *execution) start(ctx context.Context, workers int) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { e.work(ctx) })
	}
	go func() {
		group.Wait()
		close(e.finished)
	}()
}

func (e *execution) work(ctx context.Context) {
	for cell := range e.jobs {
		if ctx.Err() != nil {
			return
		}
		if outcome := e.run(ctx, cell); outcome != nil {
			e.finished <- finishedCell{cell, outcome}
		}
	}
}

// run is the outcome of a cell, nil when the run was interrupted in it. Errors
// of the runner are not kept in the journal: they may be the surroundings' fault.
func (e *execution) run(ctx context.Context, cell int) (outcome *Outcome) {
	c := &e.plan.Cells[cell]
	defer func() {
		if r := recover(); r != nil {
			outcome = failure("internal error: %v", r)
		}
	}()
	raw, err := e.runner.Run(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return failure("%v", err)
	}
	outcome = validated(raw)
	e.journal.Add(c, outcome)
	return outcome
}

// collect gathers outcomes until the workers end or, after an interrupt, the
// grace is over, and returns how many cells are done.
func (e *execution) collect(ctx context.Context, results *Results, resumed int, progress func(done, total, resumed int)) int {
	done := resumed
	interrupted := ctx.Done()
	var deadline <-chan time.Time
	for {
		select {
		case f, open := <-e.finished:
			if !open {
				return done
			}
			results.Outcomes[f.cell] = f.outcome
			done++
			if progress != nil {
				progress(done, len(results.Outcomes), resumed)
			}
		case <-interrupted:
			interrupted, deadline = nil, time.After(grace)
		case <-deadline:
			return done
		}
	}
}
