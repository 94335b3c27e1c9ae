package cli

import (
	"fmt"
	"os"

	"github.com/schedlab/schedlab/workload"
)

// checkLogFolder refuses, before the run, a folder that a benchmark's own logs
// cannot go to.
func checkLogFolder(b workload.Benchmark) error {
	logger, ok := b.(workload.Logger)
	if !ok || logger.LogFolder() == "" {
		return nil
	}
	folder := logger.LogFolder()
	if dir, err := os.Stat(folder); err != nil || !dir.IsDir() {
		return fmt.Errorf("%s: there is no folder %s for its logs; make it, or name another in the workload", b.Name(), folder)
	}
	return nil
}

// writeLogs writes the files that the real tool would have written.
func writeLogs(b workload.Benchmark, obs *workload.Observation) error {
	logger, ok := b.(workload.Logger)
	if !ok {
		return nil
	}
	for _, file := range logger.Logs(obs) {
		if err := writeFile(file.Path, file.Write); err != nil {
			return err
		}
	}
	return nil
}
