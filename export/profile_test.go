package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/schedlab/schedlab/timeline"
	"github.com/schedlab/schedlab/trace"
)

// The figures are those of recordingOfTwo: A runs 300+200 ns, waits 300 behind B
// and sleeps 100; B runs 300, waits 200 behind A, sleeps 300, and was woken once.
func TestProfile(t *testing.T) {
	p, err := profile.Parse(bytes.NewReader(export(t, recordingOfTwo, "x.pprof", Options{Format: Profile})))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int64{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			frames = append([]string{l.Line[0].Function.Name}, frames...)
		}
		got[strings.Join(frames, ";")] = s.Value
	}
	want := map[string][]int64{
		"cgroup /web;A;A-1":                         {500, 0, 0, 0},
		"cgroup /web;A;A-1;waits behind B on CPU 0": {0, 300, 0, 0},
		"cgroup /web;A;A-1;sleeps as D":             {0, 0, 100, 0},
		"B;B-2":                                     {300, 0, 0, 1},
		"B;B-2;waits behind A on CPU 0":             {0, 200, 0, 0},
		"B;B-2;sleeps as S":                         {0, 0, 300, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p.DurationNanos != 900 { // 100 to 1000
		t.Errorf("a duration of %d", p.DurationNanos)
	}
}

// What the profile adds up is what the timeline says, over recordings of a real
// kernel.
func TestProfileAddsUp(t *testing.T) {
	path := filepath.Join("..", "explain", "testdata", "6.1", "forks", "trace.txt.gz")
	p, err := profile.Parse(bytes.NewReader(exportFrom(t, open(t, path), "x.pprof.gz", Options{Format: Profile})))
	if err != nil {
		t.Fatal(err)
	}
	var got, want [numValues]int64
	for _, s := range p.Sample {
		for i, v := range s.Value {
			got[i] += v
		}
	}
	f := timeline.NewFollower()
	f.OnInterval = func(i *timeline.Interval) {
		if i.Idle() {
			return
		}
		switch i.State {
		case timeline.Running:
			want[valueCPU] += i.Duration()
		case timeline.Waiting:
			want[valueWait] += i.Duration()
			if i.Woken {
				want[valueWakeups]++
			}
		case timeline.Asleep:
			want[valueSleep] += i.Duration()
		}
	}
	if err := trace.Each(open(t, path), func(e *trace.Event) error { f.Observe(e); return nil }); err != nil {
		t.Fatal(err)
	}
	f.Finish()
	if got != want || got[valueCPU] == 0 || got[valueWait] == 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// The tool that profiles are for reads it: go tool pprof.
func TestGoToolPprofReadsIt(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.pprof")
	if err := os.WriteFile(file, export(t, recordingOfTwo, file, Options{Format: Profile}), 0o600); err != nil {
		t.Fatal(err)
	}
	for sample, want := range map[string]string{
		// flat, flat %, sum, cum, cum %: A's thread has 500 of the 800 ns of CPU time.
		"cpu":     `500ns 62.50% 62.50%\s+500ns 62.50%\s+A-1`,
		"wait":    `300ns 60.00% 60.00%\s+300ns 60.00%\s+waits behind B on CPU 0`,
		"sleep":   `100ns 25.00%\s+cgroup /web`,
		"wakeups": `1   100%   100%\s+1   100%\s+B-2`,
	} {
		cmd := exec.Command(tool, "tool", "pprof", "-top", "-sample_index="+sample, file)
		cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s: want %q in\n%s", sample, want, out)
		}
	}
}
