package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/machine"
)

// own are the commands of the project; cobra adds help.
func own(t *testing.T) []*cobra.Command {
	t.Helper()
	var all []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
	return all
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for _, cmd := range own(t) {
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s lacks a short text, a long one or an example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long) {
			if n := len(strings.TrimRight(line, "\n")); n > 84 {
				t.Errorf("%s: a line of the long text has %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
	}
}

// smallExperiment stands for experiments/wake-affine.yaml and the reader's own
// file where only the command line is on trial.
const smallExperiment = `
machine: 1n4c1t
kernel: v5.17
variants: [{name: a}, {name: b, features: [NO_WAKEUP_PREEMPTION]}]
benchmarks: [{name: pipe, run: perf bench sched pipe, rows: {-l: [50, 100]}}]
repeats: 2
quick: {repeats: 2, rows: {-l: [50]}}
`

// recordings are the traces that examples read, by the names they have there.
var recordings = map[string]string{
	"trace.dat":            "trace-cmd-v7-zlib.dat",
	"perf.data":            "perf-sched.data.gz",
	"capture/trace.txt.gz": "tracefs.txt.gz",
}

// inReadersFolder makes a folder as the reader of an example has it: with an
// experiment, recordings, and a cache of its own.
func inReadersFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	service := blocks(t, "docs/quota.md", "yaml")[0]
	for name, fixture := range recordings {
		copyFixture(t, filepath.Join(repository, "trace", "testdata", fixture), filepath.Join(dir, name))
	}
	for _, name := range []string{"periodic.json", "examples/rt-app/periodic.json"} {
		copyFixture(t, filepath.Join(repository, "examples", "rt-app", "periodic.json"), filepath.Join(dir, name))
	}
	captures, err := filepath.Abs(filepath.Join(repository, "explain", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(captures, filepath.Join(dir, "captures")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	if err := os.Mkdir("experiments", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("service.yaml", []byte(service), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"experiments/wake-affine.yaml", "my-experiment.yaml"} {
		if err := os.WriteFile(name, []byte(smallExperiment), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFixture(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// runLine executes a line of an example as a shell would.
func runLine(t *testing.T, line string) {
	t.Helper()
	if strings.Contains(line, "lscpu ") {
		if _, err := exec.LookPath("lscpu"); err != nil {
			t.Logf("left out, there is no lscpu here: %s", line)
			return
		}
	}
	if strings.HasPrefix(line, "schedlab capture ") && !canTrace() {
		t.Logf("left out, recording needs root and tracefs: %s", line)
		copyBundle(t, "recording")
		return
	}
	if strings.HasPrefix(line, "schedlab quota ") {
		line += shortSweep
	}
	shell := exec.Command("sh", "-c", line)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// shortSweep makes an example of quota, which simulates some seconds for each of
// dozens of points, quick to run.
const shortSweep = " --time 500ms --warmup 100ms --repeats 1"

// longCommands simulate for minutes, or run until they are interrupted: of their
// examples the command line is checked, and other tests run them over less.
var longCommands = map[string]bool{"reproduce": true, "calibrate": true, "serve": true}

// parseLine holds a command line against its command's flags and arguments.
func parseLine(t *testing.T, line string) {
	t.Helper()
	cmd, rest, err := newRootCommand().Find(strings.Fields(line)[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

// canTrace reports whether the kernel lets us make a trace instance.
func canTrace() bool {
	dir := "/sys/kernel/tracing/instances/schedlab-examples"
	if err := os.Mkdir(dir, 0o750); err != nil {
		return false
	}
	return os.Remove(dir) == nil
}

// copyBundle puts a recording in the place of one that cannot be made here.
func copyBundle(t *testing.T, to string) {
	t.Helper()
	from := filepath.Join(repository, "explain", "testdata", "6.1")
	for _, name := range []string{"machine.txt", "forks/trace.txt.gz", "forks/tunables.txt"} {
		copyFixture(t, filepath.Join(from, name), filepath.Join(to, filepath.Base(name)))
	}
}

func TestExamplesOfHelpTextsWork(t *testing.T) {
	inReadersFolder(t)
	for _, cmd := range own(t) {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			if !strings.Contains(line, "schedlab ") {
				t.Errorf("%s: the example %q does not call schedlab", cmd.CommandPath(), line)
				continue
			}
			if longCommands[cmd.Name()] {
				parseLine(t, line)
				continue
			}
			runLine(t, line)
		}
	}
}

// block is a fenced block of a document.
var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks are the contents of a document's fenced blocks in a language.
func blocks(t *testing.T, document, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, document))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range block.FindAllStringSubmatch(string(text), -1) {
		if match[1] == language {
			found = append(found, match[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", document, language)
	}
	return found
}

// CI must run the command that README names for the tests.
func TestReadmeAndCIAgreeOnTheTests(t *testing.T) {
	const command = "go test ./..."
	named := false
	for _, text := range blocks(t, "README.md", "sh") {
		named = named || strings.TrimSpace(text) == command
	}
	ci, err := os.ReadFile(filepath.Join(repository, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	if runs := strings.Contains(string(ci), "\nstep "+command+"\n"); !named || !runs {
		t.Errorf("README names %q: %v; .ci/run runs it: %v", command, named, runs)
	}
}

// checkExperiment loads an experiment and asks the simulator about each cell.
func checkExperiment(t *testing.T, name string, text []byte) {
	t.Helper()
	x, err := experiment.Parse(name, text)
	if err != nil {
		t.Error(err)
		return
	}
	plan, err := x.Plan(experiment.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	if err := plan.Check(experiment.Simulator{}); err != nil {
		t.Error(err)
	}
}

func TestExperimentsAreSound(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "experiments", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("experiments: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkExperiment(t, file, text)
	}
	checkExperiment(t, "README.md", []byte(blocks(t, "README.md", "yaml")[0]))
	checkExperiment(t, "docs/experiment.md", []byte(blocks(t, "docs/experiment.md", "yaml")[0]))
}

func TestMachineOfTheDocumentIsSound(t *testing.T) {
	text := blocks(t, "docs/machine.md", "yaml")[0]
	file := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Load(file); err != nil {
		t.Error(err)
	}
}
