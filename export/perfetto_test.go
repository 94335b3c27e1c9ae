package export

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/trace"
)

// counters reads the tracks of a Perfetto trace: "TIME NAME VALUE" in the order
// of the file.
func counters(t *testing.T, content []byte) []string {
	t.Helper()
	names := map[uint64]string{}
	var out []string
	eachField(t, content, func(_ protowire.Number, packet []byte, _ uint64) {
		var at, track, value uint64
		isEvent := false
		eachField(t, packet, func(number protowire.Number, message []byte, n uint64) {
			switch number {
			case 8: // TracePacket.timestamp
				at = n
			case 60: // track_descriptor
				var uuid uint64
				var name string
				eachField(t, message, func(number protowire.Number, text []byte, n uint64) {
					switch number {
					case 1:
						uuid = n
					case 2:
						name = string(text)
					}
				})
				names[uuid] = name
			case 11: // track_event
				isEvent = true
				eachField(t, message, func(number protowire.Number, _ []byte, n uint64) {
					switch number {
					case 11: // track_uuid
						track = n
					case 30: // counter_value
						value = n
					}
				})
			}
		})
		if isEvent {
			out = append(out, fmt.Sprintf("%d %s %d", at, names[track], int64(value)))
		}
	})
	return out
}

func eachField(t *testing.T, message []byte, f func(number protowire.Number, content []byte, n uint64)) {
	t.Helper()
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		message = message[n:]
		var content []byte
		var value uint64
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(message)
		default:
			t.Fatalf("field %d of type %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		message = message[n:]
		f(number, content, value)
	}
}

