package capture

import (
	"errors"
	"fmt"
)

// undo is what has to be changed back, in the order in which it was changed.
type undo struct{ steps []undoStep }

type undoStep struct {
	what string
	do   func() error
}

// add notes how to change something back. It is called before the change: to
// undo what was not done must do no harm.
func (u *undo) add(what string, do func() error) { u.steps = append(u.steps, undoStep{what, do}) }

// run changes everything back, the last change first, whatever fails, and says
// what did. A second call does nothing.
func (u *undo) run() error {
	var failed []error
	for i := len(u.steps) - 1; i >= 0; i-- {
		if err := u.steps[i].do(); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", u.steps[i].what, err))
		}
	}
	u.steps = nil
	return errors.Join(failed...)
}

func isError(err, target error) bool { return errors.Is(err, target) }
