package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/trace"
)

func newConvertCommand() *cobra.Command {
	var to string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Convert a trace of a real kernel to another format",
		Long: `Read a trace in any format and write it in another.

IN is ftrace text (of tracefs, trace-cmd report or perf script), a trace.dat, a
perf.data or a Perfetto trace, each also gzipped; its content tells which. OUT is
ftrace text (.txt) or Perfetto (.pftrace), gzipped when it ends in .gz. What IN
holds, and what in it was lost or damaged, is said on standard error.`,
		Example: `  schedlab convert trace.dat trace.pftrace
  schedlab convert perf.data trace.txt.gz
  schedlab convert capture/trace.txt.gz - --to perfetto > trace.pftrace`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("convert: give two arguments, the trace to read and the file to write (- for standard output); there are %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := convertFormat(to, args[1])
			if err != nil {
				return err
			}
			notes := cmd.ErrOrStderr()
			if quiet {
				notes = io.Discard
			}
			return convertTrace(args[0], args[1], format, cmd.OutOrStdout(), notes)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "text|perfetto; the default follows OUT's extension")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "say nothing about what was read")
	return cmd
}

func convertFormat(to, out string) (trace.OutputFormat, error) {
	if to == "" {
		return trace.FormatOfPath(out)
	}
	for _, format := range trace.OutputFormats() {
		if to == string(format) {
			return format, nil
		}
	}
	return "", fmt.Errorf("convert: --to %s: use text or perfetto", to)
}

// convertTrace leaves no half-written file behind: the output takes its place
// when it is complete.
func convertTrace(in, out string, format trace.OutputFormat, stdout, notes io.Writer) error {
	reader, err := trace.Open(in)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	if out == "-" {
		err = trace.Convert(stdout, out, reader, format)
	} else {
		err = writeWhole(out, func(w io.Writer) error { return trace.Convert(w, out, reader, format) })
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

// writeWhole writes beside path and renames.
func writeWhole(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Chmod(file.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
