package workload

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The oracles are pipes and sockets as ipc-and-benchmarks.md 1 and 2 tells
// them, with every byte stored and every queue a slice; slow, and sharing
// nothing with the fast ones but their results.

type oracle interface {
	write(task TaskID, n int, resumed bool) oracleOutcome
	read(task TaskID, n int, resumed bool) oracleOutcome
	poll(task TaskID) oracleOutcome
	stored() int
}

type oracleOutcome struct {
	moved   int
	blocked bool
	wakes   []TaskID
}

// oracleQueue is a wait queue in the kernel's order.
type oracleQueue []oracleWaiter

type oracleWaiter struct {
	task      TaskID
	exclusive bool
	poller    bool
	asleep    bool
}

func (q *oracleQueue) add(w oracleWaiter) {
	w.asleep = true
	for i := range *q {
		if (*q)[i].task == w.task {
			(*q)[i].asleep = true
			return
		}
	}
	if w.exclusive {
		*q = append(*q, w)
	} else {
		*q = slices.Insert(*q, 0, w)
	}
}

func (q *oracleQueue) remove(task TaskID) {
	*q = slices.DeleteFunc(*q, func(w oracleWaiter) bool { return w.task == task })
}

// wakeUp wakes everything up to and including the first exclusive waiter.
func (q *oracleQueue) wakeUp(data bool) (woken []TaskID) {
	var kept oracleQueue
	stopped := false
	for _, w := range *q {
		ignores := w.poller && (!data || !w.asleep)
		if stopped || ignores {
			kept = append(kept, w)
			continue
		}
		woken = append(woken, w.task)
		if w.poller {
			w.asleep = false
			kept = append(kept, w)
		}
		stopped = w.exclusive
	}
	*q = kept
	return woken
}

type oraclePage struct {
	written int    // bytes ever put in: the place where the next would go
	unread  []byte // of those, what nobody has read
}

type oraclePipe struct {
	rules   PipeRules
	pages   []oraclePage
	readers oracleQueue // of a shared pipe: everybody
	writers oracleQueue
	polled  bool
	// Of tasks in the middle of an operation of a shared pipe.
	writerWaits map[TaskID]bool
	gotSome     map[TaskID]bool
	freedSlot   map[TaskID]bool
}

func newOraclePipe(rules PipeRules) *oraclePipe {
	return &oraclePipe{rules: rules, writerWaits: map[TaskID]bool{}, gotSome: map[TaskID]bool{}, freedSlot: map[TaskID]bool{}}
}

func (p *oraclePipe) stored() (bytes int) {
	for _, page := range p.pages {
		bytes += len(page.unread)
	}
	return bytes
}

func (p *oraclePipe) write(task TaskID, n int, resumed bool) (out oracleOutcome) {
	delete(p.writerWaits, task)
	wasEmpty := len(p.pages) == 0
	left := n
	if odd := n % 4096; !resumed && odd > 0 && !wasEmpty {
		last := &p.pages[len(p.pages)-1]
		if last.written+odd <= 4096 {
			last.unread = append(last.unread, make([]byte, odd)...)
			last.written += odd
			left -= odd
		}
	}
	for left > 0 && len(p.pages) < 16 {
		size := min(left, 4096)
		p.pages = append(p.pages, oraclePage{written: size, unread: make([]byte, size)})
		left -= size
	}
	out.moved, out.blocked = n-left, left > 0
	if p.rules == PipeShared {
		if out.moved > 0 {
			out.wakes = p.readers.wakeUp(true)
		}
		if out.blocked {
			p.writerWaits[task] = true
			p.readers.add(oracleWaiter{task: task})
		}
		return out
	}
	if wasEmpty || p.polled && !out.blocked {
		out.wakes = p.readers.wakeUp(true)
	}
	if out.blocked {
		p.writers.add(oracleWaiter{task: task, exclusive: true})
	} else if resumed && len(p.pages) < 16 {
		out.wakes = append(out.wakes, p.writers.wakeUp(false)...)
	}
	return out
}

