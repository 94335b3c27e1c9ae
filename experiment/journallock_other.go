//go:build !unix

package experiment

import "os"

// lockJournal does nothing where files cannot be locked so.
func lockJournal(*os.File) error { return nil }
