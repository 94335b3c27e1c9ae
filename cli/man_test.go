package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command that help lists has a page with all its flags and examples.
func TestManualHasEveryCommandAndFlag(t *testing.T) {
	folder := t.TempDir()
	if err := writeManual(newRootCommand(), folder); err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, cmd := range own(t) {
		file := filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		page, err := os.ReadFile(file)
		if cmd.Hidden {
			if !os.IsNotExist(err) {
				t.Errorf("%s is hidden and has a page", cmd.CommandPath())
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		pages++
		checkPage(t, cmd, string(page))
	}
	if pages < 17 {
		t.Errorf("%d pages", pages)
	}
}

func checkPage(t *testing.T, cmd *cobra.Command, page string) {
	t.Helper()
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(page, `\fB--`+f.Name+`\fP`) {
			t.Errorf("the page of %s lacks --%s", cmd.CommandPath(), f.Name)
		}
	})
	for line := range strings.Lines(cmd.Example) {
		if line = strings.ReplaceAll(strings.TrimSpace(line), `\`, `\\`); !strings.Contains(page, line) {
			t.Errorf("the page of %s lacks the example %s", cmd.CommandPath(), line)
		}
	}
}

func TestListsOfLongTextsBecomeBlocks(t *testing.T) {
	cmd := &cobra.Command{Use: "x", Long: "One,\ntwo:\n  a  1\n  b  2\n\nEnd."}
	keepLists(cmd)
	want := "One,\ntwo:\n\n      a  1\n      b  2\n\nEnd."
	if cmd.Long != want {
		t.Errorf("%q, want %q", cmd.Long, want)
	}
}
