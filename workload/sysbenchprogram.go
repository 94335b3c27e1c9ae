package workload

// sysbenchStatement is one kind of statement: what the server is charged for it,
// and what travels.
type sysbenchStatement struct {
	times        int
	price        Price
	thousandths  int64 // of the price
	query, reply int64 // bytes
	lines        int64 // of the tables that it reads
}

// Bytes of the messages. A prepared statement is executed with a number and its
// parameters; a row is a number, two numbers more and two strings of 120 and 60
// characters, of which ranges return one of 120 (ipc-and-benchmarks.md 6.7).
const (
	sysbenchQuery      = 30
	sysbenchText       = 10 // BEGIN and COMMIT are no prepared statements
	sysbenchDone       = 20
	sysbenchPointReply = 200
	sysbenchRowReply   = 130
	sysbenchSumReply   = 90
	sysbenchConnect    = 200
	sysbenchGreeting   = 100
	sysbenchRowBytes   = 220 // of memory that a row takes with its index
	sysbenchPointLines = 25  // as a SELECT of pgbench
	sysbenchRowLines   = 4
)

const (
	sysbenchJitter          = 10 // percent that the work on two statements differs from the mean
	sysbenchServerStart     = 1_000_000
	sysbenchTableHold       = 300 // ns [M]
	sysbenchClientFootprint = 8 << 10
	sysbenchServerFootprint = 40 << 10 // as a backend of pgbench writes
)

// sysbenchServer is what the two drivers talk to.
type sysbenchServer struct {
	name                         string
	processes                    bool // one for each connection, else threads of one
	lock                         SyncKind
	point, ranged, write, finish Price
}

func (b *sysbench) server() sysbenchServer {
	if b.driver == "pgsql" {
		return sysbenchServer{"postgres", true, SpinLock, PricePgSQLPoint, PricePgSQLRange, PricePgSQLWrite, PricePgSQLControl}
	}
	return sysbenchServer{"mysqld", false, Mutex, PriceMySQLPoint, PriceMySQLRange, PriceMySQLWrite, PriceMySQLControl}
}

// transaction lists the statements in the script's order.
func (b *sysbench) transaction() []sysbenchStatement {
	m, s := &b.mix, b.server()
	size := int64(m.rangeSize)
	rows := func(times int, reply int64) sysbenchStatement {
		return sysbenchStatement{times, s.ranged, 10 * size, sysbenchQuery, reply, sysbenchRowLines * size}
	}
	write := func(times int) sysbenchStatement {
		return sysbenchStatement{times, s.write, 1000, sysbenchQuery, sysbenchDone, sysbenchPointLines}
	}
	control := sysbenchStatement{1, s.finish, 1000, sysbenchText, sysbenchDone, 0}
	statements := []sysbenchStatement{
		{m.points, s.point, 1000, sysbenchQuery, sysbenchPointReply, sysbenchPointLines},
		rows(m.ranges, sysbenchRowReply*size), rows(m.sums, sysbenchSumReply),
		rows(m.orders, sysbenchRowReply*size), rows(m.distincts, sysbenchRowReply*size),
		write(m.indexUpdates), write(m.otherUpdates), write(2 * m.deleteInserts),
	}
	if b.transactional() {
		statements = append(append([]sysbenchStatement{control}, statements...), control)
	}
	return statements
}

// The objects: the word that ends the run, the events that were taken, a word
// that nobody sets, and the barrier at which all threads start.
const (
	sysbenchStop = iota
	sysbenchTaken
	sysbenchNever
	sysbenchStartBarrier
	sysbenchServerLock // of MySQL: the table cache; of PostgreSQL: the process array
)

// Channels: to the listener, then for each thread the way there, then for each
// the way back.
const sysbenchListen = 0

func (b *sysbench) there(i int) int32 { return int32(1 + i) }
func (b *sysbench) back(i int) int32  { return int32(1 + b.threads + i) }

// Tasks: the main thread, the clock, the threads, the listener, who serves them.
const sysbenchClock = 1

func (b *sysbench) thread(i int) int64 { return int64(2 + i) }
func (b *sysbench) serves(i int) int64 { return int64(3 + b.threads + i) }

// Build implements [Benchmark].
func (b *sysbench) Build(Shape) (*Scenario, error) {
	s := &Scenario{Recorders: b.threads, Marks: sysbenchMarks, Syncs: []SyncSpec{
		{Kind: Word}, {Kind: Word}, {Kind: Word}, {Kind: Barrier, Value: int32(b.threads + 1)}, {Kind: b.server().lock},
	}}
	for range 1 + 2*b.threads {
		s.Channels = append(s.Channels, ChannelSpec{Kind: UnixStream})
	}
	add := func(p Program, t TaskSpec) {
		s.Programs = append(s.Programs, p)
		t.Program, t.StartCPU = int32(len(s.Programs)-1), AnyCPU
		s.Tasks = append(s.Tasks, t)
	}
	client := TaskSpec{Name: "sysbench", Footprint: sysbenchClientFootprint}
	add(b.mainProgram(), client)
	client.Forked = true
	add(b.clockProgram(), client)
	for i := range b.threads {
		add(b.threadProgram(i), client)
	}
	server := b.server()
	serves := TaskSpec{Name: server.name, Footprint: sysbenchServerFootprint, Process: 1, Background: true}
	add(b.listenerProgram(), serves)
	serves.Forked = true
	for i := range b.threads {
		if server.processes {
			serves.Process++
		}
		add(b.serverProgram(i), serves)
	}
	return s, nil
}

