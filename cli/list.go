package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// listing is what a list command prints: records under the names of their
// fields, and how they read as text (a table when text is empty).
type listing struct {
	fields  []string
	records [][]string
	text    string
}

func newKernelsCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:   "kernels",
		Short: "List the kernel versions that can be named",
		Long: `List the kernels whose fair scheduler can be simulated, oldest first: what --kernel
and an experiment's kernel: take.`,
		Example: `  schedlab kernels`,
		Args:    noArgs,
	}, func([]string) (*listing, error) {
		l := &listing{fields: []string{"name", "summary"}}
		for _, p := range sched.Profiles() {
			l.records = append(l.records, []string{p.Name, p.Summary})
		}
		return l, nil
	})
}

func newFeaturesCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:   "features [KERNEL]",
		Short: "List the scheduler features and tunables of a kernel, with their defaults",
		Long: `List the feature bits that a kernel (default ` + defaultKernel + `) has, spelled as in its
/sys/kernel/debug/sched/features: NO_ in front of those that are off by default.
Any of them can be set with --feature or in an experiment's variant. The
tunables, set with --tunable NAME=VALUE, and the placement rules that this
program has registered follow.`,
		Example: `  schedlab features
  schedlab features v4.14 --format csv`,
		Args:              atMostOne("a kernel"),
		ValidArgsFunction: completeFirst(kernelNames),
	}, func(args []string) (*listing, error) {
		name := defaultKernel
		if len(args) == 1 {
			name = args[0]
		}
		profile, err := sched.LookupProfile(name)
		if err != nil {
			return nil, err
		}
		return featureListing(profile), nil
	})
}

func featureListing(profile *sched.Profile) *listing {
	l := &listing{fields: []string{"kind", "name", "default"}}
	var b strings.Builder
	fmt.Fprintf(&b, "%s features (put NO_ before a name to switch it off):\n", profile.Name)
	for _, name := range profile.Known.Names() {
		state, word := "on", name
		if !profile.HasDefault(name) {
			state, word = "off", "NO_"+name
		}
		l.records = append(l.records, []string{"feature", name, state})
		if profile.IsInert(name) {
			word += " (without effect in the simulator)"
		}
		if caveat := sched.FeatureCaveat(name); caveat != "" {
			word += " (" + caveat + ")"
		}
		fmt.Fprintf(&b, "  %s\n", word)
	}
	b.WriteString("tunables:\n")
	for _, name := range profile.TunableNames() {
		l.records = append(l.records, []string{"tunable", name, ""})
		fmt.Fprintf(&b, "  %s\n", name)
	}
	for i, name := range sched.Placements() {
		if i == 0 {
			b.WriteString("placement rules:\n")
		}
		l.records = append(l.records, []string{"placement", name, ""})
		fmt.Fprintf(&b, "  %s\n", name)
	}
	l.text = b.String()
	return l
}

func newBenchmarksCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:   "benchmarks",
		Short: "List the benchmarks and their flags",
		Long: `List the benchmarks with the flags that each takes. They are the flags of the real
tools; one that a real tool has and that is not simulated says so.`,
		Example: `  schedlab benchmarks`,
		Args:    noArgs,
	}, func([]string) (*listing, error) {
		l := &listing{fields: []string{"name", "aliases", "summary", "flags"}}
		var b strings.Builder
		for i, bench := range workload.List() {
			if i > 0 {
				b.WriteByte('\n')
			}
			aliases := strings.Join(bench.Aliases, " ")
			l.records = append(l.records, []string{bench.Name, aliases, bench.Summary, bench.Flags})
			names := append([]string{bench.Name}, bench.Aliases...)
			fmt.Fprintf(&b, "%s: %s\n%s", strings.Join(names, ", "), bench.Summary, bench.Flags)
		}
		l.text = b.String()
		return l, nil
	})
}

func newMachinesCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:   "machines",
		Short: "List the machines that have a name",
		Long: `List the presets: machines of published measurements, with where their figures come
from. Any other machine is a spec such as 2n24c2t or a file ("schedlab machine
import" makes one).`,
		Example: `  schedlab machines`,
		Args:    noArgs,
	}, func([]string) (*listing, error) {
		l := &listing{fields: []string{"name", "spec", "source"}}
		for _, p := range machine.Presets() {
			l.records = append(l.records, []string{p.Name, p.Spec, p.Source})
		}
		return l, nil
	})
}

// newListCommand completes a command that prints a listing.
func newListCommand(cmd *cobra.Command, list func(args []string) (*listing, error)) *cobra.Command {
	format := addFormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(*format, formats); err != nil {
			return err
		}
		l, err := list(args)
		if err != nil {
			return err
		}
		return l.write(cmd.OutOrStdout(), *format)
	}
	return cmd
}

func (l *listing) write(w io.Writer, format string) error {
	switch format {
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{l.fields}, l.records...))
	case "json":
		return l.writeJSON(w)
	}
	if l.text != "" {
		_, err := io.WriteString(w, l.text)
		return err
	}
	return l.writeTable(w)
}

func (l *listing) writeJSON(w io.Writer) error {
	objects := make([]map[string]string, len(l.records)) // encoded in the order of their keys
	for i, record := range l.records {
		objects[i] = map[string]string{}
		for f, field := range l.fields {
			objects[i][field] = record[f]
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(objects)
}

func (l *listing) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	header := strings.ToUpper(strings.Join(l.fields, "\t"))
	if _, err := io.WriteString(table, header+"\n"); err != nil {
		return err
	}
	for _, record := range l.records {
		if _, err := io.WriteString(table, strings.Join(record, "\t")+"\n"); err != nil {
			return err
		}
	}
	return table.Flush()
}
