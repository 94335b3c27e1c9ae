package timeline

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/schedlab/schedlab/trace"
)

// witness checks what must hold whatever the events were.
type witness struct {
	busy   map[int32]int64        // by CPU: until when it is known to have run something
	lived  map[trace.Thread]int64 // by thread: until when it is accounted for
	waited map[trace.Thread]int64 // ns of the parts of the present wait
	now    map[*Thread]Thread     // what changes have told
	last   map[*Thread]int64      // when
	faults []string
}

func watch(f *Follower) *witness {
	w := &witness{busy: map[int32]int64{}, lived: map[trace.Thread]int64{}, waited: map[trace.Thread]int64{}, now: map[*Thread]Thread{}, last: map[*Thread]int64{}}
	f.OnInterval = func(i *Interval) {
		w.check(i.From <= i.To, "backwards: %+v", i)
		w.check(i.From >= w.lived[i.Thread], "in two states at once: %+v, lived until %d", i, w.lived[i.Thread])
		w.lived[i.Thread] = i.To
		switch i.State {
		case Running:
			w.check(i.From >= w.busy[i.CPU], "two threads on a CPU: %+v, busy until %d", i, w.busy[i.CPU])
			w.busy[i.CPU] = i.To
		case Waiting:
			w.check(w.waited[i.Thread] == i.Duration(), "the parts of a wait come to %d: %+v", w.waited[i.Thread], i)
			w.waited[i.Thread] = 0
		}
	}
	f.OnWait = func(p *WaitPart) {
		w.check(p.From < p.To, "an empty part: %+v", p)
		w.check(p.Behind == nil || p.Behind.Thread != p.Waiter.Thread, "behind itself: %+v", p)
		w.waited[p.Waiter.Thread] += p.Duration()
	}
	f.OnChange = func(t *Thread, at int64) {
		w.check(at <= f.Now(), "a change of %d at %d, later than now", t.PID, at)
		w.check(at >= w.last[t], "%d changes at %d and then at %d", t.PID, w.last[t], at)
		w.now[t], w.last[t] = *t, at
	}
	f.OnDepth = func(cpu int32, at int64, queued int) {
		w.check(queued >= 0, "%d queued on CPU %d at %d", queued, cpu, at)
	}
	return w
}

func (w *witness) check(holds bool, format string, args ...any) {
	if !holds && len(w.faults) < 5 {
		w.faults = append(w.faults, fmt.Sprintf(format, args...))
	}
}

// madeUp makes an event of four bytes: what, who, where and how much later.
func madeUp(e *trace.Event, now int64, b []byte) int64 {
	kinds := [...]trace.Kind{
		trace.KindSwitch, trace.KindSwitch, trace.KindSwitch, trace.KindWaking, trace.KindWakeup, trace.KindWakeupNew,
		trace.KindMigrate, trace.KindFork, trace.KindExit, trace.KindLost, trace.KindIdleState, trace.KindTick,
	}
	states := [...]trace.State{0, trace.StatePreempted, trace.StateSleeping, trace.StateBlocked, trace.StateDead, trace.UnknownState}
	kind := kinds[int(b[0])%len(kinds)]
	task := func(n byte) trace.Task { return trace.Task{PID: int32(n % 6), Prio: 120} }
	now += int64(b[3]>>3) - 1 // also backwards
	e.Init(kind, now, int32(b[2]%3))
	e.SetCurrent(trace.NoName, int32(b[1]>>4)%6)
	other := int32(b[2]>>2) % 3
	switch kind {
	case trace.KindSwitch:
		e.SetSwitch(trace.Switch{Prev: task(b[1] >> 4), PrevState: states[int(b[3])%len(states)], Next: task(b[1] & 15)})
	case trace.KindWaking, trace.KindWakeup, trace.KindWakeupNew:
		e.SetWake(trace.Wake{Task: task(b[1] & 15), TargetCPU: other})
	case trace.KindMigrate:
		e.SetMigration(trace.Migration{Task: task(b[1] & 15), From: int32(b[2] % 3), To: other})
	case trace.KindFork:
		e.SetFork(trace.Fork{Parent: task(b[1] >> 4), Child: task(b[1] & 15)})
	case trace.KindExit:
		e.SetExit(task(b[1] >> 4))
	case trace.KindIdleState:
		e.SetIdleState(trace.IdleState{CPU: other, Depth: int64(b[3] % 3)})
	}
	return now
}

func checkMadeUp(t *testing.T, data []byte) {
	f := NewFollower()
	w := watch(f)
	var e trace.Event
	now := int64(1000)
	for ; len(data) >= 4; data = data[4:] {
		now = madeUp(&e, now, data)
		f.Observe(&e)
		for _, c := range f.cpus {
			queued := 0
			for _, t := range f.holders {
				if t.Queued && t.CPU == c.number {
					queued++
				}
			}
			w.check(queued == c.depth, "CPU %d counts %d queued, there are %d", c.number, c.depth, queued)
		}
		for _, t := range f.holders {
			was := w.now[t]
			if w.last[t] == 0 {
				was.CPU = trace.UnknownCPU // nothing was told: it has done nothing
			}
			w.check(was.State == t.State && was.CPU == t.CPU && was.Queued == t.Queued, "%d was told to be %v on %d, and is %v on %d", t.PID, was.State, was.CPU, t.State, t.CPU)
		}
	}
	f.Finish()
	for _, fault := range w.faults {
		t.Error(fault)
	}
}

func TestNoSequenceOfEventsConfuses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := make([]byte, 4*(1+random.IntN(120)))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		checkMadeUp(t, data)
		if t.Failed() {
			return
		}
	}
}

func FuzzFollower(f *testing.F) {
	f.Add([]byte{0, 0x12, 0, 16, 3, 0x23, 4, 16, 0, 0x21, 0, 18})
	f.Fuzz(func(t *testing.T, data []byte) { checkMadeUp(t, data) })
}

// Recordings of real kernels, with and without losses.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("../explain/testdata/*/*/trace.txt.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	more, err := filepath.Glob("../trace/testdata/*.gz")
	if err != nil || len(more) == 0 {
		t.Fatalf("%v, %v", more, err)
	}
	for _, file := range append(files, more...) {
		r, err := trace.Open(file)
		if err != nil {
			continue // what tools print of a recording is there too
		}
		f := NewFollower()
		w := watch(f)
		if err := trace.Each(r, func(e *trace.Event) error { f.Observe(e); return nil }); err != nil {
			t.Error(file, err)
		}
		f.Finish()
		for _, fault := range w.faults {
			t.Errorf("%s: %s", file, fault)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
