package workload

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The text form of the operations on clocks, recorders and synchronisation
// objects.

func (in Instr) syncString() string {
	if in.Op.OfActivation() {
		return in.activationString()
	}
	switch in.Op {
	case OpSpinWall:
		return fmt.Sprintf("%s %s", in.Op, time.Duration(in.N))
	case OpSleepTicks:
		return fmt.Sprintf("%s %d", in.Op, in.N)
	case OpSample:
		return fmt.Sprintf("%s r%d %s", in.Op, in.Chan, time.Duration(in.N))
	case OpTally:
		return in.tallyString()
	case OpForget, OpSnapshot:
		return fmt.Sprintf("%s r%d", in.Op, in.Chan)
	case OpReceive, OpAnswer:
		return fmt.Sprintf("%s q%d", in.Op, in.Chan)
	case OpStore, OpFutexWait, OpFutexWake, OpAdd, OpTeamMeet:
		return fmt.Sprintf("%s s%d %d", in.Op, in.Chan, in.N)
	case OpBranch, OpCountTo:
		return fmt.Sprintf("%s s%d %d L%d", in.Op, in.Chan, in.N, in.Target)
	case OpWatch, OpSelect, OpUnlessWatched, OpTryRead, OpCharge, OpLookup, OpSpinLocked:
		return in.serverString()
	case OpHandOver:
		return fmt.Sprintf("%s s%d %d %d", in.Op, in.Chan, in.N, in.M)
	case OpPush:
		return fmt.Sprintf("%s s%d s%d", in.Op, in.Chan, in.N)
	}
	if _, known := in.Op.operand(); known {
		return fmt.Sprintf("%s s%d", in.Op, in.Chan)
	}
	return in.Op.String()
}

func (in Instr) tallyString() string {
	if in.N == 0 {
		return fmt.Sprintf("%s r%d", in.Op, in.Chan)
	}
	return fmt.Sprintf("%s r%d %d", in.Op, in.Chan, in.N)
}

// pendingBranch is a branch whose label stands further down.
type pendingBranch struct {
	label      string
	at, onLine int
}

// resolve points the branches that wait for a label to the next instruction.
func (pp *programParser) resolve(label string) {
	kept := pp.branches[:0]
	for _, b := range pp.branches {
		if b.label != label {
			kept = append(kept, b)
			continue
		}
		pp.program[b.at].Target = pp.labels[label]
	}
	pp.branches = kept
}

// finish reports a branch whose label never came.
func (pp *programParser) finish() error {
	if len(pp.branches) == 0 {
		return nil
	}
	b := pp.branches[0]
	return fmt.Errorf("line %d: branch: label %q is not set below", b.onLine, b.label)
}

// opByName finds the operations whose text form is their name and operands.
func opByName(name string) (Op, bool) {
	for op := OpSpinWall; op < numOps; op++ {
		if opNames[op] == name {
			return op, true
		}
	}
	return 0, false
}

func (pp *programParser) syncInstruction(name string, args []string) (Instr, error) {
	op, known := opByName(name)
	if !known {
		return Instr{}, usageError(name)
	}
	if op.OfActivation() {
		return pp.activationInstruction(op, args)
	}
	in := Instr{Op: op}
	var err error
	switch {
	case (op == OpStamp || op == OpServe) && len(args) == 0:
	case (op == OpReceive || op == OpAnswer) && len(args) == 1:
		in.Chan, err = parseIndex("q", args[0])
	case op == OpSpinWall && len(args) == 1:
		in.N, err = parseTime(args[0])
	case op == OpSleepTicks && len(args) == 1:
		in.N, err = parseNumber("", args[0], maxSleepTicks)
	case op == OpSample && len(args) == 2:
		if in.Chan, err = parseIndex("r", args[0]); err == nil {
			in.N, err = parseTime(args[1])
		}
	case op == OpTally && len(args) == 2:
		if in.Chan, err = parseIndex("r", args[0]); err == nil {
			in.N, err = parseNumber("", args[1], math.MaxInt32)
		}
	case (op == OpForget || op == OpSnapshot || op == OpTally) && len(args) == 1:
		in.Chan, err = parseIndex("r", args[0])
	case (op == OpBranch || op == OpCountTo) && len(args) == 3:
		return pp.branch(in, args)
	case op == OpPush && len(args) == 2:
		if in.Chan, err = parseIndex("s", args[0]); err == nil {
			in.N, err = parseNumber("s", args[1], math.MaxInt32)
		}
	case op == OpTeamMeet && len(args) == 2:
		if in.Chan, err = parseIndex("s", args[0]); err == nil {
			in.N, err = parseNumber("", args[1], maxSpinTurns)
		}
	case op == OpHandOver && len(args) == 3:
		return parseHandOver(args)
	case (op == OpStore || op == OpFutexWait || op == OpFutexWake || op == OpAdd) && len(args) == 2:
		if in.Chan, err = parseIndex("s", args[0]); err == nil {
			in.N, err = parseValue(args[1])
		}
	case op.operandOnly() && len(args) == 1:
		in.Chan, err = parseIndex("s", args[0])
	default:
		return pp.serverInstruction(in, args)
	}
	return in, err
}

// operandOnly reports whether the operation has an object as its one operand.
func (op Op) operandOnly() bool {
	switch op {
	case OpStore, OpBranch, OpCountTo, OpFutexWait, OpFutexWake, OpPush, OpSpinLocked, OpAdd, OpTeamMeet, OpHandOver:
		return false
	}
	_, known := op.operand()
	return known
}

func parseHandOver(args []string) (in Instr, err error) {
	in.Op = OpHandOver
	if in.Chan, err = parseIndex("s", args[0]); err != nil {
		return in, err
	}
	if in.N, err = parseValue(args[1]); err != nil {
		return in, err
	}
	in.M, err = parseValue(args[2])
	return in, err
}

func (pp *programParser) branch(in Instr, args []string) (Instr, error) {
	var err error
	if in.Chan, err = parseIndex("s", args[0]); err != nil {
		return in, err
	}
	if in.N, err = parseValue(args[1]); err != nil {
		return in, err
	}
	return in, pp.jumpAhead(args[2])
}

// jumpAhead notes that the instruction being read jumps to a label below.
func (pp *programParser) jumpAhead(label string) error {
	if _, behind := pp.labels[label]; behind {
		return fmt.Errorf("label %q is set above: a branch goes ahead", label)
	}
	pp.branches = append(pp.branches, pendingBranch{label, len(pp.program), pp.number + 1})
	return nil
}

func parseIndex(prefix, text string) (int32, error) {
	n, err := parseNumber(prefix, text, math.MaxInt32)
	return int32(n), err
}

// parseValue reads what a word of 32 bits can hold.
func parseValue(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q: want a whole number that fits into 32 bits", text)
	}
	return n, nil
}
