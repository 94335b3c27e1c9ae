package workload

import "testing"

// The worked sequences W1 to W5 of ipc-and-benchmarks.md 8, as far as they are
// the channels' business.

// W1: the sender is done with three messages before the receiver runs.
func TestW1MicroHackbenchOnTwoCPUs(t *testing.T) {
	s := newStage(t, "v5.17", Pipe)
	s.mustSleep(s.read(reader, message))
	for range 3 {
		s.mustMove(s.write(writer, message), message)
	}
	for range 3 {
		s.mustMove(s.read(reader, message), message)
	}
	s.mustWake(reader)
}

// W2: without preemption one wake, with immediate preemption three.
func TestW2MicroHackbenchOnOneCPU(t *testing.T) {
	build := func() *Scenario {
		return &Scenario{
			Programs: []Program{
				mustProgram(t, "a: read c0 100\nloop a 3\nexit"),
				mustProgram(t, "a: write c0 100\nloop a 3\nexit"),
			},
			Tasks:    []TaskSpec{{Name: "receiver", Program: 0, StartCPU: AnyCPU}, {Name: "sender", Program: 1, StartCPU: AnyCPU}},
			Channels: []ChannelSpec{{Kind: Pipe}},
		}
	}
	r := newRunner(t, "v5.17", build())
	r.run()
	r.mustFinish(0)
	if r.wakes != 1 {
		t.Errorf("%d wakes without preemption, want 1", r.wakes)
	}

	s := newStage(t, "v5.17", Pipe)
	for range 3 {
		s.mustSleep(s.read(reader, message))
		s.mustMove(s.write(writer, message), message)
		s.mustMove(s.read(reader, message), message)
	}
	s.mustWake(reader, reader, reader)
}

// oneSender runs a group of 20 receivers, asleep in their reads, and one
// sender, on one CPU without preemption, until the sender blocks.
func oneSender(t *testing.T, kernel string, kind ChannelKind) (cs *Channels, rounds int, wakes []int) {
	const receivers = 20
	rules, err := RulesFor(kernel)
	if err != nil {
		t.Fatal(err)
	}
	s := &Scenario{Tasks: make([]TaskSpec, receivers+1)}
	for range receivers {
		s.Channels = append(s.Channels, ChannelSpec{Kind: kind})
	}
	cs = NewChannels(s, rules)
	var out Outcome
	for i := range int32(receivers) {
		cs.At(i).Read(TaskID(i), message, false, &out)
	}
	const sender = receivers
	for {
		inRound := 0
		for i := range int32(receivers) {
			cs.At(i).Write(sender, message, false, &out)
			if out.Blocked {
				if i != 0 {
					t.Errorf("the sender blocks at receiver %d, want 0", i)
				}
				return cs, rounds, wakes
			}
			inRound += len(out.Wakes)
		}
		rounds++
		wakes = append(wakes, inRound)
	}
}

func TestW3W4OneSenderFillsItsGroup(t *testing.T) {
	for _, w := range []struct {
		kernel string
		kind   ChannelKind
		rounds int
	}{
		{"v5.17", Pipe, 640}, {"v4.14", Pipe, 640},
		{"v5.17", UnixStream, 278}, {"v3.2", UnixStream, 299},
	} {
		_, rounds, wakes := oneSender(t, w.kernel, w.kind)
		if rounds != w.rounds {
			t.Errorf("%s, kind %d: %d rounds before it blocks, want %d", w.kernel, w.kind, rounds, w.rounds)
		}
		for i, n := range wakes {
			if want := map[bool]int{true: 20, false: 0}[i == 0]; n != want {
				t.Fatalf("%s, kind %d: round %d wakes %d receivers, want %d", w.kernel, w.kind, i+1, n, want)
			}
		}
	}
}

func TestW5ReceiverDrainsAndWakesTheSender(t *testing.T) {
	cs, _, _ := oneSender(t, "v5.17", UnixStream)
	const receiver, sender = 0, 20
	var out Outcome
	resumed := true // it slept in its first read
	for i := 1; i <= 278; i++ {
		cs.At(receiver).Read(receiver, message, resumed, &out)
		resumed = false
		if out.Blocked || out.Moved != message {
			t.Fatalf("read %d: %+v", i, out)
		}
		wakesSender := len(out.Wakes) == 1 && out.Wakes[0] == Wake{Task: sender, Sync: true}
		if wakesSender != (i == 209) || len(out.Wakes) > 1 {
			t.Fatalf("read %d wakes %v", i, out.Wakes)
		}
	}
	if cs.At(receiver).Read(receiver, message, false, &out); !out.Blocked {
		t.Error("the receiver does not sleep at the end of its messages")
	}
}
