package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand is for who packages schedlab; help does not list it.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Hidden: true,
		Short:  "Write the manual pages, one a command",
		Long: `Write a manual page for schedlab and for each of its commands into FOLDER, which
is made when it is not there.`,
		Example: `  schedlab man share/man/man1`,
		Args:    exactlyOne("a folder such as share/man/man1"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("%w; give a folder that can be made or written to", err)
			}
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return &runError{err}
			}
			return nil
		},
	}
}

func writeManual(root *cobra.Command, folder string) error {
	root.DisableAutoGenTag = true // it would tell when, and by what
	keepLists(root)
	header := &doc.GenManHeader{Section: "1", Source: "schedlab " + version(), Manual: "schedlab manual", Date: buildTime()}
	return doc.GenManTree(root, header, folder)
}

// keepLists marks indented lines of the long texts as what Markdown keeps as it
// is; it would make them part of the paragraph.
func keepLists(cmd *cobra.Command) {
	var b strings.Builder
	inList := false
	for line := range strings.Lines(cmd.Long) {
		indented := strings.HasPrefix(line, "  ")
		if indented && !inList {
			b.WriteString("\n")
		}
		if indented {
			b.WriteString("    ")
		}
		inList = indented
		b.WriteString(line)
	}
	cmd.Long = b.String()
	for _, sub := range cmd.Commands() {
		keepLists(sub)
	}
}

// buildTime is when the source was committed, so that the same binary writes the
// same pages. Without it cobra takes SOURCE_DATE_EPOCH, else the present.
func buildTime() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
			return &t
		}
	}
	return nil
}
