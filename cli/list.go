package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

func newKernelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kernels",
		Short: "List the kernel versions that can be named",
		Long: `List the kernels whose fair scheduler can be simulated, oldest first: what --kernel
and an experiment's kernel: take.`,
		Example: `  schedlab kernels`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := [][]string{{"NAME", "WHAT IT IS"}}
			for _, p := range sched.Profiles() {
				rows = append(rows, []string{p.Name, p.Summary})
			}
			return writeTable(cmd.OutOrStdout(), rows)
		},
	}
}

func newFeaturesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "features [KERNEL]",
		Short: "List the scheduler features and tunables of a kernel, with their defaults",
		Long: `List the feature bits that a kernel (default ` + defaultKernel + `) has, spelled as in its
/sys/kernel/debug/sched/features: NO_ in front of those that are off by default.
Any of them can be set with --feature or in an experiment's variant. The
tunables, set with --tunable NAME=VALUE, and the placement rules that this
program has registered follow.`,
		Example: `  schedlab features
  schedlab features v4.14`,
		Args:              atMostOne("a kernel"),
		ValidArgsFunction: completeFirst(kernelNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := defaultKernel
			if len(args) == 1 {
				name = args[0]
			}
			profile, err := sched.LookupProfile(name)
			if err != nil {
				return err
			}
			return writeFeatures(cmd.OutOrStdout(), profile)
		},
	}
}

func writeFeatures(w io.Writer, profile *sched.Profile) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s features (put NO_ before a name to switch it off):\n", profile.Name)
	for _, f := range profile.Known.Names() {
		if !profile.HasDefault(f) {
			f = "NO_" + f
		}
		fmt.Fprintf(&b, "  %s\n", f)
	}
	fmt.Fprintf(&b, "tunables:\n  %s\n", strings.Join(sched.TunableNames(), "\n  "))
	if rules := sched.Placements(); len(rules) > 0 {
		fmt.Fprintf(&b, "placement rules:\n  %s\n", strings.Join(rules, "\n  "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newBenchmarksCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "benchmarks",
		Short: "List the benchmarks and their flags",
		Long: `List the benchmarks with the flags that each takes. They are the flags of the real
tools; one that a real tool has and that is not simulated says so.`,
		Example: `  schedlab benchmarks`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			for i, bench := range workload.List() {
				if i > 0 {
					b.WriteByte('\n')
				}
				names := append([]string{bench.Name}, bench.Aliases...)
				fmt.Fprintf(&b, "%s: %s\n%s", strings.Join(names, ", "), bench.Summary, bench.Flags)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}

func newMachinesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "machines",
		Short: "List the machines that have a name",
		Long: `List the presets: machines of published measurements, with where their figures come
from. Any other machine is a spec such as 2n24c2t or a file ("schedlab machine
import" makes one).`,
		Example: `  schedlab machines`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := [][]string{{"NAME", "SPEC", "SOURCE"}}
			for _, p := range machine.Presets() {
				rows = append(rows, []string{p.Name, p.Spec, p.Source})
			}
			return writeTable(cmd.OutOrStdout(), rows)
		},
	}
}

// writeTable aligns columns.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := io.WriteString(table, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return table.Flush()
}
