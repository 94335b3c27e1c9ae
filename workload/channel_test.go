package workload

import "testing"

func TestResetForgetsEverything(t *testing.T) {
	for _, kind := range []ChannelKind{Pipe, UnixStream} {
		s := newStage(t, "v5.17", kind)
		s.mustSleep(s.poll(20))
		first := s.fillWith(writer, message)
		s.channel.set.Reset()
		again := newStage(t, "v5.17", kind)
		again.channel = s.channel
		again.mustSleep(again.read(reader, message))
		again.mustMove(again.write(writer, message), message)
		again.mustWake(reader) // not task 20
		again.mustMove(again.read(reader, message), message)
		if got := again.fillWith(writer, message); got != first {
			t.Errorf("kind %d: %d messages fit after a reset, %d before", kind, got, first)
		}
		if got := s.channel.pipe.polled; got {
			t.Error("a reset keeps the polled flag")
		}
	}
}

func TestChannelsOfAScenario(t *testing.T) {
	rules, err := RulesFor("v6.1")
	if err != nil {
		t.Fatal(err)
	}
	cs := NewChannels(&Scenario{
		Tasks:    make([]TaskSpec, 2),
		Channels: []ChannelSpec{{Kind: Pipe}, {Kind: UnixStream}, {Kind: Pipe}},
	}, rules)
	if cs.Len() != 3 {
		t.Fatalf("%d channels, want 3", cs.Len())
	}
	var out Outcome
	cs.At(1).Write(0, 100, false, &out)
	if cs.At(0).Readable() || !cs.At(1).Readable() || cs.At(2).Readable() {
		t.Error("a write to channel 1 must make channel 1 readable and no other")
	}
}

// steadyState runs a sender and a receiver through sleep and wake, the way one
// pair of hackbench does.
func steadyState(c *Channel, out *Outcome) {
	c.Read(1, 100, false, out)
	c.Write(0, 100, false, out)
	c.Write(0, 100, false, out)
	c.Read(1, 100, true, out)
	c.Read(1, 100, false, out)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, kernel := range pipeKernels {
		for _, kind := range []ChannelKind{Pipe, UnixStream} {
			c := newStage(t, kernel, kind).channel
			var out Outcome
			steadyState(c, &out)
			if got := testing.AllocsPerRun(100, func() { steadyState(c, &out) }); got != 0 {
				t.Errorf("%s, kind %d: %v allocations a round, want 0", kernel, kind, got)
			}
		}
	}
}

// BenchmarkChannel measures one channel call: of the five in a round, two
// write, three read, one sleeps and one wakes.
func BenchmarkChannel(b *testing.B) {
	for name, of := range map[string]struct {
		kernel string
		kind   ChannelKind
	}{
		"pipe-v4.14": {"v4.14", Pipe}, "pipe-v5.17": {"v5.17", Pipe}, "unix-v5.17": {"v5.17", UnixStream},
	} {
		b.Run(name, func(b *testing.B) {
			c := newStage(b, of.kernel, of.kind).channel
			var out Outcome
			b.ReportAllocs()
			for b.Loop() {
				steadyState(c, &out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(5*b.N), "ns/call")
		})
	}
}
