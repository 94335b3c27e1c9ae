package sim

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// stretchOf runs a benchmark for some virtual time after its start.
func stretchOf(t *testing.T, spec, kernel string, ns int64, argv ...string) *Result {
	t.Helper()
	bench, err := workload.Parse(argv)
	check(t, err)
	bench.(workload.Scalable).SetStretch(workload.Stretch{Measure: ns})
	mach, err := machine.Parse(spec)
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	return run(t, simulate(t, spec, kernel, sc))
}

// N1 and N2 of ipc-and-benchmarks.md 3.5: two wakeups a transaction, besides
// those of the start and the end.
func TestRequestsAndRepliesWakeTwice(t *testing.T) {
	for _, kernel := range []string{"v3.8", "v4.14", "v5.17"} {
		for _, test := range []string{"TCP_RR", "UDP_RR"} {
			r := stretchOf(t, "1n4c1t", kernel, 1e7, "netperf", "-t", test)
			done := r.Observation.Recorders[0].Tally
			if extra := r.Wakeups - 2*done; done < 100 || extra < 0 || extra > 110 { // 100 until the clock starts
				t.Errorf("%s, %s: %d wakeups in %d transactions, want 2 each and a few", kernel, test, r.Wakeups, done)
			}
			if r.Dropped != 0 {
				t.Errorf("%s, %s: %d datagrams dropped", kernel, test, r.Dropped)
			}
		}
	}
}

// W8: an operation of tbench wakes twice; 3 % more for those of 64 KiB, whose
// second segment may find its reader asleep again.
func TestTbenchWakesTwiceAnOperation(t *testing.T) {
	r := stretchOf(t, "1n4c1t", "v5.17", 2e7, "tbench", "1")
	ops := int64(0)
	for i := range r.Observation.Recorders {
		ops += r.Observation.Recorders[i].Samples.Count
	}
	if each := 100 * r.Wakeups / ops; ops < 500 || each < 200 || each > 215 {
		t.Errorf("%d wakeups in %d operations, want 2 each and a few", r.Wakeups, ops)
	}
}

// A thousand datagrams for a receiver that sleeps on a timer: 278 of 64 bytes
// fit (N4), the sender never waits.
func TestDroppedDatagramsAreCounted(t *testing.T) {
	task := func(program, cpu int) workload.TaskSpec {
		return workload.TaskSpec{Name: "udp", Program: int32(program), Process: int32(program), StartCPU: cpu}
	}
	sc := &workload.Scenario{
		Channels: []workload.ChannelSpec{{Kind: workload.UDPSocket}},
		Programs: []workload.Program{
			mustParse(t, "again:\nwrite c0 64\nloop again 1000\nexit"),
			mustParse(t, "sleep 50ms\nagain:\nreadsome c0 64\nloop again 278\nexit"),
		},
		Tasks: []workload.TaskSpec{task(0, 0), task(1, 1)},
	}
	if r := run(t, simulate(t, "1n2c1t", "v5.17", sc)); r.Dropped != 722 {
		t.Errorf("%d dropped, want 722", r.Dropped)
	}
}

// With Nagle's rule a stream of small messages goes in large segments, and one
// wakeup brings many of them.
func TestSmallMessagesOfAStreamWakeSeldom(t *testing.T) {
	r := stretchOf(t, "1n4c1t", "v5.17", 2e7, "netperf", "--", "-m", "64", "-M", "64")
	if sent := r.Observation.Recorders[0].Tally; sent < 20*r.Wakeups {
		t.Errorf("%d messages, %d wakeups: want 20 messages each and more", sent, r.Wakeups)
	}
}

// loopbackEnd is when a sender of 100 messages of 4096 bytes, with nobody who
// reads, is done, with some costs changed.
func loopbackEnd(t *testing.T, kind workload.ChannelKind, write string, edit func(*Costs)) int64 {
	t.Helper()
	sc := &workload.Scenario{
		Channels: []workload.ChannelSpec{{Kind: kind}},
		Programs: []workload.Program{mustParse(t, "again:\n"+write+"\nloop again 100\nexit")},
		Tasks:    []workload.TaskSpec{{Name: "sender", StartCPU: 0}},
	}
	m := simulateWith(t, "1n2c1t", "v5.17", sc, func(cfg *Config) {
		costs := *cfg.Costs
		costs.Syscall, costs.TCPSend, costs.UDPSend, costs.LoopbackCopy, costs.SendfilePage = 0, 0, 0, 0, 0
		costs.TCPTransmit, costs.TCPReceive, costs.TCPAck = 0, 0, 0
		edit(&costs)
		cfg.Costs = &costs
	})
	return run(t, m).End
}

