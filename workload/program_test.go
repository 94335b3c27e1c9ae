package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var anyBounds = Bounds{Tasks: 8, Channels: 8, Marks: 8, Recorders: 2, Syncs: []SyncSpec{
	{Kind: Word}, {Kind: Mutex}, {Kind: Cond, Mutex: 1}, {Kind: RequeueCond, Mutex: 1}, {Kind: Barrier, Value: 2}, {Kind: Stack}, {Kind: Semaphore},
}, Timers: 2, Pools: 1, CPUSets: 2, Groups: 1}

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
		branch s0 -1 end
		spin 30ms
		sleepticks 2
		stamp
		sample r1 30ms
		forget r1
		snapshot r0
		store s0 1
		futexwait s0 0
		futexwake s0 3
		post s0
		await s0
		lock s1
		condwait s2
		signal s3
		broadcast s2
		unlock s1
		meet s4
		push s5 s0
		posttaken s5
		add s0 -1
		semwait s6
		sempost s6
		epoch
		activate
		clockin
		runwall 1ms 32us
		clockout
		due w1 10ms 5us late cumulative
		sleepuntil w1
		late w1
	late:	activated 2
		forknext p0
		affinity a1
		group g0
		priority -5 1
		yield
		syscalls 3
		touch 4096 1048576 chase
	end:	exit`
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
		{Op: OpBranch, Chan: 0, N: -1, Target: 51},
		{Op: OpSpinWall, N: 30_000_000},
		{Op: OpSleepTicks, N: 2},
		{Op: OpStamp},
		{Op: OpSample, Chan: 1, N: 30_000_000},
		{Op: OpForget, Chan: 1},
		{Op: OpSnapshot},
		{Op: OpStore, N: 1},
		{Op: OpFutexWait},
		{Op: OpFutexWake, N: 3},
		{Op: OpPost},
		{Op: OpAwait},
		{Op: OpLock, Chan: 1},
		{Op: OpCondWait, Chan: 2},
		{Op: OpSignal, Chan: 3},
		{Op: OpBroadcast, Chan: 2},
		{Op: OpUnlock, Chan: 1},
		{Op: OpMeet, Chan: 4},
		{Op: OpPush, Chan: 5, N: 0},
		{Op: OpPostTaken, Chan: 5},
		{Op: OpAdd, N: -1},
		{Op: OpSemWait, Chan: 6},
		{Op: OpSemPost, Chan: 6},
		{Op: OpEpoch},
		{Op: OpActivate},
		{Op: OpClockIn},
		{Op: OpRunWall, N: 1_000_000, M: 32_000},
		{Op: OpClockOut},
		{Op: OpDue, Chan: 1, N: 10_000_000, M: 5_000, Target: 43, Slot: 1},
		{Op: OpSleepUntil, Chan: 1},
		{Op: OpLate, Chan: 1},
		{Op: OpActivated, N: 2},
		{Op: OpForkNext},
		{Op: OpAffinity, Chan: 1},
		{Op: OpGroup},
		{Op: OpPriority, N: -5, M: 1},
		{Op: OpYield},
		{Op: OpSyscalls, N: 3},
		{Op: OpTouch, N: 4096, M: 1 << 20, Slot: uint8(AccessChase)},
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
		in := Instr{Op: Op(rapid.IntRange(int(OpRun), int(numOps)-1).Draw(t, "op"))}
		switch in.Op {
		case OpRun, OpSleep:
			in.N = rapid.Int64Min(0).Draw(t, "n")
		case OpRunRandom, OpSleepRandom:
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpWrite, OpRead, OpReadSome:
			in.Slot = uint8(rapid.IntRange(0, NoCopy).Draw(t, "slot"))
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), rapid.Int64Range(0, maxTransfer).Draw(t, "n")
		case OpPoll:
			in.Chan = rapid.Int32Min(0).Draw(t, "chan")
		case OpFork, OpMark:
			in.N = int64(rapid.Int32Min(0).Draw(t, "n"))
		case OpLoop:
			in.N = rapid.Int64Min(0).Draw(t, "n")
			in.Target = int32(rapid.IntRange(0, i).Draw(t, "target"))
			in.Slot = uint8(rapid.IntRange(0, MaxLoops-1).Draw(t, "slot"))
		case OpSpinWall:
			in.N = rapid.Int64Min(0).Draw(t, "n")
		case OpSleepTicks:
			in.N = rapid.Int64Range(0, maxSleepTicks).Draw(t, "n")
		case OpSample, OpPush:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), int64(rapid.Int32Min(0).Draw(t, "n"))
		case OpTally:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), int64(rapid.Int32Min(0).Draw(t, "n"))
		case OpForget, OpSnapshot, OpReceive, OpAnswer:
			in.Chan = rapid.Int32Min(0).Draw(t, "chan")
		case OpBranch, OpCountTo:
			in.Target = int32(i + 1)
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), int64(rapid.Int32().Draw(t, "n"))
		case OpWatch, OpSelect:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), rapid.Int64Min(0).Draw(t, "n")
		case OpUnlessWatched:
			in.Chan, in.Target = rapid.Int32Min(0).Draw(t, "chan"), int32(i+1)
		case OpTryRead:
			in.Chan, in.Target = rapid.Int32Min(0).Draw(t, "chan"), int32(i+1)
			in.N = rapid.Int64Min(0).Draw(t, "n")
		case OpCharge:
			in.Chan = rapid.Int32Range(0, int32(NumPrices)-1).Draw(t, "chan")
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpLookup:
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpTeamMeet:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), rapid.Int64Range(0, maxSpinTurns).Draw(t, "n")
		case OpHandOver:
			in.Chan = rapid.Int32Min(0).Draw(t, "chan")
			in.N, in.M = int64(rapid.Int32().Draw(t, "n")), int64(rapid.Int32().Draw(t, "m"))
		case OpSpinLocked:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), rapid.Int64Range(0, 1e9).Draw(t, "n")
			in.M = rapid.Int64Min(0).Draw(t, "m")
		case OpStore, OpFutexWait, OpFutexWake, OpAdd:
			in.Chan, in.N = rapid.Int32Min(0).Draw(t, "chan"), int64(rapid.Int32().Draw(t, "n"))
		case OpRunWall:
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpDue:
			in.Target = int32(i + 1)
			in.Chan, in.Slot = rapid.Int32Min(0).Draw(t, "chan"), uint8(rapid.IntRange(0, 1).Draw(t, "slot"))
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
		case OpActivated, OpSyscalls:
			in.N = int64(rapid.Int32Min(0).Draw(t, "n"))
		case OpPriority:
			in.N, in.M = int64(rapid.Int32().Draw(t, "n")), rapid.Int64Range(0, int64(Idle)).Draw(t, "m")
		case OpTouch:
			in.N, in.M = rapid.Int64Min(0).Draw(t, "n"), rapid.Int64Min(0).Draw(t, "m")
			in.Slot = uint8(rapid.IntRange(0, int(numAccesses)-1).Draw(t, "slot"))
		default:
			if in.Op.operandOnly() || in.Op.activationPrefix() != "" {
				in.Chan = rapid.Int32Min(0).Draw(t, "chan")
			}
		}
		p = append(p, in)
	}
	return append(p, Instr{Op: OpExit})
}

func TestParseProgramNamesTheLineAndTheMend(t *testing.T) {
	for text, want := range map[string]string{
		"exit\nwrit c0 1":             "line 2: writ: unknown operation: there are run, sleep, write, read, readsome, poll, loop, fork, waitchildren, mark, exit, spin, sleepticks, stamp, sample, forget, snapshot, store, branch, futexwait, futexwake, post, await, lock, unlock, condwait, signal, broadcast, meet, push, take, posttaken, add, sempost, semwait, epoch, activate, activated, clockin, clockout, runwall, due, sleepuntil, late, forknext, affinity, group, priority, yield, syscalls, touch, watch, select, unlesswatched, tryread, tally, countto, charge, lookup, spinlocked, teammeet, handover, receive, serve, answer",
		"exit\nbranch s0 1 x\nexit":   `line 2: branch: label "x" is not set below`,
		"x: exit\nbranch s0 1 x":      `line 2: branch: label "x" is set above: a branch goes ahead`,
		"store s0 4294967296":         `line 1: store: "4294967296": want a whole number that fits into 32 bits`,
		"push s5":                     `line 1: push: want "push sOBJECT sOBJECT"`,
		"write c0":                    `line 1: write: want "write cCHANNEL BYTES [nocopy]"`,
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
		"":                                    "program is empty",
		"run 1us":                             "must end in an exit or an endless loop",
		"a: run 1us\nloop a 5":                "must end in an exit or an endless loop",
		"write c8 1\nexit":                    "instruction 0 (write): channel 8 does not exist: declared are 0 to 7",
		"read c1 0\nexit":                     "instruction 0 (read): length 0 bytes is not in [1,",
		"poll c9\nexit":                       "channel 9 does not exist",
		"fork t8\nexit":                       "task 8 does not exist",
		"mark 8\nexit":                        "mark 8 does not exist",
		"run 5us..4us\nexit":                  "0 <= least <= most",
		"a: run 0s\nloop a forever":           "instruction 1 (loop): the loop body takes no time",
		"a: mark 1\nloop a 3\nexit":           "the loop body takes no time",
		"a: run 1us\nloop a 0\nexit":          "the count must be at least 1",
		"a: fork t1\nrun 1us\nloop a 2\nexit": "task 1 would be forked 2 times",
		"lock s0\nexit":                       "instruction 0 (lock): object 0 is a word, not a mutex",
		"condwait s4\nexit":                   "object 4 is a barrier, not a condition",
		"await s7\nexit":                      "object 7 does not exist: declared are 0 to 6",
		"push s5 s1\nexit":                    "object 1 is a mutex, not a word",
		"futexwake s0 0\nexit":                "waking 0 tasks",
		"sample r2 1us\nexit":                 "recorder 2 does not exist",
		"sleepticks 0\nexit":                  "0 ticks are not in [1, 63]",
		"a: posttaken s5\nloop a forever":     "the loop body takes no time",
		"a: branch s0 0 b\nrun 1us\nb: loop a forever": "where no branch skips it",
		"watch c1 2\nexit":                                  "2 is neither 1 (watch) nor 0 (do not)",
		"watch c8 1\nexit":                                  "channel 8 does not exist",
		"select c6 3\nexit":                                 "3 channels from 6 on: declared are 0 to 7",
		"select c6 0\nexit":                                 "0 channels from 6 on",
		"tryread c1 0 b\nb: exit":                           "length 0 bytes is not in [1,",
		"charge pg_plan 0 0\nexit":                          "0 thousandths of a price: want 1 to",
		"charge pg_plan 1000 101\nexit":                     "101 percent more or less: want 0 to 100",
		"lookup 0 100\nexit":                                "0 lines of 100 bytes: want 1 to",
		"lookup 3 0\nexit":                                  "3 lines of 0 bytes",
		"spinlocked s0 60ns 0\nexit":                        "object 0 is a word, not a spinlock",
		"a: unlesswatched c1 b\nrun 1us\nb: loop a 2\nexit": "where no branch skips it",
		"a: run 1us\nloop a 2\nloop a 2\nexit":              "instruction 2 (loop): loop counter 0 is already used by a loop inside this one",
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
	leaves, _ := ParseProgram("a: branch s0 0 out\nrun 1us\nloop a forever\nout: exit")
	if err := leaves.Validate(anyBounds); err != nil {
		t.Errorf("a branch out of the loop: %v", err)
	}
	endless, _ := ParseProgram("a: run 10ms\nloop a forever")
	if err := endless.Validate(Bounds{}); err != nil {
		t.Errorf("endless loop: %v", err)
	}
}
