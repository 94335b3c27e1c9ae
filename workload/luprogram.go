package workload

import (
	"fmt"
	"slices"
)

// What one thread of LU does in an iteration: two parallel regions, of which
// the first holds the two sweeps.
//
// A sweep goes over the planes of the grid. Each thread has some rows of a
// plane, and may not solve its rows before its left neighbour has solved its
// own: a flag between two neighbours holds 1 when the left one has a plane ready
// and 0 when the right one has taken it. So a plane moves through the threads
// like a wave, and with one plane behind the other all threads work.

// luShares is how the work on a point outside of the sweeps is divided, in
// thousandths [M]: the loops of the first region before and after its sweeps,
// and those of the second, the residual.
var luShares = struct{ scale, update, flux, x, y, z int64 }{50, 50, 100, 250, 250, 300}

const (
	luJitter    = 2 // percent that the work on a plane differs from the mean [M]
	luFootprint = 256 << 10
	luPhaseWarm = 1 // what the words of a stretch hold when its times are over
)

// The objects: the dock where threads wait for a region, the barrier of the
// team, two words of a stretch, and a flag between each two neighbours.
const (
	luDock = iota
	luTeam
	luWarm
	luOver
	luNever
	luFlags
)

// luTeamProgram writes the programs of a team of threads.
type luTeamProgram struct {
	size     luClass
	threads  int
	pipeline int   // threads that have rows
	turns    int64 // of spinning before a sleep
}

// Build implements [Benchmark].
func (b *lu) Build(machine Shape) (*Scenario, error) {
	if machine.CPUs < 1 {
		return nil, fmt.Errorf("lu: a machine with %d CPUs runs nothing", machine.CPUs)
	}
	if b.threads == 0 {
		b.threads = machine.CPUs
	}
	if i := slices.IndexFunc(b.team.places, func(cpu int) bool { return cpu >= machine.CPUs }); i >= 0 {
		return nil, fmt.Errorf("lu: GOMP_CPU_AFFINITY names CPU %d: the machine has CPUs 0 to %d", b.team.places[i], machine.CPUs-1)
	}
	inner := int(b.size().points) - 2
	p := luTeamProgram{size: b.size(), threads: b.threads, pipeline: min(b.threads, inner), turns: b.team.turns(b.threads, machine.CPUs)}
	s := &Scenario{Recorders: 1, Marks: luMarks, Syncs: []SyncSpec{
		{Kind: TeamBarrier, Value: int32(p.threads)}, {Kind: TeamBarrier, Value: int32(p.threads)},
		{Kind: Word}, {Kind: Word}, {Kind: Word},
	}}
	for range p.pipeline {
		s.Syncs = append(s.Syncs, SyncSpec{Kind: Flag})
	}
	for i := range p.threads {
		program := p.worker(i)
		if i == 0 {
			program = b.master(&p)
		}
		s.Programs = append(s.Programs, program)
		allowed := b.team.allowed(i, machine.CPUs)
		task := TaskSpec{Name: "lu." + b.class, Program: int32(i), Footprint: luFootprint, StartCPU: AnyCPU, Allowed: allowed}
		task.Forked, task.Background = i > 0, i > 0 // the end of the process ends its threads
		s.Tasks = append(s.Tasks, task)
	}
	if b.stretch.Given() {
		s.Programs = append(s.Programs, luClock(b.stretch))
		s.Tasks = append(s.Tasks, TaskSpec{Name: "stretch", Program: int32(len(s.Programs) - 1), Forked: true, Background: true, StartCPU: AnyCPU})
	}
	return s, nil
}

// luClock says when the warm-up is over, and when the measuring is.
func luClock(s Stretch) Program {
	return Program{
		{Op: OpSleep, N: s.Warmup}, {Op: OpStore, Chan: luWarm, N: luPhaseWarm},
		{Op: OpSleep, N: s.Measure}, {Op: OpStore, Chan: luOver, N: luPhaseWarm}, {Op: OpExit},
	}
}