// Each price is paid as often as what it is for happens. Of 100 writes of a
// stream that is not acknowledged the first is a segment, and the next 16 fill
// another one, up to the window of 64 KiB: one segment, as the second one of
// 65483 bytes would go beyond it.
func TestLoopbackPrices(t *testing.T) {
	for _, c := range []struct {
		what  string
		kind  workload.ChannelKind
		write string
		edit  func(*Costs)
		want  int64
	}{
		{"calls", workload.TCPStream, "write c0 4096", func(c *Costs) { c.TCPSend = 10_000 }, 1_000_000},
		{"datagrams", workload.UDPSocket, "write c0 4096", func(c *Costs) { c.UDPSend = 10_000 }, 1_000_000},
		{"copies", workload.UDPSocket, "write c0 4096", func(c *Costs) { c.LoopbackCopy = 10_000 }, 4_000_000},
		{"no copies", workload.TCPStream, "write c0 4096 nocopy", func(c *Costs) { c.LoopbackCopy = 10_000 }, 0},
		{"pages", workload.TCPStream, "write c0 4096 nocopy", func(c *Costs) { c.SendfilePage = 10_000 }, 1_000_000},
		{"segments", workload.TCPStream, "write c0 4096", func(c *Costs) { c.TCPTransmit = 1_000_000 }, 1_000_000},
		{"segments received", workload.TCPStream, "write c0 4096", func(c *Costs) { c.TCPReceive = 1_000_000 }, 1_000_000},
	} {
		free := loopbackEnd(t, c.kind, c.write, func(*Costs) {})
		if got := loopbackEnd(t, c.kind, c.write, c.edit) - free; got < c.want-2000 || got > c.want+20_000 {
			t.Errorf("%s: %d ns more, want %d", c.what, got, c.want)
		}
	}
}

// A KiB costs its copy, and, of what waits beyond the caches, its way through
// memory: three quarters of 400 ns with 1200 bytes queued and caches of 300. A
// receiver that throws it away copies nothing.
func TestCopiesThroughMemory(t *testing.T) {
	costs := &Costs{LoopbackCopy: 100, CopyMemory: 400}
	for _, c := range []struct {
		queued int64
		slot   uint8
		want   int64
	}{{1200, 0, 400}, {300, 0, 100}, {1200, workload.NoCopy, 0}} {
		m := &Sim{costs: costs, spill: spill{capacity: 300, queued: c.queued}}
		if got := m.copyCost(&workload.Instr{Op: workload.OpRead, Slot: c.slot}, 1024); got != c.want {
			t.Errorf("%d bytes queued, slot %d: %d ns, want %d", c.queued, c.slot, got, c.want)
		}
	}
}

// A reader that has read everything pays for its ACK. Ten segments a millisecond
// apart hide all of them but the last, which puts off its exit.
func TestAcksHaveAPrice(t *testing.T) {
	end := func(price int64) int64 {
		sc := &workload.Scenario{
			Channels: []workload.ChannelSpec{{Kind: workload.TCPStream}},
			Programs: []workload.Program{
				mustParse(t, "again:\nwrite c0 100\nsleep 1ms\nloop again 9\nwrite c0 100\nexit"),
				mustParse(t, "again:\nreadsome c0 1000\nloop again 10\nexit"),
			},
			Tasks: []workload.TaskSpec{{Name: "writer"}, {Name: "reader", Program: 1, Process: 1, StartCPU: 1}},
		}
		return run(t, simulateWith(t, "1n2c1t", "v5.17", sc, func(cfg *Config) {
			costs := *cfg.Costs
			costs.TCPAck, costs.ExitProcess = price, 0
			cfg.Costs = &costs
		})).End
	}
	if more := end(500_000) - end(0); more < 400_000 || more > 500_000 {
		t.Errorf("an ACK of 500 us puts the end off by %d ns", more)
	}
}
