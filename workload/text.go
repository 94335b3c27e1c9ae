package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The text form of a program has one instruction a line; "#" starts a comment.
//
//	again:                    a label, the target of a loop
//	run 10µs                  run 10µs..40µs draws the time anew each time
//	sleep 50ms                sleep 0s..100ms likewise
//	write c2 100              100 bytes to channel 2
//	read c2 100
//	readsome c2 100           one call of up to 100 bytes; nocopy copies none
//	poll c1
//	loop again 20             counter 0; "loop again 20 slot 1" uses counter 1
//	loop again forever
//	fork t5                   task 5
//	waitchildren
//	mark 0
//	exit
//
//	spin 30ms                 of wall time
//	sleepticks 2
//	stamp
//	sample r0 30ms            into recorder 0, less 30 ms
//	forget r0
//	snapshot r0
//	store s3 1                word 3 (objects have one numbering)
//	branch s3 1 end           ahead to label end if word 3 holds 1
//	futexwait s3 0            if it holds 0
//	futexwake s3 1            one task
//	post s3                   also await, lock, unlock, condwait, signal,
//	                          broadcast, meet, take, posttaken, sempost, semwait
//	add s3 -1
//	push s5 s3                on stack 5, to be posted at word 3
//
//	epoch                     see activation.go for these
//	activate
//	activated 0               of kind 0
//	clockin
//	clockout
//	runwall 1ms 32µs          in pieces of 32 µs
//	due w0 10ms 0s end        timer 0; ahead to label end if its time has passed
//	sleepuntil w0             also late
//	forknext p0               pool 0
//	affinity a0               set 0
//	group g0
//	priority -5 0             nice and policy
//	yield
//	syscalls 3
//	touch 4096 1048576 block  or bytes, chase, stride
//	watch c3 1                 also 0, to watch it no more
//	select c3 8               8 channels from 3 on
//	unlesswatched c3 end
//	tryread c3 80 end
//	tally r0                  1, or a number behind it
//	countto s3 100 end
//	charge pg_plan 1000 10    the price, 10 percent more or less
//	lookup 40 22000000        40 lines of 22 MB
//	spinlocked s3 60ns 7      with 7 lines of the one before
//	teammeet s3 300000        turns of spinning before it sleeps
//	handover s3 1 0           from 1 to 0
//	receive q0                a request of source 0
//	serve
//	answer q0

// String returns the text form of the program; [ParseProgram] reads it back to
// the same program.
func (p Program) String() string {
	targets := p.targets()
	var b strings.Builder
	for i, in := range p {
		if targets[i] {
			fmt.Fprintf(&b, "L%d:\n", i)
		}
		fmt.Fprintf(&b, "\t%s\n", in)
	}
	return b.String()
}

// targets marks the instructions that something jumps to.
func (p Program) targets() []bool {
	targets := make([]bool, len(p))
	for _, in := range p {
		if (in.Op == OpLoop || in.Op.jumpsAhead()) && in.Target >= 0 && int(in.Target) < len(p) {
			targets[in.Target] = true
		}
	}
	return targets
}

// String returns the instruction as a line of a program's text form.
func (in Instr) String() string {
	switch in.Op {
	case OpRun, OpSleep:
		return fmt.Sprintf("%s %s", in.Op, time.Duration(in.N))
	case OpRunRandom, OpSleepRandom:
		return fmt.Sprintf("%s %s..%s", in.Op, time.Duration(in.N), time.Duration(in.M))
	case OpWrite, OpRead, OpReadSome:
		return in.transferString()
	case OpPoll:
		return fmt.Sprintf("%s c%d", in.Op, in.Chan)
	case OpLoop:
		return in.loopString()
	case OpFork:
		return fmt.Sprintf("%s t%d", in.Op, in.N)
	case OpMark:
		return fmt.Sprintf("%s %d", in.Op, in.N)
	}
	return in.syncString()
}

func (in Instr) loopString() string {
	count := "forever"
	if in.N != Forever {
		count = strconv.FormatInt(in.N, 10)
	}
	text := fmt.Sprintf("%s L%d %s", in.Op, in.Target, count)
	if in.Slot != 0 {
		text += fmt.Sprintf(" slot %d", in.Slot)
	}
	return text
}

