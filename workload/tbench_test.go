package workload

import (
	"slices"
	"strconv"
	"testing"
)

// The 200 operations have the means of client-tiny's 3573 (ipc-and-benchmarks.md
// 6.4): 2252 bytes sent, 3283 received, 5351 counted; reads of 11859 bytes and
// writes of 25451 in the mean, and the shares of the kinds.
func TestTbenchLoad(t *testing.T) {
	load := tbenchLoad()
	var sent, reply, payload, read, written int64
	kinds := [len(tbenchKinds)]int64{}
	for _, op := range load {
		sent, reply, payload = sent+op.sent, reply+op.reply, payload+op.payload
		kinds[op.kind]++
		switch op.kind {
		case opReadX:
			read += op.payload
		case opWriteX:
			written += op.payload
		}
	}
	n := int64(len(load))
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"operations", n, 200}, {"sent", sent / n, 2252}, {"received", reply / n, 3283}, {"counted", payload / n, 5351},
		{"a read", read / kinds[opReadX], 11859}, {"a write", written / kinds[opWriteX], 25451},
	} {
		if off := 100 * (c.got - c.want) / c.want; off > 1 || off < -1 {
			t.Errorf("%s: %d, want %d within 1 %%", c.what, c.got, c.want)
		}
	}
	for kind, permille := range map[int]int64{
		opReadX: 269, opNTCreateX: 172, opQueryPath: 163, opClose: 126, opWriteX: 85, opFindFirst: 60, opUnlink: 35,
		opQueryFS: 29, opQueryFile: 27, opSetFile: 14, opFlush: 12, opRename: 7, opLockX: 1,
	} {
		if off := 1000*kinds[kind]/n - permille; off > 5 || off < -5 {
			t.Errorf("%s: %d of %d operations, want %d of 1000", tbenchKinds[kind], kinds[kind], n, permille)
		}
	}
}

// 6.4: of 962 reads 644 are of 4096 bytes and 129 of 61440, of 303 writes 96 are of
// 65536, 77 of 4096 and 57 of one byte; here within 2.5 % of all reads or writes.
func TestTbenchTransfers(t *testing.T) {
	sizes := map[[2]int64]int64{}
	all := map[int]int64{}
	for _, op := range tbenchLoad() {
		sizes[[2]int64{int64(op.kind), op.payload}]++
		all[op.kind]++
	}
	for _, c := range []struct {
		kind        int
		bytes       int64
		share, from int64
	}{
		{opReadX, 4096, 644, 962}, {opReadX, 61440, 129, 962},
		{opWriteX, 65536, 96, 303}, {opWriteX, 4096, 77, 303}, {opWriteX, 1, 57, 303},
	} {
		got, want := 1000*sizes[[2]int64{int64(c.kind), c.bytes}]/all[c.kind], 1000*c.share/c.from
		if off := got - want; off > 25 || off < -25 {
			t.Errorf("%s of %d bytes: %d of 1000, want %d", tbenchKinds[c.kind], c.bytes, got, want)
		}
	}
}

// 6.4: what client and server send for each operation, beside the file's data.
func TestTbenchSizes(t *testing.T) {
	want := map[int][2]int64{
		opReadX: {59, 59}, opNTCreateX: {155, 87}, opQueryPath: {137, 71}, opClose: {47, 39}, opWriteX: {59, 55},
		opUnlink: {125, 39}, opQueryFS: {59, 71}, opQueryFile: {59, 71}, opSetFile: {71, 47}, opFlush: {41, 39},
		opRename: {214, 39}, opLockX: {51, 39},
	}
	var found, finds int64
	for _, op := range tbenchLoad() {
		sent, reply := op.sent, op.reply
		switch op.kind {
		case opReadX:
			reply -= op.payload
		case opWriteX:
			sent -= op.payload
		case opFindFirst:
			if sent != 116 || (reply-39)%90 != 0 {
				t.Errorf("FIND_FIRST sends %d and gets %d bytes, want 116 and 39 with 90 an entry", sent, reply)
			}
			found, finds = found+reply, finds+1
			continue
		}
		if got := [2]int64{sent, reply}; got != want[op.kind] {
			t.Errorf("%s sends and gets %v bytes, want %v", tbenchKinds[op.kind], got, want[op.kind])
		}
		if data := op.kind == opReadX || op.kind == opWriteX; data != (op.payload > 0) {
			t.Errorf("%s counts %d bytes of data", tbenchKinds[op.kind], op.payload)
		}
	}
	if mean := found / finds; mean < 512 || mean > 522 {
		t.Errorf("a directory's answer has %d bytes in the mean, want 517 within 1 %%", mean)
	}
}

// W8: a read of 4096 bytes. The client sends 59; the server reads 4 and 55, sends
// 4155; the client reads 4 and throws 4151 away.
func TestW8StepsOfARead(t *testing.T) {
	load := []tbenchOp{readX(4096)}
	for name, c := range map[string]struct {
		p    Program
		want []string
	}{
		"client": {tbClientProgram(0, load), []string{"write 59", "read 4", "read 4151 nocopy"}},
		"server": {tbServerProgram(0, load), []string{"read 4", "read 55", "write 4155"}},
	} {
		var got []string
		for _, in := range c.p {
			if in.N == tbHelloBytes || in.Chan == tbListen {
				continue
			}
			text := ""
			switch in.Op {
			case OpRead:
				text = "read " + strconv.FormatInt(in.N, 10)
			case OpWrite:
				text = "write " + strconv.FormatInt(in.N, 10)
			default:
				continue
			}
			if in.Slot&NoCopy != 0 {
				text += " nocopy"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTbenchOutput(t *testing.T) {
	obs := &Observation{Marks: []int64{0, 1e9, 11e9}, Recorders: make([]Recorder, tbBytes+1)}
	for _, us := range []int64{10, 20, 33} {
		obs.Recorders[opClose].Samples.Add(us)
	}
	obs.Recorders[opReadX].Samples.Add(1234)
	obs.Recorders[tbBytes].Tally = 2_879_000_000
	r := mustBenchmark(t, "tbench -t 10 2").Report(obs)
	want := `dbench version 4.00 - Copyright Andrew Tridgell 1999-2004

Running for 10 seconds with load 'client.txt' and minimum warmup 2 secs
2 of 2 processes prepared for launch   0 sec
releasing clients

 Operation                Count    AvgLat    MaxLat
 --------------------------------------------------
 Close                        3     0.021     0.033
 ReadX                        1     1.234     1.234

Throughput 287.9 MB/sec  2 clients  2 procs  max_latency=1.234 ms
`
	if r.Text != want {
		t.Errorf("prints\n%s\nwant\n%s", r.Text, want)
	}
	if len(r.Metrics) != 2 || r.Metrics[0].Value != 287.9 || r.Metrics[1].Value != 1.234 {
		t.Errorf("metrics %+v, want 287.9 MB/s and 1.234 ms", r.Metrics)
	}
}