// By recordingOfTwo, CPU 0 has A alone, from 200 both, from 700 A alone, from 900
// nobody, and sleeps at depth 2 from 1000. Both CPUs of the machine share a cache.
func TestCountersOfPerfetto(t *testing.T) {
	m, err := machine.Parse("1n2c1t")
	if err != nil {
		t.Fatal(err)
	}
	got := counters(t, export(t, recordingOfTwo, "x.pftrace", Options{Format: Perfetto, Machine: m}))
	want := []string{
		"100 CPU 0 queued 1", "100 LLC of CPUs 0-1 queued 1",
		"200 CPU 0 queued 2", "200 LLC of CPUs 0-1 queued 2",
		"700 CPU 0 queued 1", "700 LLC of CPUs 0-1 queued 1",
		"900 CPU 0 queued 0", "900 LLC of CPUs 0-1 queued 0",
		"1000 CPU 0 idle state 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	alone := counters(t, export(t, recordingOfTwo, "x.pftrace", Options{Format: Perfetto}))
	if strings.Contains(strings.Join(alone, "\n"), "LLC") || len(alone) != 5 {
		t.Errorf("without a machine: %v", alone)
	}
}

// The counters do not disturb what a reader reads: the same events come back.
func TestEventsComeBackFromPerfetto(t *testing.T) {
	for _, name := range []string{"tracefs.txt.gz", "perf-sched.data.gz", "trace-cmd-v7-zstd.dat"} {
		path := filepath.Join("..", "trace", "testdata", name)
		perfetto := exportFrom(t, open(t, path), "x.pftrace", Options{Format: Perfetto})
		file := filepath.Join(t.TempDir(), "x.pftrace")
		if err := os.WriteFile(file, perfetto, 0o600); err != nil {
			t.Fatal(err)
		}
		want := records(t, exportFrom(t, open(t, path), "x.csv", Options{Format: CSV}))
		r := open(t, file)
		got := records(t, exportFrom(t, r, "x.csv", Options{Format: CSV}))
		if s := r.Stats(); !s.Clean() {
			t.Errorf("%s: read back: %s", name, s)
		}
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%s: %d events, want %d", name, len(got), len(want))
		}
		for i := range got {
			for _, notHeld := range []string{"common_comm", "common_tgid", "group_dead"} { // docs/trace.md, "Writing"
				delete(got[i], notHeld)
				delete(want[i], notHeld)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
	}
}

// protoc, which knows nothing of schedlab, decodes what is written by the
// published numbers: a field that it cannot name appears as a number.
func TestPerfettoBySchema(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Log("left out: there is no protoc here (Debian: protobuf-compiler); the other tests read the same bytes with our own reader")
		return
	}
	m, err := machine.Parse("1n2c1t")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"../trace/testdata/tracefs-tgid.txt.gz", "../trace/testdata/perf-lost.data.gz", "../explain/testdata/6.1/forks/trace.txt.gz"}
	for _, path := range files {
		decoded := decode(t, protoc, exportFrom(t, open(t, path), "x.pftrace", Options{Format: Perfetto, Machine: m}))
		events := strings.Count(decoded, "\n    event {\n")
		want := int64(0)
		if err := trace.Each(open(t, path), func(e *trace.Event) error {
			if e.Kind != trace.KindLost {
				want++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if int64(events) != want {
			t.Errorf("%s: protoc sees %d events, want %d", path, events, want)
		}
	}
	decoded := decode(t, protoc, export(t, recordingOfTwo, "x.pftrace", Options{Format: Perfetto, Machine: m}))
	for _, want := range []string{
		"sched_switch {\n        prev_comm: \"A\"\n        prev_pid: 1\n        prev_prio: 120\n        prev_state: 256\n        next_comm: \"B\"\n", // R+: 0x100
		"sched_waking {\n        comm: \"B\"\n        pid: 2\n        prio: 120\n        target_cpu: 0\n",
		"threads {\n      tid: 2\n      name: \"B\"\n      tgid: 2\n",
		"processes {\n      pid: 1\n      cmdline: \"A\"\n      cmdline_is_comm: true\n",
		"track_descriptor {\n    uuid: 2\n    name: \"CPU 0 queued\"\n    parent_uuid: 1\n    counter {\n      unit_name: \"threads\"\n",
		"track_event {\n    type: TYPE_COUNTER\n    track_uuid: 2\n    counter_value: 2\n",
	} {
		if !strings.Contains(decoded, want) {
			t.Errorf("protoc does not see\n%s", want)
		}
	}
}

var unnamed = regexp.MustCompile(`(?m)^\s*\d+(:| \{).*`)

func decode(t *testing.T, protoc string, content []byte) string {
	t.Helper()
	cmd := exec.Command(protoc, "--proto_path=testdata", "--decode=Trace", "testdata/perfetto.proto")
	cmd.Stdin = bytes.NewReader(content)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.1000s", err, out)
	}
	if field := unnamed.Find(out); field != nil {
		t.Errorf("protoc cannot name a field: %s", field)
	}
	return string(out)
}

// The process that a process forked is its child.
func TestProcessTree(t *testing.T) {
	const text = `# tracer: nop
  sh-7  (   7) [000] d....  1.000000000: sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=9
  ls-9  (   9) [001] d....  1.000000100: sched_process_exit: comm=ls pid=9 prio=120
`
	content := export(t, text, "x.pftrace", Options{Format: Perfetto})
	var parents []string
	eachField(t, content, func(_ protowire.Number, packet []byte, _ uint64) {
		eachField(t, packet, func(number protowire.Number, tree []byte, _ uint64) {
			if number != 2 { // process_tree
				return
			}
			eachField(t, tree, func(number protowire.Number, process []byte, _ uint64) {
				if number != 1 { // processes
					return
				}
				line := ""
				eachField(t, process, func(number protowire.Number, text []byte, n uint64) {
					line += fmt.Sprintf("%d=%d%s ", number, n, text)
				})
				parents = append(parents, line)
			})
		})
	})
	want := []string{"1=7 3=0sh 9=1 ", "1=9 2=7 3=0ls 9=1 "}
	if diff := cmp.Diff(want, parents); diff != "" {
		t.Error(diff)
	}
}
