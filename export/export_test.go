package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/trace"
)

// recordingOfTwo is a recording in which thread A of /web wakes B on its own CPU
// and both run and wait there, while CPU 1 idles. In ns, on CPU 0:
//
//	A runs  100..400, is preempted, waits 400..700 behind B, runs 700..900, sleeps 900..1000
//	B waits 200..400 behind A, runs 400..700, sleeps 700..1000
const recordingOfTwo = `# tracer: nop
               A-1       (      1) [000] d....     0.000000100: cgroup_attach_task: dst_root=0 dst_id=2 dst_level=1 dst_path=/web pid=1 comm=A
               A-1       (      1) [000] d....     0.000000200: sched_waking: comm=B pid=2 prio=120 target_cpu=000
               A-1       (      1) [000] d....     0.000000200: sched_wakeup: comm=B pid=2 prio=120 target_cpu=000
               A-1       (      1) [000] d....     0.000000400: sched_switch: prev_comm=A prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=B next_pid=2 next_prio=120
               B-2       (      2) [000] d....     0.000000700: sched_switch: prev_comm=B prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=A next_pid=1 next_prio=120
               A-1       (      1) [000] d....     0.000000900: sched_switch: prev_comm=A prev_pid=1 prev_prio=120 prev_state=D ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       (-------) [000] d....     0.000001000: idlestate: cpu=0 state=2
`

// export writes a recording and returns the bytes.
func export(t *testing.T, text, path string, o Options) []byte {
	t.Helper()
	return exportFrom(t, trace.NewTextReader(strings.NewReader(text)), path, o)
}

func exportFrom(t *testing.T, r trace.Reader, path string, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, path, r, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// records reads a CSV as maps of its non-empty fields.
func records(t *testing.T, content []byte) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		record := map[string]string{}
		for i, field := range line {
			if field != "" {
				record[lines[0][i]] = field
			}
		}
		out = append(out, record)
	}
	return out
}

