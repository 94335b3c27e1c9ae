package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlab/schedlab/reference"
)

// newReferenceCommand writes docs/reference; help does not list it.
func newReferenceCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "reference FOLDER",
		Hidden: true,
		Short:  "Write the reference documents",
		Long: `Write what can be named (commands, kernels, features, tunables, benchmarks,
machines, costs, file formats) as Markdown into FOLDER, which is made when it is
not there. A program with rules of its own writes those too.`,
		Example: `  schedlab reference reference`,
		Args:    exactlyOne("a folder such as docs/reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("%w; give a folder that can be made or written to", err)
			}
			if err := writeReference(cmd.Root(), args[0]); err != nil {
				return &runError{err}
			}
			return nil
		},
	}
}

func writeReference(root *cobra.Command, folder string) error {
	pages, err := reference.Pages()
	if err != nil {
		return err
	}
	pages = append([]reference.Page{commandsPage(root)}, pages...)
	pages = append(pages, referenceIndex(pages))
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(folder, p.File), []byte(p.Text), 0o644); err != nil { //nolint:gosec // documents are for everyone to read
			return err
		}
	}
	return nil
}

func referenceIndex(pages []reference.Page) reference.Page {
	var b strings.Builder
	fmt.Fprintf(&b, "# Reference\n\n%s\n\n", reference.Generated)
	for _, p := range pages {
		fmt.Fprintf(&b, "* [%s](%s): %s\n", p.Title, p.File, p.Summary)
	}
	return reference.Page{File: "README.md", Text: b.String()}
}

func commandsPage(root *cobra.Command) reference.Page {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\n%s\n\nWhat `schedlab COMMAND --help` says.\n", reference.Generated)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Runnable() && cmd.HasParent() {
			writeCommand(&b, cmd)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return reference.Page{File: "commands.md", Title: "Commands", Summary: "each command with its flags and examples", Text: b.String()}
}

func writeCommand(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n%s\n\n%s\n```\n", cmd.CommandPath(), cmd.Short, cmd.UseLine(), strings.TrimSpace(cmd.Long))
	if cmd.LocalFlags().HasAvailableFlags() {
		b.WriteString("\n| flag | default | |\n|---|---|---|\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", flagName(f), flagDefault(f), strings.ReplaceAll(f.Usage, "|", `\|`))
		})
	}
	fmt.Fprintf(b, "\nExamples:\n\n```text\n%s\n```\n", unindent(cmd.Example))
}

func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return name
}

// flagDefault leaves out defaults that say nothing.
func flagDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
		return ""
	}
	return "`" + f.DefValue + "`"
}

func unindent(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.Join(lines, "\n")
}
