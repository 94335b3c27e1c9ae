package rtapp

import (
	"fmt"
	"io"
	"os"
)

// Load reads a file. What the file system refuses is an error that names the
// path; a mistake in the file is an [*Error].
func Load(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the workload cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the workload cannot be read: %w", err)
	}
	return Parse(path, text)
}
