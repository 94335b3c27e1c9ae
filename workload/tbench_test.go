package workload

import "testing"

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
