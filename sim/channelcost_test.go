package sim

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// With 300 bytes of caches and 1200 queued three quarters are elsewhere; what
// fits costs nothing, and neither does a machine whose caches are not known.
func TestSpillIsTheShareBeyondTheCaches(t *testing.T) {
	for _, c := range []struct{ capacity, queued, want int64 }{
		{300, 1200, 75}, {300, 300, 0}, {300, 0, 0}, {0, 1200, 0},
	} {
		s := spill{c.capacity, c.queued}
		if got := s.of(100); got != c.want {
			t.Errorf("%d bytes queued, caches of %d: %d of 100, want %d", c.queued, c.capacity, got, c.want)
		}
	}
}

// xeon-8260 has two last-level caches of 35.75 MiB, 36608 KiB each; a spec
// string names none.
func TestSpillKnowsTheLastLevelCaches(t *testing.T) {
	for spec, want := range map[string]int64{"xeon-8260": 2 * 36608 * 1024, "2n4c2t": 0} {
		mach, err := machine.Resolve(spec)
		check(t, err)
		if got := newSpill(mach).capacity; got != want {
			t.Errorf("%s: caches of %d bytes, want %d", spec, got, want)
		}
	}
}

// twoSenders write n messages each into one channel, on CPUs of their own.
func twoSenders(kind workload.ChannelKind, n int64) *workload.Scenario {
	program := workload.Program{
		{Op: workload.OpWrite, Chan: 0, N: 100},
		{Op: workload.OpLoop, Target: 0, N: n},
		{Op: workload.OpExit},
	}
	task := workload.TaskSpec{Name: "sender", Footprint: 4096, StartCPU: 0}
	other := task
	other.StartCPU, other.Process = 1, 1
	return &workload.Scenario{Programs: []workload.Program{program}, Channels: []workload.ChannelSpec{{Kind: kind}},
		Tasks: []workload.TaskSpec{task, other}}
}

func endWith(t *testing.T, kind workload.ChannelKind, edit func(*Costs)) int64 {
	t.Helper()
	m := simulateWith(t, "1n2c1t", "v5.17", twoSenders(kind, 100), func(cfg *Config) {
		costs := *cfg.Costs
		costs.LineLLC, costs.LineRemote = 0, 0
		edit(&costs)
		cfg.Costs = &costs
	})
	return run(t, m).End
}

// Two senders of 100 messages, a call takes 10 µs: side by side 1 ms; one after
// the other, when the lock covers the whole call, 2 ms.
func TestASocketsLockCoversAPartOfTheCall(t *testing.T) {
	short := endWith(t, workload.UnixStream, func(c *Costs) { c.UnixSend, c.UnixHold = 10_000, 100 })
	whole := endWith(t, workload.UnixStream, func(c *Costs) { c.UnixSend, c.UnixHold = 10_000, 1_000_000 })
	pipe := endWith(t, workload.Pipe, func(c *Costs) { c.PipeWrite = 10_000 })
	if short < 1_000_000 || short > 1_200_000 {
		t.Errorf("a short lock: %d ns, want about 1 ms", short)
	}
	if whole < 2_000_000 || whole > 2_200_000 {
		t.Errorf("a lock for the whole call: %d ns, want about 2 ms", whole)
	}
	if pipe < 2_000_000 || pipe > 2_200_000 {
		t.Errorf("a pipe's mutex: %d ns, want about 2 ms", pipe)
	}
}

// Frozen parameters, unknown names and impossible values are refused; a copy
// leaves the original alone.
func TestCostsWith(t *testing.T) {
	costs, err := LoadCosts("default")
	check(t, err)
	changed, err := costs.With("wakeup", 777)
	check(t, err)
	if have, _ := changed.Parameter("wakeup"); have != 777 || costs.Wakeup == 777 {
		t.Errorf("wakeup is %d in the copy, %d in the original", have, costs.Wakeup)
	}
	for _, bad := range []struct {
		name  string
		value int64
	}{{"mask_update", 0}, {"wakeupp", 1}, {"wakeup", -1}, {"smt_speed", 1025}} {
		if _, err := costs.With(bad.name, bad.value); err == nil {
			t.Errorf("%s = %d was accepted", bad.name, bad.value)
		}
	}
}
