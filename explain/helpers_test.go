package explain

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/klauspost/compress/gzip"
)

var (
	selPattern  = regexp.MustCompile(`\[(\d+)\] .* sel: .* prev=(\d+) `)
	selrPattern = regexp.MustCompile(`\[(\d+)\] .* selr: .* ret=(\d+)`)
)

// textLines reads the lines of a gzipped trace, independently of package trace.
func textLines(t *testing.T, path string) *bufio.Scanner {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return bufio.NewScanner(unzipped)
}

// countPlacements pairs sel and selr of each CPU in the text of a trace.
func countPlacements(t *testing.T, path string) (decisions, stayed int64) {
	t.Helper()
	prevOf := map[string]string{}
	lines := textLines(t, path)
	for lines.Scan() {
		if m := selPattern.FindStringSubmatch(lines.Text()); m != nil {
			prevOf[m[1]] = m[2]
		} else if m := selrPattern.FindStringSubmatch(lines.Text()); m != nil {
			if prev, open := prevOf[m[1]]; open {
				decisions++
				if prev == m[2] {
					stayed++
				}
				delete(prevOf, m[1])
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return decisions, stayed
}

// writeBundle makes a capture of a machine with four CPUs, two cores of two
// threads.
func writeBundle(t *testing.T, tunables, cgroups, trace string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"machine.txt": smallMachine, "tunables.txt": tunables, "trace.txt": trace}
	if cgroups != "" {
		files["cgroups.txt"] = cgroups
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const smallMachine = `/sys/devices/system/cpu/cpu0/topology/thread_siblings_list: 0-1
/sys/devices/system/cpu/cpu1/topology/thread_siblings_list: 0-1
/sys/devices/system/cpu/cpu2/topology/thread_siblings_list: 2-3
/sys/devices/system/cpu/cpu3/topology/thread_siblings_list: 2-3
/sys/devices/system/cpu/cpu0/cache/index3/level: 3
/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list: 0-3
/sys/devices/system/node/node0/cpulist: 0-3
/sys/devices/system/node/node0/distance: 10
`

const linux61 = "Linux version 6.1.0-55-amd64 (maintainer)\n"
