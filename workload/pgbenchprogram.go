package workload

// Bytes of the messages: the query with the number of an account, the reply
// with its balance (row description, data row, command complete, ready), and the
// same with a prepared statement. What is sent while connecting is short, too.
const (
	pgQueryBytes    = 62
	pgReplyBytes    = 80
	pgBindBytes     = 58
	pgBoundBytes    = 85
	pgConnectBytes  = 40
	pgGreetingBytes = 300
)

// What a transaction writes, in lines: that has to follow a task to another CPU.
// What it only reads (241 KiB of a backend, 33 KiB of pgbench) is the same for
// all of them and stays in the caches of every core that has run one lately.
// Counted in PostgreSQL 15 with valgrind's lackey over tens of transactions, with
// 90,000 instructions of a backend and 6,800 of pgbench in each.
const (
	pgBackendFootprint = 624 * cacheLine
	pgClientFootprint  = 70 * cacheLine
)

const (
	pgBackendStart   = 1_500_000 // ns of work of a new backend before it is ready
	pgJitter         = 10        // percent that the work of two queries differs from the mean
	pgSnapshotHold   = 60        // ns that the spinlock of a light-weight lock is held
	pgSnapshotShared = 5         // entries of the process array in a line
)

// States of a client between two passes, each in a word.
const (
	pgWaiting  = 0 // for a reply
	pgDrawing  = 1 // its next command draws the account
	pgSending  = 2 // its next command is the query
	pgDone     = 3
	pgNeverSet = 0 // what the word that nobody sets holds
)

// pgObjects numbers the synchronisation objects.
type pgObjects struct{ stop, never, procArray, rootBuffer, clients, counts, left int32 }

func (b *pgbench) objects() ([]SyncSpec, pgObjects) {
	o := pgObjects{stop: 0, never: 1, procArray: 2, rootBuffer: 3, clients: 4}
	specs := []SyncSpec{{Kind: Word}, {Kind: Word}, {Kind: SpinLock}, {Kind: SpinLock}}
	add := func(n int, value int32) (first int32) {
		first = int32(len(specs))
		for range n {
			specs = append(specs, SyncSpec{Kind: Word, Value: value})
		}
		return first
	}
	o.clients = add(b.clients, pgDrawing)
	o.counts = add(b.clients, 0)
	o.left = add(b.threads, 0)
	return specs, o
}

// Channels: to the postmaster, then for each client the way there, then for
// each the way back.
const pgListen = 0

func (b *pgbench) there(client int) int32 { return int32(1 + client) }
func (b *pgbench) back(client int) int32  { return int32(1 + b.clients + client) }

// Tasks: the main thread, the alarm, the other threads, the postmaster, the
// backends.
func (b *pgbench) thread(i int) int64       { return int64(1 + i) } // i from 1
func (b *pgbench) postmaster() int64        { return int64(1 + b.threads) }
func (b *pgbench) backend(client int) int64 { return b.postmaster() + 1 + int64(client) }

const pgAlarm = 1

// Build implements [Benchmark].
func (b *pgbench) Build(Shape) (*Scenario, error) {
	specs, objects := b.objects()
	s := &Scenario{Recorders: 1, Marks: pgMarks, Syncs: specs}
	for range 1 + 2*b.clients {
		s.Channels = append(s.Channels, ChannelSpec{Kind: UnixStream})
	}
	add := func(p Program, t TaskSpec) {
		s.Programs = append(s.Programs, p)
		t.Program, t.StartCPU = int32(len(s.Programs)-1), AnyCPU
		s.Tasks = append(s.Tasks, t)
	}
	client := TaskSpec{Name: "pgbench", Footprint: pgClientFootprint}
	add(b.mainProgram(objects), client)
	client.Forked = true
	add(b.alarmProgram(objects), client)
	for i := 1; i < b.threads; i++ {
		add(append(b.threadProgram(i, objects), Instr{Op: OpExit}), client)
	}
	add(b.postmasterProgram(), TaskSpec{Name: "postgres", Footprint: pgClientFootprint, Process: 1, Background: true})
	backend := b.backendProgram
	for i := range b.clients {
		add(backend(i, objects), TaskSpec{Name: "postgres", Footprint: pgBackendFootprint, Process: int32(2 + i), Background: true, Forked: true})
	}
	return s, nil
}

