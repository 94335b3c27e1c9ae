package trace

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkOtherTools has the usual tools read what our readers read in the
// benchmarks beside this one, output thrown away. A tool that is not installed
// is left out.
func BenchmarkOtherTools(b *testing.B) {
	const datEvents, perfEvents = benchEvents / 317 * 317, benchEvents / 471 * 471
	dat := writeLong(b, "long.dat", longTraceDat(b, fixtureBytes(b, "trace-cmd-v6.dat.gz"), benchEvents/317))
	perf := writeLong(b, "long.data", longPerfData(fixtureBytes(b, "perf-sched.data.gz"), benchEvents/471))
	for _, tool := range []struct {
		name   string
		argv   []string
		events int
	}{
		{"TraceDat/trace-cmd report", []string{"trace-cmd", "report", "-i", dat}, datEvents},
		{"PerfData/perf script", []string{"perf", "script", "-f", "-i", perf}, perfEvents},
		{"PerfData/perf sched timehist", []string{"perf", "sched", "timehist", "-f", "-i", perf}, perfEvents},
	} {
		b.Run(tool.name, func(b *testing.B) {
			if _, err := exec.LookPath(tool.argv[0]); err != nil {
				b.Skip(err) // a comparison only: no check is lost where the tool is missing
			}
			for b.Loop() {
				run := exec.Command(tool.argv[0], tool.argv[1:]...)
				run.Stdout = io.Discard
				if err := run.Run(); err != nil {
					b.Fatalf("%v: %v", tool.argv, err)
				}
			}
			b.ReportMetric(float64(tool.events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

func writeLong(b *testing.B, name string, content []byte) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}