func (p *oraclePipe) read(task TaskID, n int, resumed bool) (out oracleOutcome) {
	if !resumed {
		delete(p.gotSome, task)
		delete(p.freedSlot, task)
	}
	wasFull, freed := len(p.pages) == 16, false
	for out.moved < n && len(p.pages) > 0 {
		page := &p.pages[0]
		page.unread = page.unread[1:]
		out.moved++
		if len(page.unread) == 0 {
			p.pages = p.pages[1:]
			freed = true
		}
	}
	if p.rules == PipeShared {
		p.gotSome[task] = p.gotSome[task] || out.moved > 0
		p.freedSlot[task] = p.freedSlot[task] || freed
		if p.freedSlot[task] {
			out.wakes = p.readers.wakeUp(false)
		}
		out.blocked = out.moved < n && (!p.gotSome[task] || len(p.writerWaits) > 0)
		if out.blocked {
			p.readers.add(oracleWaiter{task: task})
		}
		return out
	}
	if out.moved == 0 {
		p.readers.add(oracleWaiter{task: task, exclusive: true})
		out.blocked = true
		return out
	}
	if wasFull && (freed || p.rules == PipeExclusive) {
		out.wakes = p.writers.wakeUp(false)
	}
	if resumed && len(p.pages) > 0 {
		out.wakes = append(out.wakes, p.readers.wakeUp(true)...)
	}
	return out
}

func (p *oraclePipe) poll(task TaskID) (out oracleOutcome) {
	p.polled = true
	if len(p.pages) > 0 {
		p.readers.remove(task)
		return out
	}
	p.readers.add(oracleWaiter{task: task, poller: true})
	return oracleOutcome{blocked: true}
}

type oracleMessage struct {
	unread   []byte
	trueSize int
}

type oracleSocket struct {
	rules            Rules
	queue            []oracleMessage
	readers, writers oracleQueue
}

func (s *oracleSocket) stored() (bytes int) {
	for _, m := range s.queue {
		bytes += len(m.unread)
	}
	return bytes
}

func (s *oracleSocket) account() (bytes int) {
	for _, m := range s.queue {
		bytes += m.trueSize
	}
	return bytes
}

// trueSizeOf counts up to the block that holds data and fragment table.
func (s *oracleSocket) trueSizeOf(n int) int {
	table, fragments := int(s.rules.SharedInfo), 0
	if s.rules.PagedSend {
		for rest := n - (4096 - table); rest > 0; rest -= 4096 {
			fragments++
		}
	}
	linear := max(0, n-fragments*4096)
	for linear%64 != 0 {
		linear++
	}
	block := 256
	for block < linear+table {
		block *= 2
	}
	return block + 256 + fragments*4096
}

func (s *oracleSocket) write(task TaskID, n int, _ bool) (out oracleOutcome) {
	longest := 16384 - int(s.rules.SharedInfo)
	if s.rules.PagedSend {
		longest = 4096 - int(s.rules.SharedInfo) + 32768
	}
	for out.moved < n {
		if s.account() >= int(s.rules.SndBuf) {
			s.writers.add(oracleWaiter{task: task})
			out.blocked = true
			return out
		}
		piece := min(n-out.moved, longest)
		s.queue = append(s.queue, oracleMessage{make([]byte, piece), s.trueSizeOf(piece)})
		out.moved += piece
		out.wakes = append(out.wakes, s.readers.wakeUp(true)...)
	}
	return out
}

func (s *oracleSocket) read(task TaskID, n int, _ bool) (out oracleOutcome) {
	for out.moved < n && len(s.queue) > 0 {
		m := &s.queue[0]
		m.unread = m.unread[1:]
		out.moved++
		if len(m.unread) > 0 {
			continue
		}
		s.queue = s.queue[1:]
		if 4*(s.account()+2) <= int(s.rules.SndBuf) {
			out.wakes = append(out.wakes, s.writers.wakeUp(false)...)
		}
	}
	if out.moved == 0 {
		s.readers.add(oracleWaiter{task: task})
		out.blocked = true
	}
	return out
}