// mainProgram starts the others and is the first client thread itself.
func (b *pgbench) mainProgram(o pgObjects) Program {
	p := Program{{Op: OpMark, N: pgStartMark}, {Op: OpFork, N: pgAlarm}}
	for i := 1; i < b.threads; i++ {
		p = append(p, Instr{Op: OpFork, N: b.thread(i)})
	}
	p = appendProgram(p, b.threadProgram(0, o))
	return append(p, Instr{Op: OpWaitChildren}, Instr{Op: OpMark, N: pgEndMark}, Instr{Op: OpExit})
}

// alarmProgram stands for the signal that ends a run of some time; when a
// stretch is measured it looks at the clock for it, too.
func (b *pgbench) alarmProgram(o pgObjects) Program {
	stop := Instr{Op: OpStore, Chan: o.stop, N: 1}
	switch {
	case b.duration == 0:
		return Program{{Op: OpExit}}
	case b.shortened():
		return Program{
			{Op: OpSleep, N: b.stretch.Warmup}, {Op: OpForget}, {Op: OpMark, N: pgFromMark},
			{Op: OpSleep, N: b.stretch.Measure}, {Op: OpMark, N: pgToMark}, stop, {Op: OpExit},
		}
	}
	return Program{{Op: OpSleep, N: int64(b.duration) * 1e9}, stop, {Op: OpExit}}
}

// postmasterProgram forks a backend for each connection.
func (b *pgbench) postmasterProgram() Program {
	var p Program
	for i := range b.clients {
		p = append(p, Instr{Op: OpRead, Chan: pgListen, N: pgConnectBytes}, Instr{Op: OpFork, N: b.backend(i)})
	}
	again := int32(len(p))
	return append(p, Instr{Op: OpRead, Chan: pgListen, N: pgConnectBytes}, Instr{Op: OpLoop, Target: again, N: Forever})
}

// backendProgram greets its client, then answers queries for ever.
func (b *pgbench) backendProgram(client int, o pgObjects) Program {
	db := pgDatabase{scale: int64(b.scale)}
	there, back := b.there(client), b.back(client)
	p := Program{{Op: OpRun, N: pgBackendStart}, {Op: OpWrite, Chan: back, N: pgGreetingBytes}}
	again := int32(len(p))
	query, reply := b.messageBytes()
	p = append(p, Instr{Op: OpRead, Chan: there, N: query})
	if b.mode == "simple" {
		p = append(p, charge(PricePlan, 1000, pgJitter))
	}
	snapshot := Instr{Op: OpSpinLocked, Chan: o.procArray, N: pgSnapshotHold, M: 1 + int64(b.clients)/pgSnapshotShared}
	p = append(p, snapshot,
		Instr{Op: OpSpinLocked, Chan: o.rootBuffer, N: pgSnapshotHold},
		charge(PriceExecute, 1000, pgJitter),
		Instr{Op: OpLookup, N: pgLeafAndRowLines, M: db.hotBytes()})
	if missing := db.pagesRead(); missing > 0 {
		p = append(p, charge(PricePageRead, missing, 0))
	}
	return append(p,
		Instr{Op: OpWrite, Chan: back, N: reply},
		Instr{Op: OpLoop, Target: again, N: Forever})
}

func (b *pgbench) messageBytes() (query, reply int64) {
	if b.mode == "prepared" {
		return pgBindBytes, pgBoundBytes
	}
	return pgQueryBytes, pgReplyBytes
}

func charge(p Price, thousandths, spread int64) Instr {
	return Instr{Op: OpCharge, Chan: int32(p), N: thousandths, M: spread}
}

// threadProgram is one client thread: it connects its clients and then passes
// over them again and again. In a pass it takes the reply of each client that
// has one and goes one command further in the script of each client that is not
// waiting. While a client's next command sets a variable a pass starts without
// sleeping in select, and the clients before that one are tried for a reply in
// vain.
func (b *pgbench) threadProgram(thread int, o pgObjects) Program {
	t := pgThread{bench: b, o: o, first: thread * b.clients / b.threads, count: b.clients / b.threads, left: o.left + int32(thread)}
	for i := range t.count {
		t.connect(t.first + i)
	}
	if thread == 0 {
		t.add(Instr{Op: OpMark, N: pgConnectedMark})
	}
	top := int32(len(t.p))
	t.add(charge(PriceScan, 1000*int64(t.count), 0))
	t.watchWaiting()
	for i := range t.count {
		t.pass(t.first + i)
	}
	t.add(Instr{Op: OpLoop, Target: top, N: Forever})
	t.resolve(t.over)
	return t.p
}

