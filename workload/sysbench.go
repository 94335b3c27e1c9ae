package workload

import (
	"fmt"
	"math"
	"strings"
)

// sysbench is the OLTP part of sysbench 1.0 with its server (ipc-and-benchmarks.md
// 6.7): threads that send one statement after the other over connections of
// their own, to a thread (MySQL) or a process (PostgreSQL) each.
type sysbench struct {
	script, command string
	driver          string
	threads         int
	duration        int // seconds; 0: until the events are done
	events          int // of all threads; 0: no limit
	percentile      int
	tables, rows    int
	mix             sysbenchMix
	skipTransaction string
	ignored         string
	stretch         Stretch
}

// sysbenchMix is how many statements of each kind a transaction has.
type sysbenchMix struct {
	points, ranges, sums, orders, distincts, rangeSize int
	indexUpdates, otherUpdates, deleteInserts          int
	rangeSelects                                       string
}

func newSysbench() *sysbench {
	return &sysbench{
		driver: "mysql", threads: 1, duration: 10, percentile: 95, tables: 1, rows: 10_000,
		mix: sysbenchMix{points: 10, ranges: 1, sums: 1, orders: 1, distincts: 1, rangeSize: 100,
			indexUpdates: 1, otherUpdates: 1, deleteInserts: 1, rangeSelects: "on"},
		skipTransaction: "off",
	}
}

const (
	maxSysbenchThreads    = 1024
	maxSysbenchStatements = 1000
	maxSysbenchRows       = 1_000_000_000
)

// Name implements [Benchmark].
func (b *sysbench) Name() string { return "sysbench" }

func (b *sysbench) options() []option {
	return []option{
		{"", "threads", "N", "threads, each with its connection (1)", toInt(&b.threads, 1, maxSysbenchThreads)},
		{"", "time", "N", "seconds to run, 0: until --events (10)", toInt(&b.duration, 0, maxSeconds)},
		{"", "events", "N", "transactions of all threads, 0: until --time (0)", toInt(&b.events, 0, maxTransfer)},
		{"", "db-driver", "NAME", "mysql or pgsql (mysql)", oneOf(&b.driver, "mysql", "pgsql")},
		{"", "percentile", "N", "of the latencies, 1 to 100, 0: none (95)", toInt(&b.percentile, 0, 100)},
		{"", "tables", "N", "tables, which threads choose among (1)", toInt(&b.tables, 1, maxSysbenchRows)},
		{"", "table-size", "N", "rows of a table (10000)", toInt(&b.rows, 1, maxSysbenchRows)},
		{"", "range-size", "N", "rows of a range (100)", toInt(&b.mix.rangeSize, 1, maxSysbenchStatements)},
		{"", "range-selects", "on|off", "ranges at all (on)", oneOf(&b.mix.rangeSelects, "on", "off")},
		{"", "point-selects", "N", "selects of one row (10)", toInt(&b.mix.points, 0, maxSysbenchStatements)},
		{"", "simple-ranges", "N", "selects of a range (1)", toInt(&b.mix.ranges, 0, maxSysbenchStatements)},
		{"", "sum-ranges", "N", "sums over a range (1)", toInt(&b.mix.sums, 0, maxSysbenchStatements)},
		{"", "order-ranges", "N", "sorted ranges (1)", toInt(&b.mix.orders, 0, maxSysbenchStatements)},
		{"", "distinct-ranges", "N", "sorted ranges without doubles (1)", toInt(&b.mix.distincts, 0, maxSysbenchStatements)},
		{"", "index-updates", "N", "updates of an indexed column (1)", toInt(&b.mix.indexUpdates, 0, maxSysbenchStatements)},
		{"", "non-index-updates", "N", "updates of another column (1)", toInt(&b.mix.otherUpdates, 0, maxSysbenchStatements)},
		{"", "delete-inserts", "N", "deletes, each with an insert (1)", toInt(&b.mix.deleteInserts, 0, maxSysbenchStatements)},
		{"", "skip-trx", "on|off", "statements without BEGIN and COMMIT (off)", oneOf(&b.skipTransaction, "on", "off")},
		{"", "db-ps-mode", "auto", "prepared statements; the other form is not simulated", oneOf(&b.ignored, "auto")},
		{"", "mysql-socket", "PATH", "where the server listens: a UNIX socket in any case", toText(&b.ignored)},
		{"", "mysql-db", "NAME", "read and ignored", toText(&b.ignored)},
		{"", "mysql-user", "NAME", "read and ignored", toText(&b.ignored)},
		{"", "pgsql-db", "NAME", "read and ignored", toText(&b.ignored)},
		{"", "pgsql-user", "NAME", "read and ignored", toText(&b.ignored)},
		{"", "rate", "N", "not simulated", notSimulated("a rate of events")},
		{"", "report-interval", "N", "not simulated", notSimulated("a report on the way")},
		{"", "warmup-time", "N", "not simulated", notSimulated("a warm-up of the tool's own")},
		{"", "histogram", "on|off", "not simulated", notSimulated("the histogram of latencies")},
		{"", "mysql-host", "NAME", "not simulated", notSimulated("a server at another address")},
		{"", "pgsql-host", "NAME", "not simulated", notSimulated("a server at another address")},
	}
}

