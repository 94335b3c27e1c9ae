package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodedTile is a tile as the page reads it.
type decodedTile struct {
	Flags, Rows, Buckets         uint32
	Key                          []uint32
	Busy, Lost, Depth            []byte
	First                        []uint32
	Start                        []float64
	Value                        []uint32
	Time                         []float64
	Row, Wakee, Waker, CPU, From []uint32
}

// tileDecoder is the slow twin of web/tile.ts.
type tileDecoder struct {
	data []byte
	at   int
}

func (d *tileDecoder) u32(n uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(d.data[d.at:])
		d.at += 4
	}
	return out
}

func (d *tileDecoder) f64(n uint32) []float64 {
	if d.at%8 != 0 {
		panic(fmt.Sprintf("numbers of 8 bytes begin at %d", d.at))
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(d.data[d.at:]))
		d.at += 8
	}
	return out
}

func (d *tileDecoder) bytes(n uint32) []byte {
	d.at += int(n)
	return d.data[d.at-int(n) : d.at]
}

func (d *tileDecoder) align() { d.at = (d.at + 7) &^ 7 }

func decodeTile(t *testing.T, data []byte) *decodedTile {
	t.Helper()
	d := tileDecoder{data: data}
	if string(data[:4]) != "SLT1" {
		t.Fatalf("the tile begins with %q", data[:4])
	}
	head := d.u32(4)
	out := &decodedTile{Flags: head[1], Rows: head[2], Buckets: head[3]}
	n := out.Rows * out.Buckets
	out.Key, out.Busy, out.Lost, out.Depth = d.u32(n), d.bytes(n), d.bytes(n), d.bytes(n)
	if out.Flags&tileHasSteps != 0 {
		out.First = d.u32(out.Rows + 1)
		d.align()
		total := out.First[out.Rows]
		out.Start, out.Value = d.f64(total), d.u32(total)
	}
	if out.Flags&tileHasWakes != 0 {
		d.align()
		count := d.u32(2)[0]
		out.Time = d.f64(count)
		out.Row, out.Wakee, out.Waker, out.CPU, out.From = d.u32(count), d.u32(count), d.u32(count), d.u32(count), d.u32(count)
	}
	if d.at != len(data) {
		t.Errorf("%d bytes are left behind the tile", len(data)-d.at)
	}
	return out
}

