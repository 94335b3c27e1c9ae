package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var anyBounds = Bounds{Tasks: 8, Channels: 8, Marks: 8}

func TestParseProgramReadsEveryInstruction(t *testing.T) {
	text := `
	# a child of hackbench, and then some
		write c0 1
		poll c1
	again:	run 10us..40us
	inner:
		read c2 100
		loop inner 20 slot 1   # twenty messages
		loop again 3
		sleep 1.5ms
		run 350ns
		sleep 0s..100ms
		fork t5
		waitchildren
		mark 0
		exit`
	want := Program{
		{Op: OpWrite, Chan: 0, N: 1},
		{Op: OpPoll, Chan: 1},
		{Op: OpRunRandom, N: 10_000, M: 40_000},
		{Op: OpRead, Chan: 2, N: 100},
		{Op: OpLoop, Target: 3, N: 20, Slot: 1},
		{Op: OpLoop, Target: 2, N: 3},
		{Op: OpSleep, N: 1_500_000},
		{Op: OpRun, N: 350},
		{Op: OpSleepRandom, N: 0, M: 100_000_000},
		{Op: OpFork, N: 5},
		{Op: OpWaitChildren},
		{Op: OpMark, N: 0},
		{Op: OpExit},
	}
	got, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if err := got.Validate(anyBounds); err != nil {
		t.Fatal(err)
	}
}

func TestProgramTextIsReadable(t *testing.T) {
	p := Program{
		{Op: OpPoll, Chan: 1},
		{Op: OpWrite, Chan: 2, N: 100},
		{Op: OpLoop, Target: 1, N: 10, Slot: 2},
		{Op: OpRun, N: 12_000},
		{Op: OpLoop, Target: 0, N: Forever},
	}
	want := "L0:\n\tpoll c1\nL1:\n\twrite c2 100\n\tloop L1 10 slot 2\n\trun 12µs\n\tloop L0 forever\n"
	if got := p.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProgramTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram(t)
		got, err := ParseProgram(p.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("%s\n%s", diff, p)
		}
	})
}

// genProgram draws a program of any instructions whose loops jump back.
func genProgram(t *rapid.T) Program {
	var p Program
	for i := range rapid.IntRange(1, 12).Draw(t, "length") {
		in := Instr{Op: Op(rapid.IntRange(int(OpRun), int(OpExit)).Draw(t, "op"))}
		switch in.Op {
		case OpRun, OpSleep:
			in.N = rapid.Int64Min(0).Draw(t, "n")
		case OpRunRandom, OpSleepRandom:
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpWrite, OpRead:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), rapid.Int64Range(0, maxTransfer).Draw(t, "n")
		case OpPoll:
			in.Chan = rapid.Int32Min(0).Draw(t, "chan")
		case OpFork, OpMark:
			in.N = int64(rapid.Int32Min(0).Draw(t, "n"))
		case OpLoop:
			in.N = rapid.Int64Min(0).Draw(t, "n")
			in.Target = int32(rapid.IntRange(0, i).Draw(t, "target"))
			in.Slot = uint8(rapid.IntRange(0, MaxLoops-1).Draw(t, "slot"))
		}
		p = append(p, in)
	}
	return p
}

func TestParseProgramNamesTheLineAndTheMend(t *testing.T) {
	for text, want := range map[string]string{
		"exit\nwrit c0 1":             "line 2: writ: unknown operation: there are run, sleep, write, read, poll, loop, fork, waitchildren, mark, exit, spin, sleepticks, stamp, sample, forget, snapshot, store, branch, futexwait, futexwake, post, await, lock, unlock, condwait, signal, broadcast, meet, push, take, posttaken",
		"write c0":                    `line 1: write: want "write cCHANNEL BYTES"`,
		"write 0 1":                   `line 1: write: "0": want cN with N a whole number from 0 to 2147483647`,
		"run ten":                     `line 1: run: time "ten": want a length such as 350ns, 10us, 1.5ms, 2s`,
		"run -1ms":                    `line 1: run: time "-1ms": want a length such as 350ns, 10us, 1.5ms, 2s`,
		"\nloop top 3":                `line 2: loop: label "top" is not set above`,
		"a:\na:\nexit":                `line 2: label "a" is already set above`,
		"a: run 1us\nloop a 2 by 3":   `line 2: loop: want "loop LABEL COUNT|forever [slot NUMBER]"`,
		"a: run 1us\nloop a 2 slot 4": `line 2: loop: "4": want N with N a whole number from 0 to 3`,
		": exit":                      `line 1: label "": want one word before the colon`,
		"exit now":                    `line 1: exit: want "exit"`,
	} {
		if _, err := ParseProgram(text); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestValidateProgram(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "program is empty",
		"run 1us":                              "must end in an exit or an endless loop",
		"a: run 1us\nloop a 5":                 "must end in an exit or an endless loop",
		"write c8 1\nexit":                     "instruction 0 (write): channel 8 does not exist: declared are 0 to 7",
		"read c1 0\nexit":                      "instruction 0 (read): length 0 bytes is not in [1,",
		"poll c9\nexit":                        "channel 9 does not exist",
		"fork t8\nexit":                        "task 8 does not exist",
		"mark 8\nexit":                         "mark 8 does not exist",
		"run 5us..4us\nexit":                   "0 <= least <= most",
		"a: run 0s\nloop a forever":            "instruction 1 (loop): the loop body takes no time",
		"a: mark 1\nloop a 3\nexit":            "the loop body takes no time",
		"a: run 1us\nloop a 0\nexit":           "the count must be at least 1",
		"a: fork t1\nrun 1us\nloop a 2\nexit":  "task 1 would be forked 2 times",
		"a: run 1us\nloop a 2\nloop a 2\nexit": "instruction 2 (loop): loop counter 0 is already used by a loop inside this one",
	} {
		p, err := ParseProgram(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := p.Validate(anyBounds); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	bad := Program{{Op: OpLoop, Target: 0, N: 2}, {Op: OpExit}}
	if err := bad.Validate(anyBounds); err == nil || !strings.Contains(err.Error(), "before the loop itself") {
		t.Errorf("loop onto itself: %v", err)
	}
	bad = Program{{Op: numOps}, {Op: OpExit}}
	if err := bad.Validate(anyBounds); err == nil || !strings.Contains(err.Error(), "unknown operation") {
		t.Errorf("unknown op: %v", err)
	}
	endless, _ := ParseProgram("a: run 10ms\nloop a forever")
	if err := endless.Validate(Bounds{}); err != nil {
		t.Errorf("endless loop: %v", err)
	}
}
