package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/internal/reproduction"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// reproduce is a comparison of what a document measured.
type reproduce struct {
	comparison
	whole bool
	from  string // folder of an earlier --out
}

// newReproduceCommand runs the built-in experiment of a published document. Its
// errors are those of compare.
func newReproduceCommand(runner experiment.Runner) *cobra.Command {
	var r reproduce
	cmd := &cobra.Command{
		Use:   "reproduce DOCUMENT",
		Short: "Simulate what a published document measured, and say how well it is predicted",
		Long: `Reproduce runs the experiment of a document, prints its tables with the published
figures below the simulated ones, and ends with a score: how near the baseline
is, how many of the document's significant changes have the published sign, how
the rows are ranked, how large the changes are, beside a predictor that knows
one sign per column; then the largest misses.

No published figure of a patched kernel is known to the simulation: costs are
fitted to baselines alone (schedlab calibrate).

Some documents are cut into parts, so that each takes minutes: the document's
name runs the first, a part's name that part, and --whole all of them, with one
score over all tables. --from DIR reads results.csv of an earlier --out again
instead of simulating.

Documents and their parts:
` + listDocuments(),
		Example: `  schedlab reproduce --quick sched-idle-balance
  schedlab reproduce --out results wake-affine
  schedlab reproduce --whole --quick --format markdown wake-affine`,
		Args:      exactlyOne("a document: " + strings.Join(experiments.Names(), ", ")),
		ValidArgs: experiments.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.request, r.seedGiven = "reproduce", cmd.Flags().Changed("seed")
			r.stdout, r.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			r.load, r.summary = reproduction.Part, r.scorePrediction
			if err := r.choose(args[0]); err != nil {
				return err
			}
			if r.from != "" {
				return r.again(cmd)
			}
			return r.run(cmd.Context(), runner)
		},
	}
	r.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&r.whole, "whole", false, "all parts of the document, on one page and with one score")
	f.StringVar(&r.from, "from", "", "`DIR` of an earlier --out, whose results.csv is read instead of simulating")
	completeFlags(cmd, map[string]completion{"format": completeNames(fixed(comparisonFormats...))})
	return cmd
}

// listDocuments has a line for each document.
func listDocuments() string {
	var lines []string
	for _, d := range experiments.Documents() {
		lines = append(lines, "  "+strings.Join(d.Parts, ", "))
	}
	return strings.Join(lines, "\n")
}

// choose finds the experiments of a document or a part.
func (r *reproduce) choose(name string) error {
	document, known := experiments.DocumentOf(name)
	switch {
	case !known:
		return fmt.Errorf("there is no document %q; %s", name, suggest.DidYouMean(name, experiments.Names()))
	case r.whole && name != document.Name:
		return fmt.Errorf("%s is a part of %s; write --whole %s", name, document.Name, document.Name)
	case r.whole:
		r.files, r.title, r.subject = document.Parts, document.Name, []string{"--whole", name}
	default:
		r.files, r.subject = []string{name}, []string{name}
	}
	return nil
}

// notAgain are the flags that mean nothing where nothing runs.
var notAgain = []string{"quick", "seed", "workers", "out", "benchmark", "cost", "traces", "fail-on-regression"}

// again prints what an earlier run left.
func (r *reproduce) again(cmd *cobra.Command) error {
	if err := checkFormat(r.format, comparisonFormats); err != nil {
		return err
	}
	for _, flag := range notAgain {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--from and --%s exclude each other", flag)
		}
	}
	results, err := reproduction.Read(filepath.Join(r.from, "results.csv"), r.files)
	if err != nil {
		return &experiment.RequestError{Message: "--from: " + err.Error(), Err: err}
	}
	for i := range results.NotRun {
		r.say("not run: %s", results.NotRun[i].String())
	}
	if err := r.print(results.Tables); err != nil {
		return &runError{err}
	}
	return nil
}

// scorePrediction closes what is read by people; the other formats carry the
// figures that it is made of.
func (c *comparison) scorePrediction(tables []stats.Table) error {
	switch c.format {
	case "text":
		return report.Prediction(c.stdout, tables)
	case "markdown":
		return report.MarkdownPrediction(c.stdout, tables)
	}
	return nil
}
