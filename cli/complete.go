package cli

import (
	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

// Shell completion: "schedlab completion bash" prints the script that asks
// these functions.

// addCompletionCommand adds cobra's command, which would answer a shell that it
// does not know with its help and exit code 0.
func addCompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has just added it
	}
	cmd.Args, cmd.RunE = subcommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.Example = "  schedlab completion bash > schedlab.bash"
	for _, shell := range cmd.Commands() {
		shell.Example = "  schedlab completion " + shell.Name() + " > schedlab." + shell.Name()
	}
}

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeFirst offers names for the first argument, and nothing for others.
func completeFirst(names func() []string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNames offers names and nothing else; completeNamesOrFiles also files.
func completeNames(names func() []string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeNamesOrFiles(names func() []string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveDefault
	}
}

// completeFlags ties completions to the flags of a command. A flag that does
// not exist is a mistake in this package.
func completeFlags(cmd *cobra.Command, flags map[string]completion) {
	for name, complete := range flags {
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err)
		}
	}
}

func fixed(names ...string) func() []string { return func() []string { return names } }

func kernelNames() []string {
	var names []string
	for _, p := range sched.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func machineNames() []string {
	var names []string
	for _, p := range machine.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func benchmarkNames() []string {
	var names []string
	for _, b := range workload.List() {
		names = append(names, b.Name)
	}
	return names
}

// completeFeature offers the bits of the kernel that the command line names,
// each in the form that changes its default.
func completeFeature(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	kernel, err := cmd.Flags().GetString("kernel")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	profile, err := sched.LookupProfile(kernel)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, name := range profile.Known.Names() {
		if profile.HasDefault(name) {
			name = "NO_" + name
		}
		words = append(words, name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func completeTunable(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, name := range sched.TunableNames() {
		words = append(words, name+"=")
	}
	return words, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeRun(cmd *cobra.Command) {
	cmd.ValidArgsFunction = completeFirst(benchmarkNames)
	completeFlags(cmd, map[string]completion{
		"machine":    completeNamesOrFiles(machineNames),
		"kernel":     completeNames(kernelNames),
		"feature":    completeFeature,
		"tunable":    completeTunable,
		"hz":         completeNames(fixed("100", "250", "300", "1000")),
		"preemption": completeNames(fixed("none", "voluntary", "full", "lazy")),
		"noise":      completeNames(fixed(experiment.Noises...)),
		"placement":  completeNames(sched.Placements),
		"costs":      completeNamesOrFiles(sim.CostNames),
		"tie-break":  completeNames(fixed(experiment.TieBreaks...)),
		"format":     completeNames(fixed(formats...)),

		"schedstat-layout": completeNames(report.SchedstatLayouts),
	})
}

func completeCompare(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	completeFlags(cmd, map[string]completion{"format": completeNames(fixed(comparisonFormats...))})
}