// dashesAreUnderscores: the tool reads --table_size and --table-size alike.
func (b *sysbench) dashesAreUnderscores() bool { return true }

// oneOf stores one of some words.
func oneOf(target *string, words ...string) func(string) error {
	return func(arg string) error {
		for _, word := range words {
			if arg == word {
				*target = arg
				return nil
			}
		}
		return fmt.Errorf("%q: choose %s", arg, strings.Join(words, " or "))
	}
}

// sysbenchScripts are those of the tool's OLTP scripts that are simulated: how
// each changes the mix.
var sysbenchScripts = []struct {
	name string
	edit func(*sysbench)
}{
	{"oltp_read_only", func(b *sysbench) { b.mix.indexUpdates, b.mix.otherUpdates, b.mix.deleteInserts = 0, 0, 0 }},
	{"oltp_read_write", func(*sysbench) {}},
	{"oltp_point_select", func(b *sysbench) {
		b.mix = sysbenchMix{points: 1, rangeSize: b.mix.rangeSize, rangeSelects: "off"}
		b.skipTransaction = "on"
	}},
}

// operand takes the name of the script, and the command behind it.
func (b *sysbench) operand() option {
	return option{arg: "SCRIPT run", help: "oltp_read_only, oltp_read_write or oltp_point_select, then run", set: b.setWord}
}

func (b *sysbench) setWord(word string) error {
	switch {
	case b.script == "":
		b.script = strings.TrimSuffix(word, ".lua")
	case b.command == "":
		b.command = word
	default:
		return fmt.Errorf("unexpected argument %q: there is a script and a command already", word)
	}
	return nil
}

func (b *sysbench) check() error {
	known := false
	for _, script := range sysbenchScripts {
		if script.name == b.script {
			script.edit(b)
			known = true
		}
	}
	if b.mix.rangeSelects == "off" {
		b.mix.ranges, b.mix.sums, b.mix.orders, b.mix.distincts = 0, 0, 0, 0
	}
	switch {
	case b.script == "":
		return fmt.Errorf("a script is missing: write oltp_read_only, oltp_read_write or oltp_point_select, and run")
	case !known:
		return fmt.Errorf("script %q is not simulated: choose oltp_read_only, oltp_read_write or oltp_point_select", b.script)
	case b.command == "prepare" || b.command == "cleanup":
		return fmt.Errorf("%s is not needed: the tables are there in every size", b.command)
	case b.command != "run":
		return fmt.Errorf("command %q: write run behind the script", b.command)
	case b.duration == 0 && b.events == 0:
		return fmt.Errorf("--time=0 and no --events: the run would not end")
	case b.statements() == 0:
		return fmt.Errorf("a transaction without statements")
	}
	return nil
}

func (b *sysbench) transactional() bool { return b.skipTransaction == "off" }

// reads, writes and others are a transaction's statements as the tool counts
// them.
func (b *sysbench) reads() int {
	m := &b.mix
	return m.points + m.ranges + m.sums + m.orders + m.distincts
}

func (b *sysbench) writes() int {
	return b.mix.indexUpdates + b.mix.otherUpdates + 2*b.mix.deleteInserts
}

func (b *sysbench) others() int {
	if b.transactional() {
		return 2
	}
	return 0
}

func (b *sysbench) statements() int { return b.reads() + b.writes() }

// SetStretch implements [Scalable]: a run of some time is that much shorter.
func (b *sysbench) SetStretch(s Stretch) { b.stretch = s }

