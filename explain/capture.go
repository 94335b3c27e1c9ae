package explain

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// Options say how a capture is explained.
type Options struct {
	// HZ of the recorded kernel; 0 finds out from the recording, else takes 250.
	HZ int64
	// IgnoreHidden uses the probes only as the moments of decision, as if they
	// told nothing more, like a plain trace.
	IgnoreHidden bool
	// Explained, if not nil, is called by RunAll after each bundle, from several
	// goroutines.
	Explained func()
	// keepPID keeps every decision about one thread, not only disagreements.
	keepPID int32
	// story is the index of the decision to tell in full; 0: none.
	story int64
}

// Count counts decisions and those that the model agrees with.
type Count struct {
	Decisions int64 `json:"decisions"`
	Agree     int64 `json:"agree"`
}

// Share returns the agreement as a fraction; 1 when there was nothing to decide.
func (c Count) Share() float64 {
	if c.Decisions == 0 {
		return 1
	}
	return float64(c.Agree) / float64(c.Decisions)
}

func (c *Count) check(ok bool) {
	c.Decisions++
	if ok {
		c.Agree++
	}
}

// Capture is the result of one recording.
type Capture struct {
	Bundle *Bundle
	HZ     int64
	Probes bool

	ByKind [3]Count // by sched.Kind
	// Prev and Random are how often the two baselines agree: staying on the
	// previous CPU, and any idle CPU of its cache (the expected number).
	Prev   int64
	Random float64

	Hidden      HiddenCounts
	Calibration Calibration
	// Causes counts the disagreements by cause.
	Causes [numCauses]int64
	// Kept lists the decisions that the model would have made otherwise, in the
	// order in which the kernel took them; when one thread is asked about, all of its decisions as well.
	Kept []*Decision

	Balance Balance

	Events  int64
	Skipped int64 // events of CPUs that the machine does not have
	Unknown int64 // placements of which the task is not known
	Mended  int64 // placements of tasks that the model held for runnable
	story   *Story
	Stats   *trace.Stats
	Names   *trace.Names
}

// HiddenCounts is how often the rebuilt hidden state equals the recorded one:
// wakee_flips and recent_used_cpu exactly, averages within 2 %.
type HiddenCounts struct {
	Flips, Recent, Load, Util, CPULoad Count
}

// Total returns the counts of all kinds together.
func (c *Capture) Total() Count {
	var t Count
	for _, k := range c.ByKind {
		t.Decisions += k.Decisions
		t.Agree += k.Agree
	}
	return t
}

// Decision is one placement by the kernel beside the model's.
type Decision struct {
	Index     int64 // in the order of the placements' beginnings, from 1
	Time, End int64 // ns: entry and return of the placement
	PID       int32
	Comm      string
	Kernel    int // CPU chosen by the kernel
	Overlaps  bool
	Cause     Cause
	Record    sched.Decision // what the model did
}

// Agrees reports whether the model chose as the kernel did.
func (d *Decision) Agrees() bool { return d.Kernel == int(d.Record.CPU) }

// ctxEvents is how many events are followed between two looks whether to stop.
const ctxEvents = 1 << 14

// Run follows the trace of a bundle.
func Run(ctx context.Context, b *Bundle, opts Options) (*Capture, error) {
	look, err := lookAhead(b)
	if err != nil {
		return nil, err
	}
	if b.Simulated {
		look.hz, look.turns, look.probes = b.HZ, false, true
	}
	if opts.HZ == 0 {
		opts.HZ = look.hz
	}
	reader, err := trace.Open(b.Trace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }() // read only
	r, err := newReplay(b, opts, reader.Names())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Dir, err)
	}
	if r.groups.quotas, err = b.survey(); err != nil {
		return nil, err
	}
	r.probes, r.kicks.judgeable = look.probes, look.passes
	if look.turns {
		r.turns.taken, r.turns.tick = true, 1_000_000_000/opts.HZ
		r.f.TickByHand()
		if r.falls, err = b.surveyFalls(r.turns.tick); err != nil {
			return nil, err
		}
	}
	r.result.Probes = look.probes
	var e trace.Event
	for {
		if r.result.Events%ctxEvents == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err := reader.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Trace, err)
		}
		if r.result.Events == 0 && !b.Simulated {
			r.begin(e.Time, &look)
		}
		r.result.Events++
		r.step(&e)
	}
	r.result.Stats = reader.Stats()
	return r.result, nil
}

func newReplay(b *Bundle, opts Options, names *trace.Names) (*replay, error) {
	cfg := b.Config(opts.HZ)
	newFollower := sched.NewFollower
	if b.Simulated {
		newFollower = sched.NewExactFollower
	}
	f, err := newFollower(cfg)
	if err != nil {
		return nil, err
	}
	r := &replay{
		bundle: b, opts: opts, f: f, features: cfg.Features, names: names,
		tasks: taskTable{byPID: map[int32]*task{}},
		cpus:  make([]cpuState, b.Machine.NumCPUs()),
		masks: map[uint64]machine.CPUMask{}, freedApart: map[uint64]bool{},
		firstCPU: b.Machine.Online().First(),
		idleOf:   idleNumbersOf(b.Kernel),
		result:   &Capture{Bundle: b, HZ: opts.HZ, Names: names},
	}
	return r, r.buildGroups()
}

// score counts a finished placement; when the model would have decided
// otherwise it looks for the cause.
func (r *replay) score(a *ask, chosen int, end int64) {
	res := r.result
	agrees := a.predicted == chosen
	res.ByKind[a.Kind].check(agrees)
	if chosen == a.Prev {
		res.Prev++
	}
	res.Random += a.randomShare(chosen)
	r.measureScan(a, end)
	if agrees && a.who.ID != r.opts.keepPID && a.story == nil {
		return
	}
	d := &Decision{
		Index: a.index, Time: a.time, End: end,
		PID: a.who.ID, Comm: r.names.Text(a.who.comm), Kernel: chosen, Overlaps: a.overlaps, Record: a.record,
	}
	d.Record.Candidates = append([]sched.Candidate(nil), a.record.Candidates...)
	if !agrees {
		d.Cause = r.findCause(a, chosen)
		res.Causes[d.Cause]++
	}
	if a.story != nil {
		a.story.Decision = *d
		res.story = a.story
	}
	res.Kept = append(res.Kept, d)
}

// measureScan learns from the time between entry and return what a scan costs,
// beside what every placement costs.
func (r *replay) measureScan(a *ask, end int64) {
	if r.bundle.Simulated {
		return // its scans cost what its prices say
	}
	took := end - a.time
	if r.leastPlacement == 0 || took < r.leastPlacement {
		r.leastPlacement = took
	}
	if a.record.ScannedThrough() {
		r.f.MeasuredScan(&a.Question, took-r.leastPlacement)
	}
}

// randomShare is the probability that a random idle CPU of prev's cache is the
// one chosen; without an idle one the baseline stays at prev.
func (a *ask) randomShare(chosen int) float64 {
	if len(a.idle) == 0 {
		if chosen == a.Prev {
			return 1
		}
		return 0
	}
	for _, cpu := range a.idle {
		if int(cpu) == chosen {
			return 1 / float64(len(a.idle))
		}
	}
	return 0
}
