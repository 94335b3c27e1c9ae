// Package cli is the schedlab command as a library. A program that registers
// placement rules of its own ([sched.RegisterPlacement]) and then calls [Main]
// is schedlab with those rules; examples/custom-placement is one.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
)

// Exit codes, as README lists them.
const (
	exitFailed      = 1   // something ran and failed
	exitRequest     = 2   // the request cannot be right
	exitRegression  = 3   // --fail-on-regression found one
	exitInterrupted = 130 // Ctrl-C
)

// Main executes one command line, the program's name left out, over the
// process's standard streams and returns the exit code. An interrupt ends it
// in good order; a second one ends it at once.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "schedlab:", err)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var failed *runError
	var file *fs.PathError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, experiment.ErrRegression):
		return exitRegression
	case errors.Is(err, experiment.ErrFailedCells), errors.As(err, &failed):
		return exitFailed
	case errors.As(err, &file) && file.Op == "write": // a full disk is no fault of the request
		return exitFailed
	}
	return exitRequest
}

// runError is a failure of something that was asked for rightly.
type runError struct{ error }

func (e *runError) Unwrap() error { return e.error }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "schedlab",
		Short: "A laboratory for the Linux fair scheduler",
		Long: `schedlab simulates, explains and compares how Linux's fair scheduler places tasks
on CPUs: give it a machine, a workload and two or more scheduler configurations,
and it says which is better, by how much, with what confidence, and why.`,
		Example: `  schedlab init first.yaml && schedlab compare --quick first.yaml
  schedlab compare experiments/wake-affine.yaml
  schedlab run --machine 2n24c2t --kernel v5.17 hackbench -g 12 -l 100 -P -p
  schedlab machine show ivb-ep`,
		Version: versionText(),
		Args:    subcommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: checkGiven,
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newInitCommand(),
		newCompareCommand(experiment.Simulator{}),
		newReproduceCommand(experiment.Simulator{}),
		newRunCommand(),
		newQuotaCommand(),
		newExplainCommand(),
		newServeCommand(),
		newCalibrateCommand(),
		newCaptureCommand(),
		newConvertCommand(),
		newMachineCommand(),
		newMachinesCommand(),
		newKernelsCommand(),
		newFeaturesCommand(),
		newBenchmarksCommand(),
		newDoctorCommand(),
		newManCommand(),
		newReferenceCommand(),
		newVersionCommand(),
	)
	addCompletionCommand(root)
	return root
}