func (b *sysbench) shortened() bool {
	return b.duration > 0 && b.events == 0 && b.stretch.Given() && b.stretch.Warmup+b.stretch.Measure < int64(b.duration)*1e9
}

const (
	sysbenchStartMark = 0
	sysbenchEndMark   = 1
	sysbenchFromMark  = 2 // what a stretch measures
	sysbenchToMark    = 3
	sysbenchMarks     = 4
)

// Report implements [Benchmark]. Each thread has a recorder of its own, with the
// latency of every transaction in microseconds.
func (b *sysbench) Report(obs *Observation) Report {
	ns, failure := obs.between(sysbenchStartMark, sysbenchEndMark)
	if failure != "" {
		return Report{Failure: failure}
	}
	var notes []string
	if b.shortened() {
		ns = obs.Marks[sysbenchToMark] - obs.Marks[sysbenchFromMark]
		notes = append(notes, fmt.Sprintf("a run shorter than --time=%d: %s", b.duration, b.stretch))
	}
	total := newSysbenchTotal(obs.Recorders)
	if total.latency.Count == 0 {
		return Report{Failure: "no transaction was completed: the run is too short"}
	}
	rate := float64(total.latency.Count) * 1e9 / float64(ns)
	return Report{Text: b.text(&total, float64(ns)/1e9), Notes: notes, Metrics: []Metric{
		{Statistic: "transactions", Unit: "transactions/s", Better: "higher", Value: rate},
	}}
}

// sysbenchTotal is what the threads' recorders say together.
type sysbenchTotal struct {
	latency         Histogram // µs
	sum             int64     // µs
	events, seconds spread    // of the threads
}

// spread is a mean and a standard deviation.
type spread struct{ mean, deviation float64 }

func spreadOf(values []float64) spread {
	var s spread
	for _, v := range values {
		s.mean += v / float64(len(values))
	}
	for _, v := range values {
		s.deviation += (v - s.mean) * (v - s.mean) / float64(len(values))
	}
	s.deviation = math.Sqrt(s.deviation)
	return s
}

func newSysbenchTotal(recorders []Recorder) sysbenchTotal {
	var total sysbenchTotal
	var events, seconds []float64
	for i := range recorders {
		samples := &recorders[i].Samples
		total.latency.Merge(samples)
		total.sum += samples.Sum
		events = append(events, float64(samples.Count))
		seconds = append(seconds, float64(samples.Sum)/1e6)
	}
	total.events, total.seconds = spreadOf(events), spreadOf(seconds)
	return total
}

func (b *sysbench) text(t *sysbenchTotal, seconds float64) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line("sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n")
	line("Running the test with following options:\nNumber of threads: %d\nInitializing random number generator from current time\n\n", b.threads)
	line("Initializing worker threads...\n\nThreads started!\n")
	events := t.latency.Count
	perSecond := func(name string, n int64) { line("    %-36s %-6d (%.2f per sec.)", name, n, float64(n)/seconds) }
	reads, writes, others := events*int64(b.reads()), events*int64(b.writes()), events*int64(b.others())
	line("SQL statistics:\n    queries performed:")
	line("        read:                            %d", reads)
	line("        write:                           %d", writes)
	line("        other:                           %d", others)
	line("        total:                           %d", reads+writes+others)
	perSecond("transactions:", events)
	perSecond("queries:", reads+writes+others)
	perSecond("ignored errors:", 0)
	perSecond("reconnects:", 0)
	line("\nGeneral statistics:")
	line("    total time:                          %.4fs", seconds)
	line("    total number of events:              %d", events)
	line("\nLatency (ms):")
	millis := func(name string, micros float64) { line("%-41s%10.2f", name, micros/1000) }
	millis("         min:", float64(t.latency.Min))
	millis("         avg:", float64(t.sum)/float64(events))
	millis("         max:", float64(t.latency.Max))
	if b.percentile > 0 {
		value, _ := t.latency.Percentile(float64(b.percentile))
		millis(fmt.Sprintf("        %3dth percentile:", b.percentile), float64(value))
	} else {
		line("         percentile stats:               disabled")
	}
	millis("         sum:", float64(t.sum))
	line("\nThreads fairness:")
	line("    events (avg/stddev):           %.4f/%3.2f", t.events.mean, t.events.deviation)
	line("    execution time (avg/stddev):   %.4f/%3.2f\n", t.seconds.mean, t.seconds.deviation)
	return text.String()
}
