package workload

// The marks of a run, and the recorders of a pair: what its client has sent or
// got answered, and what its server has received.
const (
	netStartMark = 0
	netFromMark  = 1
	netToMark    = 2
	netMarks     = 3
)

func netSent(pair int) int     { return 2 * pair }
func netReceived(pair int) int { return 2*pair + 1 }

// netStop is the word that ends a test.
const netStop = 0

// Channels: to netserver, then for each pair its control connection and the two
// directions of its data.
const netListen = 0

func netControl(pair int) int32 { return int32(1 + 3*pair) }
func netThere(pair int) int32   { return int32(2 + 3*pair) }
func netBack(pair int) int32    { return int32(3 + 3*pair) }

// Tasks: the shell, the clock, netserver, and of each pair client and server.
const (
	netClock  = 1
	netDaemon = 2
)

func netClient(pair int) int64 { return int64(3 + 2*pair) }
func netServer(pair int) int64 { return int64(4 + 2*pair) }

const (
	netForkedStart = 300_000 // ns of work of a netperf or netserver process before it is ready
	netControlByte = 256     // of a message on the control connection
)

// Build implements [Benchmark].
func (b *netperf) Build(Shape) (*Scenario, error) {
	pairs := b.count()
	s := &Scenario{Recorders: 2 * pairs, Marks: netMarks, Syncs: []SyncSpec{{Kind: Word}}, Channels: []ChannelSpec{{Kind: UnixStream}}}
	if b.shortened() {
		s.Work = &Work{Start: netStartMark, Lasts: int64(b.duration) * 1e9}
		s.Stretch = &b.stretch
	}
	footprint := int32(stackFootprint + 2*max(b.send, b.request, b.response))
	add := func(name string, p Program, background bool) {
		s.Programs = append(s.Programs, p)
		id := len(s.Tasks)
		s.Tasks = append(s.Tasks, TaskSpec{
			Name: name, Program: int32(id), Forked: id != 0 && id != netDaemon, Process: int32(id),
			Footprint: footprint, StartCPU: AnyCPU, Background: background,
		})
	}
	add("sh", b.shellProgram(), false)
	add("sh", b.clockProgram(), false)
	add("netserver", b.daemonProgram(), true)
	for pair := range pairs {
		data := ChannelSpec{Kind: b.test.kind, NoDelay: b.noDelay}
		back := data
		if b.test.kind == TCPStream {
			data.Reverse, back.Reverse = 1, -1
		}
		s.Channels = append(s.Channels, ChannelSpec{Kind: UnixStream}, data, back)
		add("netperf", b.clientProgram(pair), false)
		add("netserver", b.serverProgram(pair), true)
	}
	return s, nil
}

// shellProgram starts the clients, then the clock.
func (b *netperf) shellProgram() Program {
	var p Program
	for pair := range b.count() {
		p = append(p, Instr{Op: OpFork, N: netClient(pair)})
	}
	return append(p, Instr{Op: OpFork, N: netClock}, Instr{Op: OpWaitChildren}, Instr{Op: OpExit})
}

// clockProgram stands for the alarms of all clients: it begins the test, or what
// is measured of it, and ends it.
func (b *netperf) clockProgram() Program {
	p := Program{{Op: OpMark, N: netStartMark}}
	measured := int64(b.duration) * 1e9
	if b.shortened() {
		p = append(p, Instr{Op: OpSleep, N: b.stretch.Warmup})
		measured = b.stretch.Measure
	}
	for r := range 2 * b.count() {
		p = append(p, Instr{Op: OpForget, Chan: int32(r)})
	}
	return append(p,
		Instr{Op: OpMark, N: netFromMark},
		Instr{Op: OpSleep, N: measured},
		Instr{Op: OpMark, N: netToMark},
		Instr{Op: OpStore, Chan: netStop, N: 1},
		Instr{Op: OpExit})
}

// daemonProgram forks a server for each connection.
func (b *netperf) daemonProgram() Program {
	var p Program
	for pair := range b.count() {
		p = append(p, Instr{Op: OpRead, Chan: netListen, N: netControlByte}, Instr{Op: OpFork, N: netServer(pair)})
	}
	again := int32(len(p))
	return append(p, Instr{Op: OpRead, Chan: netListen, N: netControlByte}, Instr{Op: OpLoop, Target: again, N: Forever})
}

// clientProgram connects and sends until the test is over. What is answered, or
// sent, after that does not count.
func (b *netperf) clientProgram(pair int) Program {
	p := Program{
		{Op: OpRun, N: netForkedStart},
		{Op: OpWrite, Chan: netListen, N: netControlByte},
		{Op: OpRead, Chan: netControl(pair), N: netControlByte},
	}
	again := int32(len(p))
	send := Instr{Op: OpWrite, Chan: netThere(pair), N: int64(b.send)}
	if b.test.fromFile {
		send.Slot = NoCopy
	}
	if b.test.replies {
		send.N = int64(b.request)
		p = append(p, send, Instr{Op: OpRead, Chan: netBack(pair), N: int64(b.response)})
	} else {
		p = append(p, send)
	}
	end := int32(len(p)) + 3
	return append(p,
		Instr{Op: OpBranch, Chan: netStop, N: 1, Target: end},
		Instr{Op: OpTally, Chan: int32(netSent(pair))},
		Instr{Op: OpLoop, Target: again, N: Forever},
		Instr{Op: OpExit})
}

// serverProgram receives, and answers where the test is about that.
func (b *netperf) serverProgram(pair int) Program {
	p := Program{
		{Op: OpRun, N: netForkedStart},
		{Op: OpWrite, Chan: netControl(pair), N: netControlByte},
	}
	again := int32(len(p))
	if b.test.replies {
		return append(p,
			Instr{Op: OpRead, Chan: netThere(pair), N: int64(b.request)},
			Instr{Op: OpWrite, Chan: netBack(pair), N: int64(b.response)},
			Instr{Op: OpLoop, Target: again, N: Forever})
	}
	return append(p,
		Instr{Op: OpReadSome, Chan: netThere(pair), N: int64(b.recv)},
		Instr{Op: OpBranch, Chan: netStop, N: 1, Target: again + 3},
		Instr{Op: OpTally, Chan: int32(netReceived(pair))},
		Instr{Op: OpLoop, Target: again, N: Forever})
}
