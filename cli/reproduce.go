package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// newReproduceCommand runs the built-in experiment of a published document. Its
// errors are those of compare.
func newReproduceCommand(runner experiment.Runner) *cobra.Command {
	var c comparison
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

Documents:
  ` + strings.Join(experiments.Names(), "\n  "),
		Example: `  schedlab reproduce --quick sched-idle-balance
  schedlab reproduce --out results wake-affine`,
		Args:      exactlyOne("a document: " + strings.Join(experiments.Names(), ", ")),
		ValidArgs: experiments.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.request, c.file, c.seedGiven = "reproduce", args[0], cmd.Flags().Changed("seed")
			c.stdout, c.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			c.load, c.summary = loadDocument, c.scorePrediction
			return c.run(cmd.Context(), runner)
		},
	}
	c.addFlags(cmd)
	completeFlags(cmd, map[string]completion{"format": completeNames(fixed(formats...))})
	return cmd
}

func loadDocument(document string) (*experiment.Experiment, error) {
	name, text, err := experiments.File(document)
	if err != nil {
		return nil, fmt.Errorf("there is no document %q; %s", document, suggest.DidYouMean(document, experiments.Names()))
	}
	return experiment.Parse(name, text)
}

// scorePrediction closes the text; the other formats carry the figures that it
// is made of.
func (c *comparison) scorePrediction(tables []stats.Table) error {
	if c.format != "text" {
		return nil
	}
	return report.Prediction(c.stdout, tables)
}
