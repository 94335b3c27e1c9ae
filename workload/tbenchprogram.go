package workload

// The marks of a run. The recorders have the latencies of each kind of
// operation, and behind them the bytes of file data.
const (
	tbStartMark = 0
	tbFromMark  = 1
	tbToMark    = 2
	tbMarks     = 3
	tbBytes     = len(tbenchKinds)
)

// Words: the end, the clients that are ready, and the barrier that they wait at.
const (
	tbStop    = 0
	tbReady   = 1
	tbBarrier = 2
)

// Channels: to the server's listener, then for each client the two directions of
// its connection.
const tbListen = 0

func tbThere(client int) int32 { return int32(1 + 2*client) }
func tbBack(client int) int32  { return int32(2 + 2*client) }

// Tasks: the main process, the clock, the listener, and of each client itself
// and its server.
const (
	tbClock    = 1
	tbListener = 2
)

func tbClient(client int) int64 { return int64(3 + 2*client) }
func tbServer(client int) int64 { return int64(4 + 2*client) }

const (
	tbConnectBytes = 40
	tbHelloBytes   = 8
	tbClientStart  = 2_000_000   // ns: the load file is read
	tbPoll         = 100_000_000 // ns between two looks at who is ready
	tbFootprint    = stackFootprint + 2*pageSize
)

// Build implements [Benchmark].
func (b *tbench) Build(Shape) (*Scenario, error) {
	s := &Scenario{
		Recorders: tbBytes + 1, Marks: tbMarks, Syncs: []SyncSpec{{Kind: Word}, {Kind: Word}, {Kind: Word}},
		Channels: []ChannelSpec{{Kind: UnixStream}},
	}
	if b.shortened() {
		s.Work = &Work{Start: tbStartMark, Lasts: int64(b.warmup()+b.duration) * 1e9}
		s.Stretch = &b.stretch
	}
	add := func(name string, p Program, background bool) {
		s.Programs = append(s.Programs, p)
		id := len(s.Tasks)
		s.Tasks = append(s.Tasks, TaskSpec{
			Name: name, Program: int32(id), Forked: id != 0 && id != tbListener, Process: int32(id),
			Footprint: tbFootprint, StartCPU: AnyCPU, Background: background,
		})
	}
	load := tbenchLoad()
	add("tbench", b.mainProgram(), false)
	add("tbench", b.clockProgram(), false)
	add("tbench_srv", b.listenerProgram(), true)
	for client := range b.clients {
		s.Channels = append(s.Channels, ChannelSpec{Kind: TCPStream, NoDelay: true, Reverse: 1}, ChannelSpec{Kind: TCPStream, NoDelay: true, Reverse: -1})
		add("tbench", tbClientProgram(client, load), false)
		add("tbench_srv", tbServerProgram(client, load), true)
	}
	return s, nil
}

// mainProgram starts the clients, looks every 100 ms whether all are ready, and
// lets them go.
func (b *tbench) mainProgram() Program {
	var p Program
	for client := range b.clients {
		p = append(p, Instr{Op: OpFork, N: tbClient(client)})
	}
	look := int32(len(p))
	return append(p,
		Instr{Op: OpBranch, Chan: tbReady, N: int64(b.clients), Target: look + 3},
		Instr{Op: OpSleep, N: tbPoll},
		Instr{Op: OpLoop, Target: look, N: Forever},
		Instr{Op: OpStore, Chan: tbBarrier, N: 1},
		Instr{Op: OpFutexWake, Chan: tbBarrier, N: everybody},
		Instr{Op: OpFork, N: tbClock},
		Instr{Op: OpWaitChildren},
		Instr{Op: OpExit})
}

// clockProgram stands for the main process's alarms: it ends the warm-up and the
// run.
func (b *tbench) clockProgram() Program {
	warmup, measured := int64(b.warmup())*1e9, int64(b.duration)*1e9
	if b.shortened() {
		warmup, measured = b.stretch.Warmup, b.stretch.Measure
	}
	p := Program{{Op: OpMark, N: tbStartMark}, {Op: OpSleep, N: warmup}}
	for r := range tbBytes + 1 {
		p = append(p, Instr{Op: OpForget, Chan: int32(r)})
	}
	return append(p,
		Instr{Op: OpMark, N: tbFromMark},
		Instr{Op: OpSleep, N: measured},
		Instr{Op: OpMark, N: tbToMark},
		Instr{Op: OpStore, Chan: tbStop, N: 1},
		Instr{Op: OpExit})
}

// listenerProgram forks a server process for each connection.
func (b *tbench) listenerProgram() Program {
	var p Program
	for client := range b.clients {
		p = append(p, Instr{Op: OpRead, Chan: tbListen, N: tbConnectBytes}, Instr{Op: OpFork, N: tbServer(client)})
	}
	again := int32(len(p))
	return append(p, Instr{Op: OpRead, Chan: tbListen, N: tbConnectBytes}, Instr{Op: OpLoop, Target: again, N: Forever})
}

// tbClientProgram sends a request, reads how long the reply is, and throws it
// away without copying it; over and over until the end. What ends after that is
// not counted.
func tbClientProgram(client int, load []tbenchOp) Program {
	there, back := tbThere(client), tbBack(client)
	p := Program{
		{Op: OpRun, N: tbClientStart},
		{Op: OpWrite, Chan: tbListen, N: tbConnectBytes},
		{Op: OpWrite, Chan: there, N: tbHelloBytes},
		{Op: OpRead, Chan: back, N: tbHelloBytes},
		{Op: OpAdd, Chan: tbReady, N: 1},
		{Op: OpFutexWait, Chan: tbBarrier, N: 0},
	}
	top := int32(len(p))
	var ends []int
	for _, op := range load {
		p = append(p,
			charge(PriceTbenchClient, 1000, 0),
			Instr{Op: OpStamp},
			Instr{Op: OpWrite, Chan: there, N: op.sent},
			Instr{Op: OpRead, Chan: back, N: tbenchHeader},
			Instr{Op: OpRead, Chan: back, N: op.reply - tbenchHeader, Slot: NoCopy})
		ends = append(ends, len(p))
		p = append(p, Instr{Op: OpBranch, Chan: tbStop, N: 1}, Instr{Op: OpSample, Chan: int32(op.kind)})
		if op.payload > 0 {
			p = append(p, Instr{Op: OpTally, Chan: int32(tbBytes), N: op.payload})
		}
	}
	p = append(p, Instr{Op: OpLoop, Target: top, N: Forever}, Instr{Op: OpExit})
	for _, at := range ends {
		p[at].Target = int32(len(p) - 1)
	}
	return p
}

// tbServerProgram answers what it is asked.
func tbServerProgram(client int, load []tbenchOp) Program {
	there, back := tbThere(client), tbBack(client)
	p := Program{{Op: OpRead, Chan: there, N: tbHelloBytes}, {Op: OpWrite, Chan: back, N: tbHelloBytes}}
	top := int32(len(p))
	for _, op := range load {
		p = append(p,
			Instr{Op: OpRead, Chan: there, N: tbenchHeader},
			Instr{Op: OpRead, Chan: there, N: op.sent - tbenchHeader},
			charge(PriceTbenchServer, 1000, 0),
			Instr{Op: OpWrite, Chan: back, N: op.reply})
	}
	return append(p, Instr{Op: OpLoop, Target: top, N: Forever})
}