// parquetRecords reads a Parquet with the library's generic reader, in the
// notation of CSV.
func parquetRecords(t *testing.T, content []byte) []map[string]string {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]trace.ColumnType{}
	for _, c := range eventColumns() {
		kinds[c.name] = c.kind
		if leaf, ok := file.Schema().Lookup(c.name); ok && c.kind == trace.ColumnHex && leaf.Node.Type().String() != "INT(64,false)" {
			t.Errorf("%s is %s in the file", c.name, leaf.Node.Type())
		}
	}
	reader := parquet.NewGenericReader[any](file, file.Schema())
	defer func() { _ = reader.Close() }()
	var out []map[string]string
	rows := make([]any, 100)
	for {
		n, err := reader.Read(rows)
		for _, row := range rows[:n] {
			record := map[string]string{}
			for name, value := range row.(map[string]any) {
				switch v := value.(type) {
				case nil:
				case int64: // also what the file says is unsigned
					record[name] = cell{set: true, number: v}.print(kinds[name])
				case string:
					record[name] = v
				case []byte:
					record[name] = string(v)
				case bool:
					record[name] = strconv.FormatBool(v)
				default:
					t.Fatalf("%s is a %T", name, value)
				}
			}
			out = append(out, record)
		}
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlices(t *testing.T) {
	got := records(t, export(t, recordingOfTwo, "x.csv", Options{Format: CSV, Table: Slices}))
	var lines []string
	for _, r := range got {
		line := r["comm"] + " " + r["state"] + " " + r["start_ns"] + "+" + r["duration_ns"] + " after it " + r["after"]
		for _, name := range []string{"cgroup", "sleep", "waker_comm", "behind_comm", "behind_ns"} {
			if r[name] != "" {
				line += " " + name + "=" + r[name]
			}
		}
		lines = append(lines, line)
	}
	want := []string{
		"A running 100+300 after it waiting cgroup=/web",
		"B waiting 200+200 after it running waker_comm=A behind_comm=A behind_ns=200",
		"B running 400+300 after it asleep",
		"A waiting 400+300 after it running cgroup=/web behind_comm=B behind_ns=300",
		"A running 700+200 after it asleep cgroup=/web",
		"swapper/0 running 900+100 after it unseen",
		"A asleep 900+100 after it unseen cgroup=/web sleep=D",
		"B asleep 700+300 after it unseen sleep=S",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// Every event of every kind that recordings have is in the table, with all its
// fields, and CSV and Parquet hold the same.
func TestEventsInTables(t *testing.T) {
	for _, name := range []string{"tracefs.txt.gz", "tracefs-tgid.txt.gz", "perf-sched.data.gz", "trace-cmd-v7-zstd.dat"} {
		path := filepath.Join("..", "trace", "testdata", name)
		asCSV := records(t, exportFrom(t, open(t, path), "x.csv", Options{Format: CSV}))
		asParquet := parquetRecords(t, exportFrom(t, open(t, path), "x.parquet", Options{Format: Parquet}))
		if diff := cmp.Diff(asCSV, asParquet); diff != "" {
			t.Errorf("%s: CSV and Parquet differ: %.2000s", name, diff)
		}
		checkEvents(t, open(t, path), asCSV)
	}
}

func open(t *testing.T, path string) trace.Reader {
	t.Helper()
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func checkEvents(t *testing.T, r trace.Reader, rows []map[string]string) {
	t.Helper()
	i := 0
	err := trace.Each(r, func(e *trace.Event) error {
		row := rows[i]
		i++
		if row["time_ns"] != strconv.FormatInt(e.Time, 10) || row["common_cpu"] != strconv.Itoa(int(e.CPU)) {
			t.Fatalf("row %d: %v; want time %d, CPU %d", i, row, e.Time, e.CPU)
		}
		for _, c := range trace.Columns() {
			value, known := e.Value(c.Name)
			if known != (row[c.Name] != "") {
				t.Fatalf("row %d (%s): %s is %q, known in the event: %v", i, row["event"], c.Name, row[c.Name], known)
			}
			if known && c.Type == trace.ColumnInt && row[c.Name] != strconv.FormatInt(value, 10) {
				t.Fatalf("row %d (%s): %s is %s, want %d", i, row["event"], c.Name, row[c.Name], value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if i != len(rows) || i == 0 {
		t.Errorf("%d rows of %d events", len(rows), i)
	}
}

// Masks of 64 CPUs do not fit a signed number.
func TestMasksStayUnsigned(t *testing.T) {
	const line = "# tracer: nop\n   A-1     [000] d....  1.000000000: sel: (select_task_rq_fair+0x0/0x1) prev=3 flags=0x8 pid=2 nallowed=64 allowed=0xffffffffffffffff\n"
	for _, rows := range [][]map[string]string{
		records(t, export(t, line, "x.csv", Options{Format: CSV})),
		parquetRecords(t, export(t, line, "x.parquet", Options{Format: Parquet})),
	} {
		if len(rows) != 1 || rows[0]["allowed"] != "0xffffffffffffffff" || rows[0]["prev"] != "3" || rows[0]["event"] != "sel" {
			t.Errorf("%v", rows)
		}
	}
}

// An empty recording is an empty table, not a broken file.
func TestNothingToExport(t *testing.T) {
	const empty = "# tracer: nop\n"
	for _, f := range Formats() {
		content := export(t, empty, "x", Options{Format: f})
		switch f {
		case CSV:
			if rows := records(t, content); len(rows) != 0 {
				t.Errorf("%v", rows)
			}
		case Parquet:
			if rows := parquetRecords(t, content); len(rows) != 0 {
				t.Errorf("%v", rows)
			}
		}
	}
}

func TestFormatOfPath(t *testing.T) {
	for path, want := range map[string]Format{
		"a.txt": Text, "a.TXT.gz": Text, "a.pftrace": Perfetto, "a.pprof": Profile, "a.csv.gz": CSV, "dir.x/a.parquet": Parquet,
	} {
		if got, err := FormatOfPath(path); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"a.pb.gz": "both called .pb", "a": "does not tell", "a.zip": `".zip" does not tell`} {
		if _, err := FormatOfPath(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}

// The same recording gives the same bytes, in every format.
func TestExportsAreDeterministic(t *testing.T) {
	m, err := machine.Parse("1n4c2t")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "trace", "testdata", "tracefs.txt.gz")
	for _, f := range Formats() {
		for _, table := range Tables() {
			o := Options{Format: f, Table: table, Machine: m}
			if !bytes.Equal(exportFrom(t, open(t, path), "x", o), exportFrom(t, open(t, path), "x", o)) {
				t.Errorf("%s of %s differs from run to run", f, table)
			}
		}
	}
}

// What cannot be written is said.
func TestAFullDisk(t *testing.T) {
	for _, f := range Formats() {
		r := open(t, filepath.Join("..", "trace", "testdata", "tracefs.txt.gz"))
		if err := Write(fullDisk{}, "x", r, Options{Format: f}); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }
