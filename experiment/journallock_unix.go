//go:build unix

package experiment

import (
	"os"
	"syscall"
)

// lockJournal keeps a second writer out until the file is closed.
func lockJournal(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
