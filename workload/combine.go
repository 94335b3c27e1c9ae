package workload

// SetCgroup puts every task that names no cgroup into path.
func (s *Scenario) SetCgroup(path string) {
	for i := range s.Tasks {
		if s.Tasks[i].Cgroup == "" {
			s.Tasks[i].Cgroup = path
		}
	}
}

// AddBackground adds another scenario's programs, tasks and channels to s.
// Its tasks do not keep the run alive, and its marks are recorded after those
// of s.
func (s *Scenario) AddBackground(other *Scenario) {
	programs, tasks := int32(len(s.Programs)), int64(len(s.Tasks))
	channels, marks := int32(len(s.Channels)), int64(s.Marks)
	for _, p := range other.Programs {
		moved := append(Program(nil), p...)
		for i := range moved {
			switch in := &moved[i]; in.Op {
			case OpWrite, OpRead, OpPoll:
				in.Chan += channels
			case OpFork:
				in.N += tasks
			case OpMark:
				in.N += marks
			}
		}
		s.Programs = append(s.Programs, moved)
	}
	process := s.nextProcess()
	for _, t := range other.Tasks {
		t.Program += programs
		t.Background = true
		if t.Process != kernelProcess {
			t.Process += process
		}
		s.Tasks = append(s.Tasks, t)
	}
	s.Channels = append(s.Channels, other.Channels...)
	s.Marks += other.Marks
}

func (s *Scenario) nextProcess() int32 {
	next := int32(0)
	for i := range s.Tasks {
		next = max(next, s.Tasks[i].Process+1)
	}
	return next
}
