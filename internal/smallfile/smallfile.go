// Package smallfile reads files that people write, which are small. What is
// named by mistake (a device, an image, a log) is refused before it fills the
// memory.
package smallfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns what is in a file of at most so many bytes. Errors are
// *fs.PathError, as those of os.ReadFile are.
func Read(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d KiB, the limit for such a file", most>>10)}
	}
	return data, nil
}
