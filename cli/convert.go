package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/bundle"
	"github.com/schedlab/schedlab/export"
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/trace"
)

// convertRequest is what the flags of convert say.
type convertRequest struct {
	to, table, machine string
	oldText, quiet     bool
}

func newConvertCommand() *cobra.Command {
	var r convertRequest
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Convert a trace to another format, a profile or a table",
		Long: `Read a trace in any format and write it in another.

IN is ftrace text (of tracefs, trace-cmd report or perf script), a trace.dat, a
perf.data or a Perfetto trace, each also gzipped; its content tells which. OUT is
by its extension, or by --to:

  .txt      text      ftrace text
  .pftrace  perfetto  a Perfetto trace, with counters of run queues, caches and
                      idle states; ui.perfetto.dev opens it
  .pprof    pprof     a profile: where CPU time, waiting and sleep went, by cgroup,
                      name and thread; "go tool pprof" opens it
  .csv      csv       a table of events, or with --table slices of what threads did
  .parquet  parquet   the same, for DuckDB and the like

gzipped when OUT ends in .gz. The last-level caches are those of machine.txt
beside IN or in the folder above, or of --machine. What IN holds, and what in it
was lost or damaged, is said on standard error.`,
		Example: `  schedlab convert trace.dat trace.pftrace
  schedlab convert perf.data trace.txt.gz
  schedlab convert perf.data where-time-went.pprof
  schedlab convert capture/trace.txt.gz slices.parquet --table slices
  schedlab convert capture/trace.txt.gz - --to perfetto > trace.pftrace`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("convert: give two arguments, the trace to read and the file to write (- for standard output); there are %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := r.options(args[0], args[1])
			if err != nil {
				return err
			}
			notes := cmd.ErrOrStderr()
			if r.quiet {
				notes = io.Discard
			}
			return convertTrace(args[0], args[1], options, cmd.OutOrStdout(), notes)
		},
	}
	cmd.Flags().StringVar(&r.to, "to", "", "text|perfetto|pprof|csv|parquet; the default follows OUT's extension")
	cmd.Flags().StringVar(&r.table, "table", "", "events|slices: the rows of a csv or parquet (default events)")
	cmd.Flags().StringVar(&r.machine, "machine", "", "spec, preset or file of the machine, where no machine.txt tells its caches")
	cmd.Flags().BoolVar(&r.oldText, "old-text", false, "ftrace text with the four context columns of kernels before 5.12, for parsers that take no fifth")
	cmd.Flags().BoolVar(&r.quiet, "quiet", false, "say nothing about what was read")
	return cmd
}

func (r *convertRequest) options(in, out string) (export.Options, error) {
	o := export.Options{Table: export.Events}
	var err error
	if r.to == "" {
		o.Format, err = export.FormatOfPath(out)
	} else if o.Format, err = export.ParseFormat(r.to); err != nil {
		err = fmt.Errorf("convert: --to %w", err)
	}
	if err != nil {
		return o, err
	}
	if r.table != "" {
		if !o.Format.IsTable() {
			return o, fmt.Errorf("convert: --table %s: only csv and parquet are tables, and %s is %s", r.table, out, o.Format)
		}
		if o.Table, err = export.ParseTable(r.table); err != nil {
			return o, fmt.Errorf("convert: --table %w", err)
		}
	}
	if o.FourColumns = r.oldText; r.oldText && o.Format != export.Text {
		return o, fmt.Errorf("convert: --old-text: only ftrace text has columns, and %s is %s", out, o.Format)
	}
	if o.Format == export.Perfetto {
		o.Machine, err = machineOfTrace(r.machine, in)
	} else if r.machine != "" {
		err = fmt.Errorf("convert: --machine is for the counters of a Perfetto trace, and %s is %s; leave it out", out, o.Format)
	}
	return o, err
}

// machineOfTrace is the machine that was named, else that of the machine.txt
// which a recording has beside it or in the folder above; nil without either.
func machineOfTrace(named, in string) (*machine.Machine, error) {
	if named != "" {
		m, err := machine.Resolve(named)
		if err != nil {
			return nil, fmt.Errorf("convert: --machine %w", err)
		}
		return m, nil
	}
	for _, dir := range []string{filepath.Dir(in), filepath.Dir(filepath.Dir(in))} {
		path := filepath.Join(dir, bundle.MachineFile)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		imported, err := machine.Import(path)
		if err != nil {
			return nil, err
		}
		return imported.Machine, nil
	}
	return nil, nil
}

// convertTrace writes out when it is complete, and never over the trace itself.
func convertTrace(in, out string, options export.Options, stdout, notes io.Writer) error {
	if out != "-" {
		if err := checkOutput("convert:", out); err != nil {
			return err
		}
		if sameFile(in, out) {
			return fmt.Errorf("convert: %s is the trace itself; write to another file", out)
		}
	}
	reader, err := trace.Open(in)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	write := func(w io.Writer) error { return export.Write(w, out, reader, options) }
	if out == "-" {
		err = write(stdout)
	} else {
		err = writeWhole(out, write)
	}
	if err != nil {
		return &runError{fmt.Errorf("convert %s: %w", in, err)}
	}
	stats := reader.Stats()
	if _, err := fmt.Fprintf(notes, "%s: %s", in, stats); err != nil {
		return err
	}
	if stats.Events == 0 && !stats.Clean() {
		return &runError{fmt.Errorf("convert: nothing in %s could be read", in)}
	}
	return nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