// pgThread is the program of a client thread while it is written.
type pgThread struct {
	bench        *pgbench
	o            pgObjects
	first, count int
	left         int32 // the word that counts the thread's clients that are done
	p            Program
	over         []int // jumps to its end
}

func (t *pgThread) add(in ...Instr) { t.p = append(t.p, in...) }

// jump adds an instruction whose target is not known yet.
func (t *pgThread) jump(in Instr) (at int) {
	t.add(in)
	return len(t.p) - 1
}

// goAhead jumps always.
func (t *pgThread) goAhead() (at int) {
	return t.jump(Instr{Op: OpBranch, Chan: t.o.never, N: pgNeverSet})
}

// resolve points jumps to the next instruction.
func (t *pgThread) resolve(jumps []int) {
	for _, at := range jumps {
		t.p[at].Target = int32(len(t.p))
	}
}

func (t *pgThread) connect(client int) {
	t.add(Instr{Op: OpWrite, Chan: pgListen, N: pgConnectBytes},
		Instr{Op: OpRead, Chan: t.bench.back(client), N: pgGreetingBytes})
}

// watchWaiting builds the set for select from the clients that wait, up to the
// first that does not; if there is such a one select is left out.
func (t *pgThread) watchWaiting() {
	var run []int
	for i := range t.count {
		t.add(Instr{Op: OpWatch, Chan: t.bench.back(t.first + i)})
	}
	for i := range t.count {
		client := t.first + i
		word := t.o.clients + int32(client)
		run = append(run,
			t.jump(Instr{Op: OpBranch, Chan: word, N: pgDrawing}),
			t.jump(Instr{Op: OpBranch, Chan: word, N: pgSending}))
		done := t.jump(Instr{Op: OpBranch, Chan: word, N: pgDone})
		t.add(Instr{Op: OpWatch, Chan: t.bench.back(client), N: 1})
		t.resolve([]int{done})
	}
	t.add(Instr{Op: OpSelect, Chan: t.bench.back(t.first), N: int64(t.count)})
	t.resolve(run)
}

// pass is what a pass does for one client.
func (t *pgThread) pass(client int) {
	b, word := t.bench, t.o.clients+int32(client)
	query, reply := b.messageBytes()
	drawing := t.jump(Instr{Op: OpBranch, Chan: word, N: pgDrawing})
	sending := t.jump(Instr{Op: OpBranch, Chan: word, N: pgSending})
	next := []int{
		t.jump(Instr{Op: OpUnlessWatched, Chan: b.back(client)}),
		t.jump(Instr{Op: OpTryRead, Chan: b.back(client), N: reply}),
	}
	t.add(charge(PriceReply, 1000, 0))
	ends := t.countTransaction(client)
	t.add(charge(PriceCommand, 1000, 0), Instr{Op: OpStore, Chan: word, N: pgDrawing})
	next = append(next, t.goAhead())
	t.resolve([]int{ends})
	t.add(Instr{Op: OpStore, Chan: word, N: pgDone})
	t.over = append(t.over, t.jump(Instr{Op: OpCountTo, Chan: t.left, N: int64(t.count)}))
	next = append(next, t.goAhead())
	t.resolve([]int{drawing})
	t.add(charge(PriceCommand, 1000, 0), Instr{Op: OpStore, Chan: word, N: pgSending})
	next = append(next, t.goAhead())
	t.resolve([]int{sending})
	t.add(charge(PriceQuery, 1000, 0),
		Instr{Op: OpWrite, Chan: b.there(client), N: query},
		Instr{Op: OpStore, Chan: word, N: pgWaiting})
	t.resolve(next)
}

// countTransaction counts one and returns the jump that the client's last one
// takes. Those that end after a measured stretch are not counted.
func (t *pgThread) countTransaction(client int) (ends int) {
	stopped := Instr{Op: OpBranch, Chan: t.o.stop, N: 1}
	tally := Instr{Op: OpTally}
	switch {
	case t.bench.duration == 0:
		t.add(tally)
		return t.jump(Instr{Op: OpCountTo, Chan: t.o.counts + int32(client), N: int64(t.bench.transactions)})
	case t.bench.shortened():
		ends = t.jump(stopped)
		t.add(tally)
		return ends
	}
	t.add(tally)
	return t.jump(stopped)
}

// appendProgram appends a program behind another, whose jumps it keeps.
func appendProgram(p, tail Program) Program {
	shift := int32(len(p))
	for _, in := range tail {
		if in.Op == OpLoop || in.Op.jumpsAhead() {
			in.Target += shift
		}
		p = append(p, in)
	}
	return p
}