func (b *sysbench) mainProgram() Program {
	var p Program
	for i := range b.threads {
		p = append(p, Instr{Op: OpFork, N: b.thread(i)})
	}
	return append(p, Instr{Op: OpMeet, Chan: sysbenchStartBarrier}, Instr{Op: OpMark, N: sysbenchStartMark},
		Instr{Op: OpFork, N: sysbenchClock}, Instr{Op: OpWaitChildren}, Instr{Op: OpMark, N: sysbenchEndMark}, Instr{Op: OpExit})
}

// clockProgram ends the run when its time is over: the tool's threads look at the
// clock before each transaction.
func (b *sysbench) clockProgram() Program {
	stop := Instr{Op: OpStore, Chan: sysbenchStop, N: 1}
	switch {
	case b.duration == 0:
		return Program{{Op: OpExit}}
	case !b.shortened():
		return Program{{Op: OpSleep, N: int64(b.duration) * 1e9}, stop, {Op: OpExit}}
	}
	p := Program{{Op: OpSleep, N: b.stretch.Warmup}}
	for i := range b.threads {
		p = append(p, Instr{Op: OpForget, Chan: int32(i)})
	}
	return append(p, Instr{Op: OpMark, N: sysbenchFromMark}, Instr{Op: OpSleep, N: b.stretch.Measure},
		Instr{Op: OpMark, N: sysbenchToMark}, stop, Instr{Op: OpExit})
}

// listenerProgram starts a thread or process for each connection.
func (b *sysbench) listenerProgram() Program {
	var p Program
	for i := range b.threads {
		p = append(p, Instr{Op: OpRead, Chan: sysbenchListen, N: sysbenchConnect}, Instr{Op: OpFork, N: b.serves(i)})
	}
	again := int32(len(p))
	return append(p, Instr{Op: OpRead, Chan: sysbenchListen, N: sysbenchConnect}, Instr{Op: OpLoop, Target: again, N: Forever})
}

// threadProgram connects, waits for all others, and makes transactions until the
// run is over. Whoever takes the last event tells the others.
func (b *sysbench) threadProgram(i int) Program {
	p := Program{
		{Op: OpWrite, Chan: sysbenchListen, N: sysbenchConnect}, {Op: OpRead, Chan: b.back(i), N: sysbenchGreeting},
		{Op: OpMeet, Chan: sysbenchStartBarrier},
	}
	top := int32(len(p))
	over := []int{len(p)}
	p = append(p, Instr{Op: OpBranch, Chan: sysbenchStop, N: 1})
	if b.events > 0 {
		last, others := int32(len(p)+2), int32(len(p)+3)
		p = append(p, Instr{Op: OpCountTo, Chan: sysbenchTaken, N: int64(b.events), Target: last},
			Instr{Op: OpBranch, Chan: sysbenchNever, Target: others},
			Instr{Op: OpStore, Chan: sysbenchStop, N: 1})
	}
	p = append(p, Instr{Op: OpStamp})
	for _, s := range b.transaction() {
		p = s.repeat(p,
			charge(PriceSysbench, 1000, sysbenchJitter),
			Instr{Op: OpWrite, Chan: b.there(i), N: s.query},
			Instr{Op: OpPoll, Chan: b.back(i)},
			Instr{Op: OpRead, Chan: b.back(i), N: s.reply})
	}
	if b.shortened() { // what ends after the measured time does not count
		over = append(over, len(p))
		p = append(p, Instr{Op: OpBranch, Chan: sysbenchStop, N: 1})
	}
	p = append(p, Instr{Op: OpSample, Chan: int32(i)}, Instr{Op: OpLoop, Target: top, N: Forever})
	for _, at := range over {
		p[at].Target = int32(len(p))
	}
	return append(p, Instr{Op: OpExit})
}

// serverProgram serves thread i, which sends the same statements each time. It
// looks whether there is one without sleeping, then polls, then reads, as both
// servers do.
func (b *sysbench) serverProgram(i int) Program {
	tables := int64(b.tables) * int64(b.rows) * sysbenchRowBytes
	p := Program{{Op: OpRun, N: sysbenchServerStart}, {Op: OpWrite, Chan: b.back(i), N: sysbenchGreeting}}
	again := int32(len(p))
	for _, s := range b.transaction() {
		body := Program{
			{Op: OpSyscalls, N: 1}, {Op: OpPoll, Chan: b.there(i)}, {Op: OpRead, Chan: b.there(i), N: s.query},
		}
		if s.lines > 0 {
			body = append(body, b.openTable()...)
		}
		body = append(body, charge(s.price, s.thousandths, sysbenchJitter))
		if s.lines > 0 {
			body = append(body, Instr{Op: OpLookup, N: s.lines, M: tables})
		}
		p = s.repeat(p, append(body, Instr{Op: OpWrite, Chan: b.back(i), N: s.reply})...)
	}
	return append(p, Instr{Op: OpLoop, Target: again, N: Forever})
}

// openTable is the short section that every statement on a table goes through
// alone: in MySQL a mutex that its waiters sleep for at once, in PostgreSQL a
// spinlock at the snapshot, as with pgbench.
func (b *sysbench) openTable() Program {
	if b.server().lock == SpinLock {
		return Program{{Op: OpSpinLocked, Chan: sysbenchServerLock, N: pgSnapshotHold, M: 1 + int64(b.threads)/pgSnapshotShared}}
	}
	return Program{
		{Op: OpLock, Chan: sysbenchServerLock}, {Op: OpRun, N: sysbenchTableHold}, {Op: OpUnlock, Chan: sysbenchServerLock},
	}
}

// repeat appends what belongs to one statement, as often as there are such.
func (s *sysbenchStatement) repeat(p Program, body ...Instr) Program {
	if s.times == 0 {
		return p
	}
	start := int32(len(p))
	p = append(p, body...)
	if s.times > 1 {
		p = append(p, Instr{Op: OpLoop, Target: start, N: int64(s.times), Slot: 1})
	}
	return p
}
