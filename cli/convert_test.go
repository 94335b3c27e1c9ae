package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runConvert executes the command alone.
func runConvert(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, notes bytes.Buffer
	cmd := newConvertCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&notes)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	return out.String(), notes.String(), err
}

const convertFixture = "../trace/testdata/trace-cmd-v7-zstd.dat"

// 317 events: what trace-cmd report prints of this file (trace/testdata/README.md).
func TestConvertThereAndBack(t *testing.T) {
	dir := t.TempDir()
	perfetto, text := filepath.Join(dir, "a.pftrace"), filepath.Join(dir, "a.txt.gz")
	for _, step := range [][2]string{{convertFixture, perfetto}, {perfetto, text}} {
		_, notes, err := runConvert(t, step[0], step[1])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(notes, ": 317 events\n") {
			t.Errorf("%s: %s; want 317 events", step[0], notes)
		}
	}
	direct, _, err := runConvert(t, convertFixture, "-", "--to", "text", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(direct, "\n") - strings.Count(direct, "#   ") - strings.Count(direct, "# tracer") - 1; n != 317 {
		t.Errorf("%d lines of events, want 317", n)
	}
}

func TestConvertRefuses(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.bin")
	if err := os.WriteFile(junk, []byte{0, 1, 2, 3, 0, 0, 0, 0}, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{convertFixture}, "give two arguments"},
		{[]string{convertFixture, "out.xyz"}, "use .txt for ftrace text"},
		{[]string{convertFixture, "out.txt", "--to", "dat"}, "use text, perfetto, pprof, csv or parquet"},
		{[]string{"no-such-file", "out.txt"}, "no such file"},
		{[]string{junk, "out.txt"}, "not a trace"},
	} {
		_, _, err := runConvert(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.args, err, c.want)
		}
	}
	if _, err := os.Stat("out.txt"); err == nil {
		t.Error("a refused conversion left out.txt behind")
	}
}