// master is the program of thread 0: an iteration that nobody measures, which
// touches all memory, then those that count.
func (b *lu) master(p *luTeamProgram) Program {
	var program Program
	for i := 1; i < p.threads; i++ {
		program = append(program, Instr{Op: OpFork, N: int64(i)})
	}
	program = appendProgram(program, p.iteration(0))
	if b.stretch.Given() {
		program = append(program, Instr{Op: OpFork, N: int64(p.threads)})
	}
	program = append(program, Instr{Op: OpMark, N: luStartMark})
	top := int32(len(program))
	program = appendProgram(program, p.iteration(0))
	program = append(program, Instr{Op: OpTally}, Instr{Op: OpMark, N: luToMark})
	if b.stretch.Given() {
		return append(program, luStretchEnd(len(program), top, p.size.iterations)...)
	}
	return append(program, Instr{Op: OpLoop, Target: top, N: int64(p.size.iterations)}, Instr{Op: OpExit})
}

// luStretchEnd is what thread 0 does after an iteration when a stretch is
// measured: the first iteration that ends after the warm-up begins it, the first
// that ends after the measuring, and is not the same, is the last.
func luStretchEnd(at int, top int32, iterations int) Program {
	begin, next, end := int32(at+3), int32(at+6), int32(at+7)
	return Program{
		{Op: OpBranch, Chan: luWarm, N: luPhaseWarm, Target: begin},
		{Op: OpBranch, Chan: luOver, N: luPhaseWarm, Target: end},
		{Op: OpBranch, Chan: luNever, N: 0, Target: next},
		{Op: OpForget}, {Op: OpMark, N: luFromMark}, {Op: OpStore, Chan: luWarm, N: 0},
		{Op: OpLoop, Target: top, N: int64(iterations)},
		{Op: OpExit},
	}
}

// worker is the program of another thread.
func (p *luTeamProgram) worker(thread int) Program {
	program := p.iteration(thread)
	return append(program, Instr{Op: OpLoop, Target: 0, N: Forever})
}

// iteration is the two regions, each from the dock to its join.
func (p *luTeamProgram) iteration(thread int) Program {
	barrier := Instr{Op: OpTeamMeet, Chan: luTeam, N: p.turns}
	dock := Instr{Op: OpTeamMeet, Chan: luDock, N: p.turns}
	share := luShares
	var program Program
	add := func(part ...Instr) { program = appendProgram(program, part) }
	add(dock)
	add(p.planes(thread, share.scale)...)
	add(barrier)
	add(p.sweep(thread)...)
	add(barrier)
	add(p.sweep(thread)...)
	add(barrier)
	add(p.planes(thread, share.update)...)
	add(barrier)

	add(dock)
	add(p.planes(thread, share.flux)...)
	add(barrier)
	add(p.planes(thread, share.x)...)
	add(p.planes(thread, share.y)...)
	add(barrier)
	add(p.planes(thread, share.z)...)
	add(barrier)
	return program
}

// inner is how many points of a dimension are no boundary.
func (p *luTeamProgram) inner() int64 { return p.size.points - 2 }

// staticTurns is how many of n turns of a loop a thread has with OpenMP's static
// schedule: all alike, and the first ones one more.
func staticTurns(n int64, thread, threads int) int64 {
	turns := n / int64(threads)
	if int64(thread) < n%int64(threads) {
		turns++
	}
	return turns
}

// planes is the thread's part of a loop over all planes.
func (p *luTeamProgram) planes(thread int, share int64) Program {
	planes := staticTurns(p.inner(), thread, p.threads)
	if planes == 0 {
		return nil
	}
	plane := charge(PriceLURHS, p.inner()*p.inner()*share, luJitter)
	return Program{plane, {Op: OpLoop, Target: 0, N: planes, Slot: 1}}
}

// sweep is the thread's part of one sweep. The upper one goes the other way, and
// its rows are dealt out from the other end: the pipeline is the same.
func (p *luTeamProgram) sweep(thread int) Program {
	if thread >= p.pipeline {
		return nil
	}
	points := staticTurns(p.inner(), thread, p.threads) * p.inner() * 1000
	program := Program{charge(PriceLUJacobian, points, luJitter)}
	if thread > 0 {
		program = append(program, Instr{Op: OpHandOver, Chan: int32(luFlags + thread - 1), N: 1, M: 0})
	}
	program = append(program, charge(PriceLUSolve, points, luJitter))
	if thread < p.pipeline-1 {
		program = append(program, Instr{Op: OpHandOver, Chan: int32(luFlags + thread), N: 0, M: 1})
	}
	return append(program, Instr{Op: OpLoop, Target: 0, N: p.inner(), Slot: 1})
}