func (s *oracleSocket) poll(task TaskID) (out oracleOutcome) {
	if len(s.queue) > 0 {
		s.readers.remove(task)
		return out
	}
	s.readers.add(oracleWaiter{task: task, poller: true})
	return oracleOutcome{blocked: true}
}

// TestChannelsEqualTheirOracles lets tasks read, write and poll at random, by
// every set of rules.
func TestChannelsEqualTheirOracles(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.17", "v7.2"} {
		rules, err := RulesFor(kernel)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(kernel+"/pipe", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { compareAtRandom(t, kernel, Pipe, newOraclePipe(rules.Pipe)) })
		})
		t.Run(kernel+"/unix", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { compareAtRandom(t, kernel, UnixStream, &oracleSocket{rules: rules}) })
		})
	}
}

// verb is what a task is in the middle of.
type verb int

const (
	writes verb = iota
	reads
	polls
)

var lengths = rapid.SampledFrom([]int{1, 4, 96, 100, 100, 100, 1808, 2288, 2289, 4095, 4096, 4097, 10000, 40000, 70000})

func compareAtRandom(t *rapid.T, kernel string, kind ChannelKind, slow oracle) {
	const tasks = 7
	fast := newStage(t, kernel, kind)
	var doing [tasks]verb
	var length [tasks]int
	total := 0
	// More writing than reading at times, so that channels fill up.
	bias := rapid.SliceOfN(rapid.SampledFrom([]verb{writes, reads, polls}), 1, 4).Draw(t, "bias")
	for range rapid.IntRange(1, 120).Draw(t, "steps") {
		task := TaskID(rapid.IntRange(0, tasks-1).Draw(t, "task"))
		if fast.asleep[task] {
			continue
		}
		rest, resumed := fast.rest[task]
		if resumed {
			length[task] = int(rest)
		} else {
			doing[task] = rapid.SampledFrom(append(bias, writes, reads)).Draw(t, "verb")
			length[task] = lengths.Draw(t, "length")
		}
		got, want := fast.step(doing[task], task, length[task]), stepOracle(slow, doing[task], task, length[task], resumed)
		if !slices.Equal(got.wakes, want.wakes) || got.moved != want.moved || got.blocked != want.blocked {
			t.Fatalf("task %d %v %d (resumed %t): got %+v, want %+v", task, doing[task], length[task], resumed, got, want)
		}
		switch doing[task] {
		case writes:
			total += got.moved
		case reads:
			total -= got.moved
		}
		if total != slow.stored() || fast.stored() != total {
			t.Fatalf("%d bytes are under way, the oracle holds %d, the channel %d", total, slow.stored(), fast.stored())
		}
	}
}

func (s *stage) step(v verb, task TaskID, n int) oracleOutcome {
	var out *Outcome
	switch v {
	case writes:
		out = s.write(task, int32(n))
	case reads:
		out = s.read(task, int32(n))
	default:
		out = s.poll(task)
	}
	got := oracleOutcome{moved: int(out.Moved), blocked: out.Blocked}
	for _, w := range out.Wakes {
		got.wakes = append(got.wakes, w.Task)
	}
	return got
}

func stepOracle(o oracle, v verb, task TaskID, n int, resumed bool) oracleOutcome {
	switch v {
	case writes:
		return o.write(task, n, resumed)
	case reads:
		return o.read(task, n, resumed)
	}
	return o.poll(task)
}

func (v verb) String() string { return []string{"writes", "reads", "polls"}[v] }

// stored counts the bytes in the fast channel.
func (s *stage) stored() (bytes int) {
	c := s.channel
	for i := range c.pipe.used {
		bytes += int(c.pipe.slots[(c.pipe.first+i)%pipeSlots].length)
	}
	for i := range c.unix.count {
		run := c.unix.runs[(c.unix.first+i)&int32(len(c.unix.runs)-1)]
		bytes += int(run.length * run.messages)
	}
	return bytes - int(c.unix.consumed)
}

func (out oracleOutcome) String() string {
	return fmt.Sprintf("{moved %d, blocked %t, wakes %v}", out.moved, out.blocked, out.wakes)
}
