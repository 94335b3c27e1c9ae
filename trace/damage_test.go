package trace

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// damageFixtures is one recording for each reader and each way through it.
var damageFixtures = []string{
	"tracefs.txt.gz", "perf-sched.script.txt.gz", "trace-cmd.report.txt.gz",
	"trace-cmd-v6.dat.gz", "trace-cmd-v7-none.dat.gz", "trace-cmd-v7-zlib.dat", "trace-cmd-v7-zstd.dat",
	"perf-sched.data.gz", "perf-sched-zstd.data.gz", "perf-pipe.data.gz", "perf-pipe-zstd.data.gz", "perf-callgraph.data.gz",
	"compact.pftrace", writtenPerfetto,
}

// writtenPerfetto stands for tracefs.txt as this package writes it.
const writtenPerfetto = "(written)"

func damageInput(t testing.TB, name string) []byte {
	if name != writtenPerfetto {
		return fixtureBytes(t, name)
	}
	var out bytes.Buffer
	if err := Copy(&out, openFixture(t, "tracefs.txt.gz"), OutputPerfetto); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outcome is what reading a damaged copy gave.
type outcome struct {
	refused bool // with an error, at once
	events  int64
	clean   bool
	unknown []Count
}

// readDamaged reads a copy to its end; it fails the test for memory beyond twice
// the input and 64 MiB (all that was ever allocated is counted, which is more than
// what was held at once) and for time.
func readDamaged(t *testing.T, content []byte, what string) outcome {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	o := readOutcome(t, content, what)
	runtime.ReadMemStats(&after)
	const allowance = 64 << 20
	if used := after.TotalAlloc - before.TotalAlloc; used > 2*uint64(len(content))+allowance {
		t.Errorf("%s: %d MiB allocated for an input of %d KiB", what, used>>20, len(content)>>10)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%s: took %v", what, took)
	}
	return o
}

func readOutcome(t *testing.T, content []byte, what string) outcome {
	t.Helper()
	r, err := openBytes(content)
	if err != nil {
		return outcome{refused: true}
	}
	limit := int64(len(content)) // no format has an event in less than a byte
	var e Event
	for n := int64(0); ; n++ {
		err := r.Next(&e)
		if err != nil {
			if !isEOF(err) {
				return outcome{refused: true}
			}
			break
		}
		if n > limit {
			t.Fatalf("%s: more events than bytes", what)
		}
	}
	s := r.Stats()
	return outcome{events: s.Events, clean: s.Clean() && s.Warning == nil, unknown: s.Unknown()}
}

// The ways in which mutate damages a copy.
const (
	damageBit = iota
	damageByte
	damageZeros
	damageCut
	damageHole
	damageTwice
	damageKinds
)

// mutate damages a copy in one of the ways in which files get damaged.
func mutate(rng *rand.Rand, content []byte) (out []byte, how int) {
	out = slices.Clone(content)
	at := rng.IntN(len(out))
	how = rng.IntN(damageKinds)
	stretch := min(at+1+rng.IntN(200), len(out))
	switch how {
	case damageBit:
		out[at] ^= 1 << rng.IntN(8)
	case damageByte:
		out[at] = byte(rng.IntN(256))
	case damageZeros:
		clear(out[at:stretch])
	case damageCut:
		out = out[:at]
	case damageHole:
		out = slices.Delete(out, at, stretch)
	case damageTwice:
		out = slices.Insert(out, at, out[at:stretch]...)
	}
	return out, how
}

// uncounted is the printed form of recordings that say nowhere how many lines they
// have. When a piece is missing or doubled there, and the two ends happen to make
// a sound line, nothing in the file shows it.
var uncounted = []string{"perf-sched.script.txt.gz", "trace-cmd.report.txt.gz"}

// mutatedCopies is how many damaged copies of each fixture are read.
const mutatedCopies = 1000

// No copy may crash, hang or take much memory. And none may lie: it gives the
// number of events of the whole file, or says that something is wrong.
func TestDamagedCopies(t *testing.T) {
	for _, name := range damageFixtures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := damageInput(t, name)
			whole := readOutcome(t, content, "undamaged")
			if whole.refused || whole.events == 0 {
				t.Fatal("the undamaged recording is not read")
			}
			rng := rand.New(rand.NewPCG(7, uint64(len(content))))
			for i := range mutatedCopies {
				damaged, how := mutate(rng, content)
				o := readOutcome(t, damaged, name)
				if o.refused || !o.clean || o.events == whole.events || !slices.Equal(o.unknown, whole.unknown) {
					continue
				}
				if slices.Contains(uncounted, name) && (how == damageHole || how == damageTwice || how == damageCut && endsAtLine(damaged)) {
					continue
				}
				t.Errorf("copy %d: %d events, not %d, and no warning", i, o.events, whole.events)
			}
		})
	}
}

func endsAtLine(text []byte) bool { return len(text) > 0 && text[len(text)-1] == '\n' }

// A few copies of each, one at a time, for memory.
func TestDamagedCopiesMemory(t *testing.T) {
	for _, name := range damageFixtures {
		content := damageInput(t, name)
		rng := rand.New(rand.NewPCG(11, uint64(len(content))))
		for range 20 {
			damaged, _ := mutate(rng, content)
			readDamaged(t, damaged, name)
		}
	}
}

func fuzzReader(f *testing.F, fixtures ...string) {
	for _, name := range fixtures {
		content := damageInput(f, name)
		f.Add(content[:min(len(content), 16<<10)])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		readOutcome(t, content, "fuzz")
	})
}

func FuzzText(f *testing.F) {
	fuzzReader(f, "tracefs.txt.gz", "perf-sched.script.txt.gz", "tracefs-latency.txt.gz", "trace-pipe-lost.txt.gz")
}

func FuzzTraceDat(f *testing.F) {
	fuzzReader(f, "trace-cmd-v7-zstd.dat", "trace-cmd-v7-zlib.dat", "trace-cmd-v6.dat.gz")
}

func FuzzPerfData(f *testing.F) {
	fuzzReader(f, "perf-sched.data.gz", "perf-pipe.data.gz", "perf-pipe-zstd.data.gz")
}

func FuzzPerfetto(f *testing.F) { fuzzReader(f, "compact.pftrace", writtenPerfetto) }
