package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/capture"
)

func newCaptureCommand() *cobra.Command {
	var o capture.Options
	cmd := &cobra.Command{
		Use:   "capture -o FOLDER [flags] -- COMMAND...",
		Short: "Record what this machine's scheduler does while a command runs",
		Long: `Capture records, on Linux and as root, what the kernel's scheduler does while a
command runs: a trace with probes on placement and balancing where the kernel
allows them, the machine, the settings in force, the control groups and the
scheduler's counters. schedlab explain reads the folder.

Tracing happens in an instance of its own, so nobody else's is disturbed, and
everything is changed back at the end, also when capture is interrupted. What
could not be recorded is said, with what to do about it. docs/capture.md tells
more.`,
		Example: `  schedlab capture -o recording -- sleep 0.2
  schedlab explain recording`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Command, o.Output = args, cmd.OutOrStdout()
			if cmd.Flags().Changed("buffer-kb") && o.BufferKB < 1 {
				return fmt.Errorf("--buffer-kb is %d; it must be a size in KiB, such as 8192", o.BufferKB)
			}
			return runCapture(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows belongs to the command
	f.StringVarP(&o.Dir, "output", "o", "", "new `FOLDER` for the recording (required)")
	f.IntVar(&o.BufferKB, "buffer-kb", 0, "size of each CPU's trace buffer in KiB (default: 256 MiB shared out, 2 to 32 MiB each)")
	return cmd
}

func runCapture(ctx context.Context, o capture.Options, messages io.Writer) error {
	if o.Dir == "" {
		return errors.New("capture needs a folder to write to, such as: schedlab capture -o /tmp/recording -- hackbench -g 1")
	}
	if len(o.Command) > 0 {
		if _, err := exec.LookPath(o.Command[0]); err != nil {
			return fmt.Errorf("the command to record: %w", err)
		}
	}
	// A closed terminal must not leave the kernel changed.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	report, err := capture.Run(ctx, o)
	if report != nil {
		for _, note := range report.Notes {
			_, _ = fmt.Fprintln(messages, "note:", note)
		}
		for _, lost := range report.Lost {
			_, _ = fmt.Fprintln(messages, "warning:", lost)
		}
	}
	switch {
	case errors.Is(err, context.Canceled) && report != nil:
		return fmt.Errorf("interrupted; what was recorded until then is in %s: %w", o.Dir, err)
	case err != nil:
		return err
	case report.CommandError != nil:
		return &runError{fmt.Errorf("the command failed (%w); the recording of it is complete", report.CommandError)}
	}
	return nil
}
