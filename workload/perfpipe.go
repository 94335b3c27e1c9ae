package workload

import (
	"fmt"
	"math"
)

// perfPipe is perf bench sched pipe (ipc-and-benchmarks.md 6.2).
type perfPipe struct {
	loops   int
	threads bool
	stretched
}

func newPerfPipe() *perfPipe { return &perfPipe{loops: 1_000_000} }

const tokenBytes = 4

// Name implements [Benchmark].
func (p *perfPipe) Name() string { return "perf bench sched pipe" }

func (p *perfPipe) options() []option {
	return []option{
		{"l", "loop", "N", "round trips (1000000)", toInt(&p.loops, 1, math.MaxInt32)},
		{"T", "threaded", "", "threads instead of processes", toBool(&p.threads, true)},
	}
}

func (p *perfPipe) check() error { return nil }

// Build implements [Benchmark]. With processes the parent itself is one of the
// two; with threads it only waits for them. Its clock covers the start and the
// end of the others.
func (p *perfPipe) Build(Shape) (*Scenario, error) {
	start := Instr{Op: OpMark, N: startMark}
	finish := []Instr{{Op: OpWaitChildren}, {Op: OpMark, N: stopMark}, {Op: OpExit}}
	exit := Instr{Op: OpExit}
	s := &Scenario{Channels: []ChannelSpec{{Kind: Pipe}, {Kind: Pipe}}, Marks: 2, Stretch: p.stretch}
	if p.threads {
		main := append(Program{start, {Op: OpFork, N: 1}, {Op: OpFork, N: 2}}, finish...)
		s.Programs = []Program{main, append(p.answer(nil), exit), append(p.ask(nil), exit)}
	} else {
		main := append(p.ask(Program{start, {Op: OpFork, N: 1}}), finish...)
		s.Programs = []Program{main, append(p.answer(nil), exit)}
	}
	s.Work = p.work(s.Programs)
	for i := range s.Programs {
		process := int32(0)
		if !p.threads {
			process = int32(i)
		}
		s.Tasks = append(s.Tasks, TaskSpec{
			Name: "sched-pipe", Program: int32(i), Forked: i > 0, Process: process,
			Footprint: stackFootprint, StartCPU: AnyCPU,
		})
	}
	return s, nil
}

// answerProgram is the one that answers in either form.
const answerProgram = 1

// work declares the loop that each of the two tasks has: one asks, with two
// messages a turn, the other answers.
func (p *perfPipe) work(programs []Program) *Work {
	w := &Work{Start: startMark, Units: int64(p.loops), Groups: 1}
	for i, program := range programs {
		for at, in := range program {
			if in.Op == OpLoop {
				loop := WorkLoop{Program: int32(i), At: int32(at), PerUnit: 1}
				if i == answerProgram {
					loop.Drains = true
				} else {
					loop.Messages = 2
				}
				w.Loops = append(w.Loops, loop)
			}
		}
	}
	return w
}

// The token goes there through one pipe and comes back through the other.
const (
	therePipe = 0
	backPipe  = 1
)

// ask appends the loop of the task that has the token first.
func (p *perfPipe) ask(program Program) Program {
	return append(program,
		Instr{Op: OpWrite, Chan: therePipe, N: tokenBytes},
		Instr{Op: OpRead, Chan: backPipe, N: tokenBytes},
		Instr{Op: OpLoop, Target: int32(len(program)), N: int64(p.loops)})
}

// answer appends the loop of the task that sends it back.
func (p *perfPipe) answer(program Program) Program {
	return append(program,
		Instr{Op: OpRead, Chan: therePipe, N: tokenBytes},
		Instr{Op: OpWrite, Chan: backPipe, N: tokenBytes},
		Instr{Op: OpLoop, Target: int32(len(program)), N: int64(p.loops)})
}

// Report implements [Benchmark]. The tool's clock has microseconds.
func (p *perfPipe) Report(obs *Observation) Report {
	text := "# Running 'sched/pipe' benchmark:\n"
	tasks := "processes"
	if p.threads {
		tasks = "threads"
	}
	text += fmt.Sprintf("# Executed %d pipe operations between two %s\n\n", p.loops, tasks)
	ns, failure := obs.between(startMark, stopMark)
	if failure == "" && ns < 1000 {
		failure = "took less than the microsecond its clock can tell"
	}
	if failure != "" {
		return Report{Text: text, Failure: failure}
	}
	us := ns / 1000
	text += totalTime(ns) + "\n"
	text += fmt.Sprintf(" %14f usecs/op\n", float64(us)/float64(p.loops))
	text += fmt.Sprintf(" %14d ops/sec\n", int64(float64(p.loops)/(float64(us)/1e6)))
	return Report{Text: text, Notes: p.notes(obs), Metrics: []Metric{
		elapsed(ns),
		{Statistic: "Amean", Unit: "microseconds/op", Better: "lower", Value: float64(ns) / 1000 / float64(p.loops)},
		{Statistic: "Hmean", Unit: "ops/s", Better: "higher", Value: float64(p.loops) * 1e9 / float64(ns)},
	}}
}
