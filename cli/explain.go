package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/sched"
)

// explainRequest is one `schedlab explain` command line.
type explainRequest struct {
	options       explain.Options
	format        string
	why           string
	disagreements bool
	balance       bool
	workers       int
	out           string
	hzGiven       bool
	quiet         bool
	stderr        io.Writer
}

func newExplainCommand() *cobra.Command {
	var r explainRequest
	cmd := &cobra.Command{
		Use:   "explain [flags] CAPTURE...",
		Short: "Explain every placement in recordings of real kernels",
		Long: `Explain follows recordings of real kernels event by event. At each wakeup, fork and
exec it asks the rules of that kernel version where the task would have gone, in
the state that the kernel saw, and compares: the agreement is how much of real
placement the rules explain. What disagrees is sorted by cause. Where the load
balancer was recorded, the same is done with its passes and its verdicts on tasks.

A capture is a folder with a trace (trace.txt.gz), tunables.txt and, where
groups were used, cgroups.txt; machine.txt lies in it or in the folder above. A
folder of captures stands for all of them.`,
		Example: `  schedlab explain captures/6.1
  schedlab explain --disagreements captures/6.1/hb-pipe
  schedlab explain --out results captures/6.1
  schedlab explain --balance --format csv captures/6.1
  schedlab explain --why 401@16.455985 captures/6.1/hb-pipe`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.stderr, r.hzGiven = cmd.ErrOrStderr(), cmd.Flags().Changed("hz")
			return r.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.format, "format", "text", "text, json or csv")
	f.StringVar(&r.why, "why", "", "tell one decision: PID, or PID@TIME in seconds as the trace prints them")
	f.BoolVar(&r.disagreements, "disagreements", false, "list every decision that the rules would have made otherwise")
	f.BoolVar(&r.balance, "balance", false, "only what concerns load balancing; as csv by level and idle type")
	f.BoolVar(&r.options.IgnoreHidden, "ignore-hidden", false, "use the placement probes only as moments, as if they told no hidden state")
	f.Int64Var(&r.options.HZ, "hz", 0, "ticks a second of the recorded kernel (default: found out from the recording, else 250)")
	f.IntVar(&r.workers, "workers", 0, "captures explained at a time (default: one per CPU)")
	f.StringVar(&r.out, "out", "", "folder for results.csv, results.json, disagreements.csv, report.html and its charts")
	f.BoolVar(&r.quiet, "quiet", false, "no progress")
	return cmd
}

func (r *explainRequest) run(ctx context.Context, out io.Writer, paths []string) error {
	if err := r.check(paths); err != nil {
		return err
	}
	bundles, err := openBundles(paths)
	if err != nil {
		return err
	}
	if err := makeOut(r.out); err != nil {
		return err
	}
	if r.why != "" {
		return r.tell(ctx, out, bundles)
	}
	progress := newProgress(r.stderr, r.quiet, "captures", len(bundles))
	r.options.Explained = progress.step
	result, err := explain.RunAll(ctx, bundles, r.options, r.workers)
	progress.clear()
	if err != nil {
		return asRunError(err)
	}
	if err := r.writer(result)(out); err != nil || r.out == "" {
		return asRunError(err)
	}
	return asRunError(writeOut(r.out, result.Page(), map[string]func(io.Writer) error{
		"results.csv": result.WriteCSV, "results.json": result.WriteJSON, "disagreements.csv": result.WriteDisagreementsCSV}))
}

func (r *explainRequest) check(paths []string) error {
	if len(paths) == 0 {
		return errors.New("explain needs a capture, such as: schedlab explain captures/6.1/hb-pipe")
	}
	switch r.format {
	case "text", "json", "csv":
	default:
		return fmt.Errorf("--format is %q; choose text, json or csv", r.format)
	}
	if r.balance && r.why != "" {
		return errors.New("--balance and --why exclude each other: --why tells placements")
	}
	if r.out != "" && r.why != "" {
		return errors.New("--out and --why exclude each other: a story has no report; drop one of them")
	}
	if r.balance && r.disagreements && r.format != "text" {
		return fmt.Errorf("--balance --disagreements lists passes as text only; drop --format %s", r.format)
	}
	if r.hzGiven && sched.CheckHZ(r.options.HZ) != nil {
		return fmt.Errorf("--hz is %d; kernels are built with 100, 250, 300 or 1000", r.options.HZ)
	}
	if r.workers < 0 {
		return fmt.Errorf("--workers is %d; write 1 or more, or leave it out", r.workers)
	}
	if r.workers == 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

func openBundles(paths []string) ([]*explain.Bundle, error) {
	var bundles []*explain.Bundle
	for _, path := range paths {
		dirs, err := explain.Find(path)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			b, err := explain.Open(dir)
			if err != nil {
				return nil, err
			}
			bundles = append(bundles, b)
		}
	}
	return bundles, nil
}

// writer chooses what is printed and in which form.
func (r *explainRequest) writer(result *explain.Result) func(io.Writer) error {
	switch {
	case r.balance && r.disagreements:
		return result.WriteBalanceDisagreementsText
	case r.balance:
		return map[string]func(io.Writer) error{
			"text": result.WriteBalanceText, "json": result.WriteBalanceJSON, "csv": result.WriteBalanceCSV,
		}[r.format]
	case r.disagreements:
		return map[string]func(io.Writer) error{
			"text": result.WriteDisagreementsText, "json": result.WriteDisagreementsJSON, "csv": result.WriteDisagreementsCSV,
		}[r.format]
	}
	return map[string]func(io.Writer) error{
		"text": result.WriteText, "json": result.WriteJSON, "csv": result.WriteCSV,
	}[r.format]
}

func (r *explainRequest) tell(ctx context.Context, out io.Writer, bundles []*explain.Bundle) error {
	pick, err := explain.ParsePick(r.why)
	if err != nil {
		return fmt.Errorf("--why: %w", err)
	}
	if len(bundles) != 1 {
		return fmt.Errorf("--why tells a decision of one capture, not of %d; name its folder", len(bundles))
	}
	if r.format == "csv" {
		return errors.New("--why has no CSV form; choose text or json")
	}
	story, err := explain.Why(ctx, bundles[0], r.options, pick)
	if err != nil {
		return asRunError(err)
	}
	if r.format == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return asRunError(enc.Encode(story))
	}
	_, err = io.WriteString(out, story.Text())
	return asRunError(err)
}

// asRunError marks a failure of something that was asked for rightly; an
// interrupt stays one.
func asRunError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &runError{err}
}
