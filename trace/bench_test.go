package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// benchEvents is about how many events the large recordings have.
const benchEvents = 300_000

// benchReader reads content again and again and reports the speed.
func benchReader(b *testing.B, content []byte) {
	b.Helper()
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	var events int64
	for b.Loop() {
		r, err := openBytes(content)
		if err != nil {
			b.Fatal(err)
		}
		var e Event
		for err = r.Next(&e); err == nil; err = r.Next(&e) {
			events++
		}
		if !errors.Is(err, io.EOF) || r.Stats().Unreadable > 0 {
			b.Fatalf("%v\n%s", err, r.Stats())
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func BenchmarkText(b *testing.B) {
	content := fixtureBytes(b, "tracefs.txt.gz")
	benchReader(b, bytes.Repeat(content, benchEvents/317))
}

func BenchmarkPerfScript(b *testing.B) {
	content := fixtureBytes(b, "perf-sched.script.txt.gz")
	benchReader(b, bytes.Repeat(content, benchEvents/471))
}

func BenchmarkTraceDat(b *testing.B) {
	benchReader(b, longTraceDat(b, fixtureBytes(b, "trace-cmd-v6.dat.gz"), benchEvents/317))
}

func BenchmarkPerfData(b *testing.B) {
	benchReader(b, longPerfData(fixtureBytes(b, "perf-sched.data.gz"), benchEvents/471))
}

func BenchmarkPerfetto(b *testing.B) {
	var out bytes.Buffer
	long := bytes.Repeat(fixtureBytes(b, "tracefs.txt.gz"), benchEvents/317)
	if err := Copy(&out, NewTextReader(bytes.NewReader(long)), OutputPerfetto); err != nil {
		b.Fatal(err)
	}
	benchReader(b, out.Bytes())
}

func benchWriter(b *testing.B, newWriter func(*Names) Writer) {
	r := openFixture(b, "tracefs.txt.gz")
	events := readEvents(b, r)
	w := newWriter(r.Names())
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range events {
			if err := w.Write(&events[i]); err != nil {
				b.Fatal(err)
			}
		}
		n += len(events)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func BenchmarkWriteText(b *testing.B) {
	benchWriter(b, func(n *Names) Writer { return NewTextWriter(io.Discard, n, TextOptions{}) })
}

func BenchmarkWritePerfetto(b *testing.B) {
	benchWriter(b, func(n *Names) Writer { return NewPerfettoWriter(io.Discard, n, PerfettoOptions{}) })
}

// longTraceDat repeats the pages of every CPU, each repetition later than the one
// before, and drops the options, whose account of entries would no longer hold.
func longTraceDat(t testing.TB, content []byte, times int) []byte {
	t.Helper()
	const entry = 16 // offset and size of a CPU's data
	at := bytes.Index(content, []byte("options  \x00"))
	table := bytes.Index(content, []byte("flyrecord\x00"))
	if at < 0 || table < 0 {
		t.Fatal("no data in the fixture")
	}
	out := append(bytes.Clone(content[:at]), "flyrecord\x00"...)
	cpus := int(binary.LittleEndian.Uint32(content[at-4:]))
	entries := content[table+10 : table+10+cpus*entry]
	dataStart := (len(out) + cpus*entry + 4095) &^ 4095
	var data []byte
	for cpu := range cpus {
		offset := binary.LittleEndian.Uint64(entries[cpu*entry:])
		pages := content[offset : offset+binary.LittleEndian.Uint64(entries[cpu*entry+8:])]
		start := len(data)
		for i := range times {
			data = append(data, laterPages(pages, int64(i))...)
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(dataStart+start))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(data)-start))
	}
	return append(append(out, make([]byte, dataStart-len(out))...), data...)
}

// repeatEvery is longer than any fixture, in ns.
const repeatEvery = 1_000_000_000

func laterPages(pages []byte, n int64) []byte {
	out := bytes.Clone(pages)
	for p := 0; p+4096 <= len(out); p += 4096 {
		stamp := binary.LittleEndian.Uint64(out[p:])
		binary.LittleEndian.PutUint64(out[p:], stamp+uint64(n*repeatEvery))
	}
	return out
}

// longPerfData repeats the samples of a perf.data, each repetition later than the
// one before. What perf records once, at the beginning, is not repeated.
func longPerfData(content []byte, times int) []byte {
	const dataOffsetAt, dataSizeAt = 40, 48
	order := binary.LittleEndian
	offset, size := order.Uint64(content[dataOffsetAt:]), order.Uint64(content[dataSizeAt:])
	data := content[offset : offset+size]
	out := bytes.Clone(content[:offset])
	for i := range times {
		out = append(out, laterSamples(data, uint64(i)*repeatEvery)...)
	}
	grown := uint64(len(out)) - offset
	order.PutUint64(out[dataSizeAt:], grown)
	tail := bytes.Clone(content[offset+size:])
	// The table of features holds offsets of what follows it.
	for f := 0; f < len(tail)/16 && order.Uint64(tail[16*f:]) >= offset+size && order.Uint64(tail[16*f:]) < uint64(len(content)); f++ {
		order.PutUint64(tail[16*f:], order.Uint64(tail[16*f:])+grown-size)
	}
	return append(out, tail...)
}

func laterSamples(data []byte, by uint64) []byte {
	const timeInSample = 32 // behind identifier, ip and tid
	var out []byte
	for at := 0; at+recordHeader <= len(data); {
		kind, size := binary.LittleEndian.Uint32(data[at:]), int(binary.LittleEndian.Uint16(data[at+6:]))
		record := data[at : at+size]
		at += size
		if by > 0 && kind != perfSample && kind != perfFinishedRound {
			continue
		}
		out = append(out, record...)
		if kind == perfSample {
			stamp := out[len(out)-size+timeInSample:]
			binary.LittleEndian.PutUint64(stamp, binary.LittleEndian.Uint64(stamp)+by)
		}
	}
	return out
}

// The benchmarks' inputs must be what they are taken for.
func TestLongRecordings(t *testing.T) {
	const times = 3
	for _, c := range []struct {
		content []byte
		want    int64
	}{
		{longTraceDat(t, fixtureBytes(t, "trace-cmd-v6.dat.gz"), times), 317 * times},
		{longPerfData(fixtureBytes(t, "perf-sched.data.gz"), times), 471 * times},
	} {
		r, err := openBytes(c.content)
		if err != nil {
			t.Fatal(err)
		}
		readEvents(t, r)
		s := r.Stats()
		if s.Events != c.want || s.Reordered > 0 || s.Warning != nil {
			t.Errorf("want %d events in order:\n%s", c.want, s)
		}
	}
}
