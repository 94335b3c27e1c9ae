package workload

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The text form of the operations of periodic tasks.

// activationPrefix is what the number of an operation's Chan follows, "" for
// one without.
func (op Op) activationPrefix() string {
	switch op {
	case OpDue, OpSleepUntil, OpLate:
		return "w"
	case OpForkNext:
		return "p"
	case OpAffinity:
		return "a"
	case OpGroup:
		return "g"
	}
	return ""
}

func (in Instr) activationString() string {
	switch in.Op {
	case OpRunWall:
		return fmt.Sprintf("%s %s %s", in.Op, time.Duration(in.N), time.Duration(in.M))
	case OpDue:
		text := fmt.Sprintf("%s w%d %s %s L%d", in.Op, in.Chan, time.Duration(in.N), time.Duration(in.M), in.Target)
		if in.Slot != 0 {
			text += " cumulative"
		}
		return text
	case OpActivated, OpSyscalls:
		return fmt.Sprintf("%s %d", in.Op, in.N)
	case OpPriority:
		return fmt.Sprintf("%s %d %d", in.Op, in.N, in.M)
	case OpTouch:
		return fmt.Sprintf("%s %d %d %s", in.Op, in.N, in.M, accessNames[in.Slot])
	}
	if prefix := in.Op.activationPrefix(); prefix != "" {
		return fmt.Sprintf("%s %s%d", in.Op, prefix, in.Chan)
	}
	return in.Op.String()
}

func (pp *programParser) activationInstruction(op Op, args []string) (Instr, error) {
	in := Instr{Op: op}
	var err error
	switch {
	case op == OpRunWall && len(args) == 2:
		if in.N, err = parseTime(args[0]); err == nil {
			in.M, err = parseTime(args[1])
		}
	case op == OpDue && (len(args) == 4 || len(args) == 5 && args[4] == "cumulative"):
		return pp.due(in, args)
	case (op == OpActivated || op == OpSyscalls) && len(args) == 1:
		in.N, err = parseNumber("", args[0], math.MaxInt32)
	case op == OpPriority && len(args) == 2:
		if in.N, err = parseValue(args[0]); err == nil {
			in.M, err = parseNumber("", args[1], int64(Idle))
		}
	case op == OpTouch && len(args) == 3:
		return parseTouch(in, args)
	case op.activationPrefix() != "" && op != OpDue && len(args) == 1:
		in.Chan, err = parseIndex(op.activationPrefix(), args[0])
	case op.bare() && len(args) == 0:
	default:
		return Instr{}, usageError(op.String())
	}
	return in, err
}

// bare reports whether the operation has no operands.
func (op Op) bare() bool {
	switch op {
	case OpEpoch, OpActivate, OpClockIn, OpClockOut, OpYield:
		return true
	}
	return false
}

func (pp *programParser) due(in Instr, args []string) (Instr, error) {
	var err error
	if in.Chan, err = parseIndex("w", args[0]); err != nil {
		return in, err
	}
	if in.N, err = parseTime(args[1]); err != nil {
		return in, err
	}
	if in.M, err = parseTime(args[2]); err != nil {
		return in, err
	}
	if len(args) == 5 {
		in.Slot = 1
	}
	if _, behind := pp.labels[args[3]]; behind {
		return in, fmt.Errorf("label %q is set above: a timer that is late goes ahead", args[3])
	}
	pp.branches = append(pp.branches, pendingBranch{args[3], len(pp.program), pp.number + 1})
	return in, nil
}

func parseTouch(in Instr, args []string) (Instr, error) {
	var err error
	if in.N, err = parseNumber("", args[0], math.MaxInt64); err != nil {
		return in, err
	}
	if in.M, err = parseNumber("", args[1], math.MaxInt64); err != nil {
		return in, err
	}
	for i, name := range accessNames {
		if args[2] == name {
			in.Slot = uint8(i)
			return in, nil
		}
	}
	return in, fmt.Errorf("way %s: want block, bytes, chase or stride", strconv.Quote(args[2]))
}
