package workload

import "strings"

// SetCgroup puts every task that names no cgroup into path, and those that name
// one without a leading slash into that cgroup below path.
func (s *Scenario) SetCgroup(path string) {
	for i := range s.Tasks {
		switch t := &s.Tasks[i]; {
		case t.Cgroup == "":
			t.Cgroup = path
		case t.Cgroup[0] != '/':
			t.Cgroup = strings.TrimSuffix(path, "/") + "/" + t.Cgroup
		}
	}
}

// AddBackground adds another scenario's programs, tasks and channels to s.
// Its tasks do not keep the run alive, its work never runs out, and its marks
// and recorders are numbered after those of s.
func (s *Scenario) AddBackground(other *Scenario) {
	programs, tasks := int32(len(s.Programs)), int64(len(s.Tasks))
	channels, syncs, sources := int32(len(s.Channels)), int32(len(s.Syncs)), int32(len(s.Sources))
	marks, recorders := int64(s.Marks), int32(s.Recorders)
	timers, pools := int32(len(s.Timers)), int32(len(s.Pools))
	sets, groups := int32(len(s.CPUSets)), int32(len(s.Groups))
	for _, p := range other.endlessPrograms() {
		for i := range p {
			switch in := &p[i]; in.Op {
			case OpWrite, OpRead, OpReadSome, OpPoll, OpWatch, OpSelect, OpUnlessWatched, OpTryRead:
				in.Chan += channels
			case OpFork:
				in.N += tasks
			case OpMark:
				in.N += marks
			case OpSample, OpForget, OpSnapshot, OpTally:
				in.Chan += recorders
			case OpReceive, OpAnswer:
				in.Chan += sources
			case OpPush:
				in.Chan += syncs
				in.N += int64(syncs)
			case OpDue, OpSleepUntil, OpLate:
				in.Chan += timers
			case OpForkNext:
				in.Chan += pools
			case OpAffinity:
				in.Chan += sets
			case OpGroup:
				in.Chan += groups
			default:
				if _, known := in.Op.operand(); known {
					in.Chan += syncs
				}
			}
		}
		s.Programs = append(s.Programs, p)
	}
	for _, spec := range other.Syncs {
		spec.Mutex += syncs
		s.Syncs = append(s.Syncs, spec)
	}
	s.addPeriodic(&other.Periodic, TaskID(tasks))
	process := s.nextProcess()
	for _, t := range other.Tasks {
		t.Program += programs
		t.Background = true
		if t.Process != kernelProcess {
			t.Process += process
		}
		s.Tasks = append(s.Tasks, t)
	}
	s.Sources = append(s.Sources, other.Sources...)
	s.Limits = append(s.Limits, other.Limits...)
	s.Channels = append(s.Channels, other.Channels...)
	s.Marks += other.Marks
	s.Recorders += other.Recorders
}

// EndsByItself reports whether the scenario would be over some time if it ran
// in the background: it has neither work that can go on nor tasks that only a
// time limit stops.
func (s *Scenario) EndsByItself() bool { return s.Work == nil && s.TimeLimit == 0 }

// endlessPrograms copies the programs of s and lets its work go on for ever.
func (s *Scenario) endlessPrograms() []Program {
	programs := make([]Program, len(s.Programs))
	for i, p := range s.Programs {
		programs[i] = append(Program(nil), p...)
	}
	if s.Work != nil {
		for _, l := range s.Work.Loops {
			programs[l.Program][l.At].N = Forever
		}
	}
	return programs
}

func (s *Scenario) nextProcess() int32 {
	next := int32(0)
	for i := range s.Tasks {
		next = max(next, s.Tasks[i].Process+1)
	}
	return next
}
