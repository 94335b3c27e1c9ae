package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

func newKernelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kernels",
		Short: "List the kernel versions that can be named",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, p := range sched.Profiles() {
				fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Summary)
			}
			return w.Flush()
		},
	}
}

func newFeaturesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "features [KERNEL]",
		Short: "List the scheduler features and tunables of a kernel, with their defaults",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := defaultKernel
			if len(args) == 1 {
				name = args[0]
			}
			profile, err := sched.LookupProfile(name)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s features (put NO_ before a name to switch it off):\n", profile.Name)
			for _, f := range profile.Known.Names() {
				if !profile.HasDefault(f) {
					f = "NO_" + f
				}
				fmt.Fprintf(out, "  %s\n", f)
			}
			fmt.Fprintf(out, "tunables: %s\n", strings.Join(sched.TunableNames(), " "))
			return nil
		},
	}
}

func newBenchmarksCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "benchmarks",
		Short: "List the benchmarks and their flags",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for i, b := range workload.List() {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				names := append([]string{b.Name}, b.Aliases...)
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n%s", strings.Join(names, ", "), b.Summary, b.Flags)
			}
			return nil
		},
	}
}
