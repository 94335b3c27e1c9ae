package reference

import (
	"strings"

	"github.com/schedlab/schedlab/export"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/trace"
)

func formatsPage() Page {
	p := newPage("File formats",
		"What is read and written. More about recordings is in [trace.md](../trace.md) and [export.md](../export.md), about folders that\nrecordings come in in [capture.md](../capture.md), about experiments in [experiment.md](../experiment.md).")
	writeOutputs(p)
	writeResults(p)
	writeDescribed(p, "Events as a table", export.Events)
	p.line("\nBehind these, a column for each field of the events below, empty in the rows of events that do not have it: %s.", columnNames(trace.Columns()))
	writeDescribed(p, "Slices as a table", export.Slices)
	writeEvents(p)
	return Page{"formats.md", "File formats", "tables, results and the events of recordings, column by column", p.String()}
}

func writeOutputs(p *page) {
	p.heading("What convert writes")
	p.table("`--to`", "extensions", "what it is")
	what := map[export.Format]string{
		export.Text:     "ftrace text, as the kernel's `trace` file has it",
		export.Perfetto: "a Perfetto trace: native ftrace events, the process tree, counters",
		export.Profile:  "a profile for pprof: sample types cpu, wait, sleep (nanoseconds) and wakeups (count)",
		export.CSV:      "a table with a header, of events or slices",
		export.Parquet:  "the same table; numbers are INT64, flags and masks UINT64, empty cells null",
	}
	for _, f := range export.Formats() {
		p.row(code(string(f)), codes(f.Extensions()), what[f])
	}
	p.line("\nIt reads ftrace text, trace.dat, perf.data and Perfetto traces, recognised by their content; `.gz` is read and written.")
}

func writeResults(p *page) {
	p.heading("Results")
	p.line("`results.csv` and `results.parquet` of `--out`, and `--format csv`: a row for each figure, in the columns")
	p.line("")
	var header strings.Builder
	if err := report.CSV(&header, nil); err != nil {
		header.WriteString(err.Error()) // a strings.Builder takes everything
	}
	p.block(header.String())
	p.line("\n`delta_pct` is against the baseline, positive is better. `significant` is 1, 0 or empty (the statistic has no test).")
}

func writeDescribed(p *page, title string, t export.Table) {
	p.heading("%s", title)
	p.line("`--table %s` of `schedlab convert`.\n", t)
	p.table("column", "type", "meaning")
	for _, c := range export.Describe(t) {
		p.row(code(c.Name), typeName(c.Type), c.Meaning)
	}
}

func writeEvents(p *page) {
	p.heading("Events of recordings")
	p.line("The kernel's events and the probes that captures have, with their fields; simulations record some that no kernel has.\nAny other event is kept by name with its printed form.\n")
	p.table("event", "fields")
	for k := range trace.NumKinds {
		kind := trace.Kind(k)
		if kind == trace.KindOther || kind == trace.KindLost {
			continue
		}
		p.row(code(kind.String()), columnNames(kind.Columns()))
	}
}

func columnNames(columns []trace.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return codes(names)
}

func typeName(t trace.ColumnType) string {
	switch t {
	case trace.ColumnText:
		return "text"
	case trace.ColumnHex:
		return "unsigned, hexadecimal in CSV"
	case trace.ColumnBool:
		return "true or false"
	}
	return "integer"
}
