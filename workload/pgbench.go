package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// pgbench is pgbench -S of PostgreSQL 9.2 with its server (ipc-and-benchmarks.md
// 6.6): client threads that each look after some connections, and a process of
// the server per connection.
type pgbench struct {
	clients, threads int
	duration         int // seconds; 0: a number of transactions
	transactions     int // of each client; 0: not given
	scale            int
	mode             string
	selectOnly       bool
	ignored          bool
	stretch          Stretch
}

func newPgbench() *pgbench {
	return &pgbench{clients: 1, threads: 1, scale: 1, mode: "simple"}
}

const (
	defaultTransactions = 10
	maxPgClients        = 1024 // FD_SETSIZE
	maxPgScale          = 100_000
)

// Name implements [Benchmark].
func (b *pgbench) Name() string { return "pgbench" }

func (b *pgbench) options() []option {
	return []option{
		{"S", "", "", "SELECT only; the other scripts are not simulated", toBool(&b.selectOnly, true)},
		{"c", "", "NUM", "clients (1)", toInt(&b.clients, 1, maxPgClients)},
		{"j", "", "NUM", "threads, which share the clients evenly (1)", toInt(&b.threads, 1, maxPgClients)},
		{"T", "", "NUM", "seconds to run", toInt(&b.duration, 1, maxSeconds)},
		{"t", "", "NUM", "transactions of each client (10)", toInt(&b.transactions, 1, maxTransfer)},
		{"s", "", "NUM", "scale of the database: 15 MB each (1)", toInt(&b.scale, 1, maxPgScale)},
		{"M", "", "MODE", "simple or prepared (simple)", b.setMode},
		{"n", "", "", "no vacuum before the run: there is none", toBool(&b.ignored, true)},
		{"i", "", "", "not simulated", notSimulated("making a database: it is there in every scale, and -i")},
		{"f", "", "FILE", "not simulated", notSimulated("a script from a file")},
		{"N", "", "", "not simulated", notSimulated("a script that writes")},
		{"C", "", "", "not simulated", notSimulated("a connection for each transaction")},
		{"l", "", "", "not simulated", notSimulated("the log of transactions")},
		{"r", "", "", "not simulated", notSimulated("the report by command")},
		{"v", "", "", "not simulated", notSimulated("the vacuum of all tables")},
		{"D", "", "VAR=VALUE", "not simulated", notSimulated("a script from a file, and a variable for it,")},
		{"F", "", "NUM", "not simulated", notSimulated("another fill factor")},
		{"p", "", "PORT", "not simulated", notSimulated("another port")},
		{"U", "", "USER", "not simulated", notSimulated("another user")},
	}
}

func (b *pgbench) setMode(mode string) error {
	switch mode {
	case "simple", "prepared":
		b.mode = mode
		return nil
	case "extended":
		return notSimulated("extended query mode: choose simple or prepared, or")(mode)
	}
	return fmt.Errorf("%q is no query mode: choose simple or prepared", mode)
}

// check makes the tool's own checks, in its order.
func (b *pgbench) check() error {
	switch {
	case !b.selectOnly:
		return fmt.Errorf("the TPC-B script is not simulated: add -S")
	case b.clients%b.threads != 0:
		return fmt.Errorf("number of clients (%d) must be a multiple of number of threads (%d)", b.clients, b.threads)
	case b.transactions > 0 && b.duration > 0:
		return fmt.Errorf("specify either a number of transactions (-t) or a duration (-T), not both")
	}
	if b.transactions == 0 && b.duration == 0 {
		b.transactions = defaultTransactions
	}
	return nil
}

// SetStretch implements [Scalable]: a run of some time is that much shorter. A
// number of transactions is what it is.
func (b *pgbench) SetStretch(s Stretch) { b.stretch = s }

func (b *pgbench) shortened() bool {
	return b.duration > 0 && b.stretch.Given() && b.stretch.Warmup+b.stretch.Measure < int64(b.duration)*1e9
}

// The marks of a run.
const (
	pgStartMark     = 0
	pgConnectedMark = 1 // of the main thread
	pgEndMark       = 2
	pgFromMark      = 3 // what a stretch measures
	pgToMark        = 4
	pgMarks         = 5
)

// Report implements [Benchmark]. The text is what the tool prints on stdout.
func (b *pgbench) Report(obs *Observation) Report {
	ns, failure := obs.between(pgStartMark, pgEndMark)
	if failure != "" {
		return Report{Failure: failure}
	}
	if len(obs.Recorders) == 0 || obs.Recorders[0].Tally == 0 {
		return Report{Failure: "no transaction was completed: the run is too short"}
	}
	done := obs.Recorders[0].Tally
	including := float64(done) * 1e9 / float64(ns)
	excluding := float64(done) * 1e9 / float64(ns-(obs.Marks[pgConnectedMark]-obs.Marks[pgStartMark]))
	var notes []string
	if b.shortened() {
		from, to := obs.Marks[pgFromMark], obs.Marks[pgToMark]
		including = float64(done) * 1e9 / float64(to-from)
		excluding = including
		notes = []string{fmt.Sprintf("a run shorter than -T %d: %s", b.duration, b.stretch)}
	}
	return Report{Text: b.text(done, including, excluding), Notes: notes, Metrics: []Metric{
		{Statistic: "tps", Unit: "transactions/s", Better: "higher", Value: including},
	}}
}

func (b *pgbench) text(done int64, including, excluding float64) string {
	var text strings.Builder
	fmt.Fprintf(&text, "transaction type: SELECT only\nscaling factor: %d\nquery mode: %s\n", b.scale, b.mode)
	fmt.Fprintf(&text, "number of clients: %d\nnumber of threads: %d\n", b.clients, b.threads)
	count := strconv.FormatInt(done, 10)
	if b.duration > 0 {
		fmt.Fprintf(&text, "duration: %d s\n", b.duration)
	} else {
		fmt.Fprintf(&text, "number of transactions per client: %d\n", b.transactions)
		count = fmt.Sprintf("%d/%d", done, b.transactions*b.clients)
	}
	fmt.Fprintf(&text, "number of transactions actually processed: %s\n", count)
	fmt.Fprintf(&text, "tps = %f (including connections establishing)\n", including)
	fmt.Fprintf(&text, "tps = %f (excluding connections establishing)\n", excluding)
	return text.String()
}