func request(t *testing.T, query string) *tileRequest {
	t.Helper()
	form, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	q, err := parseTileRequest(form)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestTileOfSmallTrace(t *testing.T) {
	r := build(t, smallTrace)
	data, err := r.tile(request(t, "mode=cpu&level=10&index=0&rows=0-1"))
	if err != nil {
		t.Fatal(err)
	}
	got := decodeTile(t, data)
	// Buckets of 1024 ns. CPU 0 runs a (task 1) up to 30000 ns: 29 whole buckets,
	// and 304 ns of bucket 29, then b (task 3) for 720 ns; b ends at 60000 =
	// 58 * 1024 + 608, so bucket 58 is busy for 608/1024 = 151/255.
	at := func(row, bucket int) int { return row*tileBuckets + bucket }
	for _, c := range []struct {
		row, bucket       int
		key               uint32
		busy, lost, depth byte
	}{
		{0, 0, 1, 255, 0, 1},
		{0, 28, 1, 255, 0, 2},
		{0, 29, 3, 255, 0, 2},
		{0, 58, 3, 151, 0, 1},
		{0, 60, nobody, 0, 0, 0}, // idle, and nobody waits
		{1, 20, 0, 0, 255, 0},    // idle while b waits on CPU 0
		{1, 39, 1, 239, 0, 1},    // a from 40000: 960 of 1024 ns
		{1, 200, nobody, 0, 0, 0},
	} {
		i := at(c.row, c.bucket)
		key := got.Key[i]
		if c.busy == 0 {
			key = c.key // means nothing there
		}
		if key != c.key || got.Busy[i] != c.busy || got.Lost[i] != c.lost || got.Depth[i] != c.depth {
			t.Errorf("row %d, bucket %d: key %d, busy %d, lost %d, depth %d; want %+v", c.row, c.bucket, got.Key[i], got.Busy[i], got.Lost[i], got.Depth[i], c)
		}
	}
	if got.Flags != tileHasSteps|tileHasWakes || got.Rows != 2 || got.Buckets != tileBuckets {
		t.Errorf("flags %d, %d rows, %d buckets; want steps and wakeups of 2 rows, %d buckets", got.Flags, got.Rows, got.Buckets, tileBuckets)
	}
	got.Key, got.Busy, got.Lost, got.Depth = nil, nil, nil, nil
	want := &decodedTile{
		Flags: got.Flags, Rows: 2, Buckets: tileBuckets,
		First: []uint32{0, 3, 6}, Start: []float64{0, 30000, 60000, 0, 40000, 70000}, Value: []uint32{1, 3, 0, 0, 1, 0},
		Time: []float64{9000}, Row: []uint32{0}, Wakee: []uint32{3}, Waker: []uint32{1}, CPU: []uint32{0}, From: []uint32{0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A tile begins with the step that is under way, and wakeups lie in the row of
// the task where tasks are rows.
func TestTileOfTasks(t *testing.T) {
	r := build(t, smallTrace)
	data, err := r.tile(request(t, "mode=task&level=5&index=1&rows=3,1")) // 8192 to 16383 ns
	if err != nil {
		t.Fatal(err)
	}
	got := decodeTile(t, data)
	if !slices.Equal(got.Start, []float64{10000, 0}) || !slices.Equal(got.Value, []uint32{taskValue(runnable, 0), taskValue(running, 0)}) {
		t.Errorf("steps %v, %v; want b waiting from 10000, a running from 0", got.Start, got.Value)
	}
	if !slices.Equal(got.Row, []uint32{0}) || !slices.Equal(got.Time, []float64{9000}) {
		t.Errorf("wakeups in rows %v at %v, want one in row 0 at 9000", got.Row, got.Time)
	}
}

// Beyond their limits steps and wakeups are left out; summaries are always there.
func TestFullTileHasSummariesOnly(t *testing.T) {
	var text strings.Builder
	for i := range maxTileSteps + 10 {
		at := fmt.Sprintf("%d.%06d", 100+i/1_000_000, i)
		fmt.Fprintf(&text, "  a-1 [000] d.... %s: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000\n", at)
		prev, next := "prev_comm=a prev_pid=1 prev_prio=120 prev_state=R", "next_comm=b next_pid=2 next_prio=120"
		if i%2 == 1 {
			prev, next = "prev_comm=b prev_pid=2 prev_prio=120 prev_state=S", "next_comm=a next_pid=1 next_prio=120"
		}
		fmt.Fprintf(&text, "  a-1 [000] d.... %s: sched_switch: %s ==> %s\n", at, prev, next)
	}
	r := build(t, text.String())
	for query, want := range map[string]uint32{
		"mode=cpu&level=20&index=0&rows=0": 0,
		"mode=cpu&level=5&index=0&rows=0":  tileHasSteps | tileHasWakes,
	} {
		data, err := r.tile(request(t, query))
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeTile(t, data); got.Flags != want || got.Busy[0] != 255 {
			t.Errorf("%s: flags %d, busy %d; want %d, 255", query, got.Flags, got.Busy[0], want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		ns    int64
		level int
		want  byte
	}{{0, 10, 0}, {1, 10, 1}, {512, 10, 127}, {1024, 10, 255}, {1 << 49, 50, 127}, {1 << 50, 50, 255}} {
		if got := share(c.ns, c.level); got != c.want {
			t.Errorf("%d ns of 2^%d are %d, want %d", c.ns, c.level, got, c.want)
		}
	}
}

func TestWrongTileRequests(t *testing.T) {
	const good = "mode=cpu&level=10&index=0&rows=0"
	for _, c := range []struct{ change, want string }{
		{"mode=disk", "choose cpu or task"},
		{"level=-1", "from 0 to 50"},
		{"level=51", "from 0 to 50"},
		{"index=-1", "within 2^62 ns"},
		{"index=9223372036854775807", "within 2^62 ns"},
		{"rows=", "numbers and ranges"},
		{"rows=3-1", "numbers and ranges"},
		{"rows=1,,2", "numbers and ranges"},
		{"rows=0-4000000000", "numbers and ranges"},
		{"rows=0-2000000000", "more than 128"},
		{"rows=0-100,0-100", "more than 128"},
	} {
		form, err := url.ParseQuery(good)
		if err != nil {
			t.Fatal(err)
		}
		name, text, _ := strings.Cut(c.change, "=")
		form.Set(name, text)
		if _, err := parseTileRequest(form); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.change, err, c.want)
		}
	}
	if q := request(t, "mode=task&level=3&index=7&rows=5,1-3"); !slices.Equal(q.rows, []int{5, 1, 2, 3}) || q.start() != 7*256*8 || q.kind != taskRows {
		t.Errorf("%+v starts at %d, want rows 5 1 2 3 of tasks from 7 * 256 * 2^3", q, q.start())
	}
}

// FuzzTileRequest: whatever a request says, it is refused or answered with a
// tile of the rows that it names; nothing panics, and no answer is large.
func FuzzTileRequest(f *testing.F) {
	for _, seed := range []string{
		"mode=cpu&level=10&index=0&rows=0-1", "mode=task&level=0&index=3&rows=3,1", "mode=cpu&level=50&index=1&rows=0",
		"mode=cpu&level=50&index=16383&rows=0", "mode=task&level=12&index=4398046511103&rows=0-3", "mode=&level=&index=&rows=", "rows=1-,%zz",
	} {
		f.Add(seed)
	}
	reader := smallTrace
	f.Fuzz(func(t *testing.T, query string) {
		form, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q, err := parseTileRequest(form)
		if err != nil {
			return
		}
		if len(q.rows) == 0 || len(q.rows) > maxTileRows || q.start() < 0 || q.start()+q.span() < q.start() {
			t.Fatalf("%q was taken for %+v", query, q)
		}
		data, err := build(t, reader).tile(q)
		if err != nil {
			return
		}
		if got := decodeTile(t, data); int(got.Rows) != len(q.rows) {
			t.Fatalf("%q: %d rows, want %d", query, got.Rows, len(q.rows))
		}
	})
}