// ParseProgram reads the text form of a program. Its errors name the line. The
// result still has to pass [Program.Validate].
func ParseProgram(text string) (Program, error) {
	parser := programParser{labels: map[string]int32{}}
	for i, line := range strings.Split(text, "\n") {
		if err := parser.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		parser.number++
	}
	if err := parser.finish(); err != nil {
		return nil, err
	}
	return parser.program, nil
}

type programParser struct {
	program  Program
	labels   map[string]int32
	number   int             // of lines read
	branches []pendingBranch // whose label has not come yet
}

func (pp *programParser) line(line string) error {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if label, rest, found := strings.Cut(line, ":"); found {
		if err := pp.label(strings.TrimSpace(label)); err != nil {
			return err
		}
		line = rest
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	in, err := pp.instruction(words[0], words[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	pp.program = append(pp.program, in)
	return nil
}

func (pp *programParser) label(name string) error {
	if name == "" || strings.ContainsAny(name, " \t") {
		return fmt.Errorf("label %q: want one word before the colon", name)
	}
	if _, exists := pp.labels[name]; exists {
		return fmt.Errorf("label %q is already set above", name)
	}
	pp.labels[name] = int32(len(pp.program))
	pp.resolve(name)
	return nil
}

// opUsage is the operands of each operation, and the list of what there is.
var opUsage = []struct{ name, usage string }{
	{"run", "TIME or LEAST..MOST"},
	{"sleep", "TIME or LEAST..MOST"},
	{"write", "cCHANNEL BYTES [nocopy]"},
	{"read", "cCHANNEL BYTES [nocopy]"},
	{"readsome", "cCHANNEL BYTES [nocopy]"},
	{"poll", "cCHANNEL"},
	{"loop", "LABEL COUNT|forever [slot NUMBER]"},
	{"fork", "tTASK"},
	{"waitchildren", ""},
	{"mark", "NUMBER"},
	{"exit", ""},
	{"spin", "TIME"},
	{"sleepticks", "NUMBER"},
	{"stamp", ""},
	{"sample", "rRECORDER TIME"},
	{"forget", "rRECORDER"},
	{"snapshot", "rRECORDER"},
	{"store", "sOBJECT VALUE"},
	{"branch", "sOBJECT VALUE LABEL"},
	{"futexwait", "sOBJECT VALUE"},
	{"futexwake", "sOBJECT NUMBER"},
	{"post", "sOBJECT"},
	{"await", "sOBJECT"},
	{"lock", "sOBJECT"},
	{"unlock", "sOBJECT"},
	{"condwait", "sOBJECT"},
	{"signal", "sOBJECT"},
	{"broadcast", "sOBJECT"},
	{"meet", "sOBJECT"},
	{"push", "sOBJECT sOBJECT"},
	{"take", "sOBJECT"},
	{"posttaken", "sOBJECT"},
	{"add", "sOBJECT VALUE"},
	{"sempost", "sOBJECT"},
	{"semwait", "sOBJECT"},
	{"epoch", ""},
	{"activate", ""},
	{"activated", "KIND"},
	{"clockin", ""},
	{"clockout", ""},
	{"runwall", "TIME PIECE"},
	{"due", "wTIMER PERIOD OFFSET LABEL [cumulative]"},
	{"sleepuntil", "wTIMER"},
	{"late", "wTIMER"},
	{"forknext", "pPOOL"},
	{"affinity", "aSET"},
	{"group", "gGROUP"},
	{"priority", "NICE POLICY"},
	{"yield", ""},
	{"syscalls", "NUMBER"},
	{"touch", "BYTES SIZE block|bytes|chase|stride"},
	{"watch", "cCHANNEL 0|1"},
	{"select", "cCHANNEL NUMBER"},
	{"unlesswatched", "cCHANNEL LABEL"},
	{"tryread", "cCHANNEL BYTES LABEL"},
	{"tally", "rRECORDER [NUMBER]"},
	{"countto", "sOBJECT VALUE LABEL"},
	{"charge", "PRICE THOUSANDTHS PERCENT"},
	{"lookup", "LINES BYTES"},
	{"spinlocked", "sOBJECT TIME LINES"},
	{"teammeet", "sOBJECT TURNS"},
	{"handover", "sOBJECT VALUE VALUE"},
	{"receive", "qSOURCE"},
	{"serve", ""},
	{"answer", "qSOURCE"},
}

func usageError(op string) error {
	for _, o := range opUsage {
		if o.name == op {
			return fmt.Errorf("want %q", strings.TrimSpace(op+" "+o.usage))
		}
	}
	names := make([]string, len(opUsage))
	for i, o := range opUsage {
		names[i] = o.name
	}
	return fmt.Errorf("unknown operation: there are %s", strings.Join(names, ", "))
}

func (pp *programParser) instruction(op string, args []string) (Instr, error) {
	switch {
	case op == "run" && len(args) == 1:
		return parseTimed(OpRun, OpRunRandom, args[0])
	case op == "sleep" && len(args) == 1:
		return parseTimed(OpSleep, OpSleepRandom, args[0])
	case op == "write" && len(args) >= 2:
		return parseTransfer(OpWrite, args)
	case op == "read" && len(args) >= 2:
		return parseTransfer(OpRead, args)
	case op == "readsome" && len(args) >= 2:
		return parseTransfer(OpReadSome, args)
	case op == "poll" && len(args) == 1:
		channel, err := parseNumber("c", args[0], math.MaxInt32)
		return Instr{Op: OpPoll, Chan: int32(channel)}, err
	case op == "loop" && len(args) >= 2:
		return pp.loop(args)
	case op == "fork" && len(args) == 1:
		task, err := parseNumber("t", args[0], math.MaxInt32)
		return Instr{Op: OpFork, N: task}, err
	case op == "mark" && len(args) == 1:
		mark, err := parseNumber("", args[0], math.MaxInt32)
		return Instr{Op: OpMark, N: mark}, err
	case op == "waitchildren" && len(args) == 0:
		return Instr{Op: OpWaitChildren}, nil
	case op == "exit" && len(args) == 0:
		return Instr{Op: OpExit}, nil
	}
	return pp.syncInstruction(op, args)
}

func (pp *programParser) loop(args []string) (Instr, error) {
	in := Instr{Op: OpLoop, N: Forever}
	target, known := pp.labels[args[0]]
	if !known {
		return in, fmt.Errorf("label %q is not set above", args[0])
	}
	in.Target = target
	if args[1] != "forever" {
		count, err := parseNumber("", args[1], Forever-1)
		if err != nil {
			return in, err
		}
		in.N = count
	}
	switch {
	case len(args) == 2:
		return in, nil
	case len(args) == 4 && args[2] == "slot":
		slot, err := parseNumber("", args[3], MaxLoops-1)
		in.Slot = uint8(slot)
		return in, err
	}
	return in, usageError("loop")
}

func parseTimed(fixed, random Op, text string) (Instr, error) {
	least, most, isRange := strings.Cut(text, "..")
	n, err := parseTime(least)
	if err != nil || !isRange {
		return Instr{Op: fixed, N: n}, err
	}
	m, err := parseTime(most)
	return Instr{Op: random, N: n, M: m}, err
}

func parseTime(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("time %q: want a length such as 350ns, 10us, 1.5ms, 2s", text)
	}
	return int64(d), nil
}

func parseTransfer(op Op, args []string) (Instr, error) {
	channel, err := parseNumber("c", args[0], math.MaxInt32)
	if err != nil {
		return Instr{}, err
	}
	bytes, err := parseNumber("", args[1], maxTransfer)
	in := Instr{Op: op, Chan: int32(channel), N: bytes}
	switch {
	case err != nil || len(args) == 2:
		return in, err
	case len(args) == 3 && args[2] == noCopyWord:
		in.Slot = NoCopy
		return in, nil
	}
	return in, usageError(op.String())
}

const noCopyWord = "nocopy"

func (in Instr) transferString() string {
	text := fmt.Sprintf("%s c%d %d", in.Op, in.Chan, in.N)
	if in.Slot == NoCopy {
		text += " " + noCopyWord
	}
	return text
}

// parseNumber reads a whole number in [0, most] that follows a prefix.
func parseNumber(prefix, text string, most int64) (int64, error) {
	digits, found := strings.CutPrefix(text, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !found || err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%q: want %sN with N a whole number from 0 to %d", text, prefix, most)
	}
	return n, nil
}
