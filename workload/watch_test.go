package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// watched lists the channels that a task watches.
func watched(cs *Channels, t TaskID) []int32 {
	var list []int32
	for i := range int32(cs.Len()) {
		if cs.Watched(i, t) {
			list = append(list, i)
		}
	}
	return list
}

func sockets(t *testing.T, n int) *Channels {
	t.Helper()
	rules, err := RulesFor("v3.8")
	if err != nil {
		t.Fatal(err)
	}
	sc := &Scenario{Tasks: make([]TaskSpec, 8)}
	for range n {
		sc.Channels = append(sc.Channels, ChannelSpec{Kind: UnixStream})
	}
	return NewChannels(sc, rules)
}

// W10 of ipc-and-benchmarks.md 8: of four backends the third replies and wakes
// pgbench; the second and the fourth reply before it runs and wake nobody; it
// finds those three, in the order of their numbers.
func TestW10SelectIsWokenOnce(t *testing.T) {
	cs := sockets(t, 4)
	var out Outcome
	for i := range int32(4) {
		cs.Watch(i, 7, true)
	}
	cs.Select(0, 4, 7, &out)
	if !out.Blocked {
		t.Fatal("a select over empty sockets did not sleep")
	}
	for _, write := range []struct {
		channel int32
		wakes   []Wake
	}{{2, []Wake{{Task: 7, Sync: true}}}, {1, nil}, {3, nil}} {
		cs.At(write.channel).Write(TaskID(write.channel), 80, false, &out)
		if diff := cmp.Diff(write.wakes, append([]Wake(nil), out.Wakes...)); diff != "" {
			t.Errorf("reply on socket %d wakes %s", write.channel, diff)
		}
	}
	cs.Select(0, 4, 7, &out)
	if out.Blocked {
		t.Fatal("three sockets are readable and select sleeps")
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, watched(cs, 7)); diff != "" {
		t.Errorf("watched after select: %s", diff)
	}
}

// A channel that is not in the set neither wakes nor shows up, and a select
// whose socket was emptied by someone else meanwhile sleeps on.
func TestSelectLooksAtItsSetOnly(t *testing.T) {
	cs := sockets(t, 3)
	var out Outcome
	cs.Watch(0, 7, true)
	cs.Watch(1, 7, true)
	cs.Watch(1, 7, false)
	cs.Select(0, 3, 7, &out)
	cs.At(1).Write(1, 80, false, &out)
	if len(out.Wakes) > 0 {
		t.Error("a socket outside the set woke the select")
	}
	if n := cs.CountWatched(0, 3, 7); n != 1 {
		t.Errorf("%d sockets are watched, want 1", n)
	}
	cs.At(0).Write(1, 80, false, &out)
	cs.At(0).Read(2, 80, false, &out)
	if cs.Select(0, 3, 7, &out); !out.Blocked {
		t.Error("select returned though its socket is empty again")
	}
	if cs.At(0).Write(1, 80, false, &out); len(out.Wakes) != 1 {
		t.Error("the select that slept on was not woken")
	}
}

func TestWatchersAreValidated(t *testing.T) {
	program := Program{{Op: OpWatch, N: 1}, {Op: OpExit}}
	s := &Scenario{Programs: []Program{program}, Tasks: make([]TaskSpec, 2), Channels: []ChannelSpec{{Kind: UnixStream}}}
	if err := s.Validate(1); err == nil || !strings.Contains(err.Error(), "channel 0 is watched by task 0 and by task 1") {
		t.Errorf("two watchers: %v", err)
	}
	s = &Scenario{Programs: []Program{program}, Tasks: make([]TaskSpec, 1), Channels: []ChannelSpec{{Kind: Pipe}}}
	if err := s.Validate(1); err == nil || !strings.Contains(err.Error(), "a pipe: only sockets can be watched") {
		t.Errorf("a watched pipe: %v", err)
	}
}

func TestServerProgramText(t *testing.T) {
	text := "\twatch c3 1\n\tselect c3 4\n\tunlesswatched c3 L5\n\ttryread c3 80 L5\n\ttally r0\n" +
		"L5:\n\tcountto s0 10 L9\n\tcharge pg_page_read 1973 10\n\tlookup 25 33554432\n\tspinlocked s7 60ns 7\nL9:\n\texit\n"
	p, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, p.String()); diff != "" {
		t.Error(diff)
	}
	bounds := anyBounds
	bounds.Syncs = append(append([]SyncSpec(nil), bounds.Syncs...), SyncSpec{Kind: SpinLock})
	if err := p.Validate(bounds); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"charge nothing 1000 0": `there is no price "nothing": there are [pg_plan`,
		"charge pg_plan 1000":   `want "charge PRICE THOUSANDTHS PERCENT"`,
		"lookup 4":              `want "lookup LINES BYTES"`,
		"tryread c1 80":         `want "tryread cCHANNEL BYTES LABEL"`,
		"a: tryread c1 80 a":    `label "a" is set above`,
		"unlesswatched c1 gone": `label "gone" is not set below`,
	} {
		if _, err := ParseProgram(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
