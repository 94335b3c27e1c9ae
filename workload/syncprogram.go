package workload

import (
	"fmt"
	"math"
)

// syncKindNames name the kinds in errors.
var syncKindNames = [numSyncKinds]string{"word", "mutex", "condition", "condition", "barrier", "stack", "semaphore", "spinlock", "team barrier", "flag"}

// operand is the kind of object that an operation works on; the two conditions
// take the same operations.
func (op Op) operand() (SyncKind, bool) {
	switch op {
	case OpStore, OpBranch, OpCountTo, OpFutexWait, OpFutexWake, OpPost, OpAwait, OpAdd:
		return Word, true
	case OpLock, OpUnlock:
		return Mutex, true
	case OpCondWait, OpSignal, OpBroadcast:
		return Cond, true
	case OpMeet:
		return Barrier, true
	case OpPush, OpTake, OpPostTaken:
		return Stack, true
	case OpSemPost, OpSemWait:
		return Semaphore, true
	case OpSpinLocked:
		return SpinLock, true
	case OpTeamMeet:
		return TeamBarrier, true
	case OpHandOver:
		return Flag, true
	}
	return 0, false
}

// validateSync checks an operation on a synchronisation object.
func (p Program) validateSync(i int, in Instr, b Bounds) error {
	kind, known := in.Op.operand()
	if !known {
		return fmt.Errorf("unknown operation %d", in.Op)
	}
	if err := b.isSync(in.Chan, kind); err != nil {
		return err
	}
	switch in.Op {
	case OpStore, OpFutexWait, OpBranch, OpCountTo, OpAdd:
		if in.N < math.MinInt32 || in.N > math.MaxInt32 {
			return fmt.Errorf("value %d does not fit into a word of 32 bits", in.N)
		}
	case OpSpinLocked:
		if in.N < 1 || in.M < 0 || in.M > maxLookedUp {
			return fmt.Errorf("held for %d ns with %d lines read: want at least 1 ns and 0 to %d lines", in.N, in.M, maxLookedUp)
		}
	case OpTeamMeet:
		if in.N < 0 || in.N > maxSpinTurns {
			return fmt.Errorf("%d turns of spinning: want 0 to %d", in.N, int64(maxSpinTurns))
		}
	case OpHandOver:
		if int64(int32(in.N)) != in.N || int64(int32(in.M)) != in.M {
			return fmt.Errorf("values %d and %d do not both fit into a word of 32 bits", in.N, in.M)
		}
	case OpFutexWake:
		if in.N < 1 {
			return fmt.Errorf("waking %d tasks: want at least 1", in.N)
		}
	case OpPush:
		if in.N < 0 || in.N > math.MaxInt32 {
			return fmt.Errorf("object %d does not exist", in.N)
		}
		return b.isSync(int32(in.N), Word)
	}
	if in.Op.jumpsAhead() {
		return p.validateJump(i, in)
	}
	return nil
}

func (b *Bounds) isSync(i int32, want SyncKind) error {
	if err := within("object", int64(i), len(b.Syncs)); err != nil {
		return err
	}
	got := b.Syncs[i].Kind
	if got == RequeueCond {
		got = Cond
	}
	if got != want {
		return fmt.Errorf("object %d is a %s, not a %s", i, syncKindNames[got], syncKindNames[want])
	}
	return nil
}

// validateSyncs reports the first object that cannot be.
func (s *Scenario) validateSyncs() error {
	bounds := Bounds{Syncs: s.Syncs}
	for i, spec := range s.Syncs {
		var err error
		switch spec.Kind {
		case Cond, RequeueCond:
			err = bounds.isSync(spec.Mutex, Mutex)
		case Barrier, TeamBarrier:
			if spec.Value < 1 {
				err = fmt.Errorf("%d tasks meet there: want at least 1", spec.Value)
			}
		case Semaphore:
			if spec.Value < 0 {
				err = fmt.Errorf("a semaphore cannot begin at %d", spec.Value)
			}
		case Word, Mutex, Stack, SpinLock, Flag:
		default:
			err = fmt.Errorf("unknown kind %d", spec.Kind)
		}
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
	}
	return nil
}
