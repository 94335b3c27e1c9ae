package capture

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/schedlab/schedlab/bundle"
)

// Options say what to record.
type Options struct {
	// Dir is the folder of the bundle; it must not hold anything yet.
	Dir string
	// Command is what to run meanwhile, with its arguments.
	Command []string
	// BufferKB is the size of each CPU's trace buffer; 0: [DefaultBufferKB].
	BufferKB int
	// Output is where what the command prints goes, besides the bundle; nil:
	// nowhere.
	Output io.Writer
}

// Report says how a recording went.
type Report struct {
	// Notes are sentences about what could not be recorded and why.
	Notes []string
	// Lost says which events were lost; empty: none.
	Lost []string
	// CommandError is how the command failed, nil when it ended well. The
	// recording is complete all the same.
	CommandError error
}

// DefaultBufferKB is a quarter of a gigabyte for all CPUs together, at least 2
// and at most 32 MiB for each.
func DefaultBufferKB(cpus int) int { return min(max(256<<10/max(cpus, 1), 2<<10), 32<<10) }

// Run records what the scheduler does while a command runs. When ctx is done
// the command is asked to end, what was recorded is written, and ctx's error
// returned. Whatever happens, everything that was changed is changed back
// before it returns; if that fails the error says what is left.
func Run(ctx context.Context, o Options) (*Report, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("only Linux's scheduler can be recorded, and this is %s; copy schedlab to a Linux machine", runtime.GOOS)
	}
	return run(ctx, osFS{}, o, runCommand)
}

// runner runs a command to its end, or until ctx is done.
type runner func(ctx context.Context, command []string, output io.Writer) error

func run(ctx context.Context, k kernelFS, o Options, command runner) (report *Report, err error) {
	if len(o.Command) == 0 {
		return nil, errors.New("no command to record; write it behind --, such as: schedlab capture -o DIR -- hackbench -g 1")
	}
	if err := bundle.CheckEmpty(o.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	s := &session{k: k, o: o, command: command, undo: &undo{}}
	defer func() {
		if undoErr := s.undo.run(); undoErr != nil {
			err = errors.Join(err, fmt.Errorf("not everything could be changed back: %w; the next capture removes instances and probes that are left", undoErr))
		}
	}()
	return s.record(ctx)
}

// session is one recording.
type session struct {
	k       kernelFS
	o       Options
	command runner
	undo    *undo
	inst    *instance
	report  Report
}

func (s *session) record(ctx context.Context) (*Report, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.describe(describeMachine, bundle.MachineFile); err != nil {
		return nil, err
	}
	if err := s.describe(describeSettings, bundle.TunablesFile); err != nil {
		return nil, err
	}
	if err := s.runRecorded(ctx); err != nil {
		return nil, err
	}
	if err := s.describe(describeGroups, bundle.GroupsFile); err != nil {
		return nil, err
	}
	if err := s.writeTrace(); err != nil {
		return nil, err
	}
	s.report.Notes = append(s.report.Notes, s.inst.notes...)
	s.report.Lost = s.inst.lost()
	return &s.report, ctx.Err()
}

// prepare makes the instance, with events and probes, recording still off.
func (s *session) prepare() error {
	tracing, found := findTracing(s.k)
	if !found {
		return fmt.Errorf("no tracefs in %s: %s", strings.Join(tracingPlaces, " or "), tracingMend)
	}
	me, err := self(s.k)
	if err != nil {
		return err
	}
	notes, err := sweep(s.k, tracing)
	s.report.Notes = append(s.report.Notes, notes...)
	if err != nil {
		s.report.Notes = append(s.report.Notes, err.Error())
	}
	statsOff := s.statisticsAreOff()
	s.inst = &instance{k: s.k, tracing: tracing, name: me.instance(statsOff), group: me.group(), undo: s.undo}
	if err := s.inst.create(s.bufferKB()); err != nil {
		return err
	}
	if err := s.inst.enableEvents(); err != nil {
		return err
	}
	s.inst.placeProbes()
	if statsOff {
		s.switchStatisticsOn()
	}
	return nil
}

func (s *session) bufferKB() int {
	if s.o.BufferKB > 0 {
		return s.o.BufferKB
	}
	return DefaultBufferKB(runtime.NumCPU())
}

func (s *session) statisticsAreOff() bool {
	data, err := s.k.ReadFile(statsPath)
	return err == nil && strings.TrimSpace(string(data)) == "0"
}

func (s *session) switchStatisticsOn() {
	s.undo.add("switching the scheduler's statistics off again (echo 0 > "+statsPath+")", func() error { return s.k.WriteFile(statsPath, "0") })
	if err := s.k.WriteFile(statsPath, "1"); err != nil {
		s.report.Notes = append(s.report.Notes, fmt.Sprintf("%v: the counters in %s will stand still", err, countersPath))
	}
}

// runRecorded runs the command with recording on.
func (s *session) runRecorded(ctx context.Context) error {
	output, err := os.Create(filepath.Join(s.o.Dir, bundle.OutputFile))
	if err != nil {
		return err
	}
	to := io.Writer(output)
	if s.o.Output != nil {
		to = io.MultiWriter(output, s.o.Output)
	}
	s.copyCounters(bundle.BeforeFile)
	if err := s.inst.set("tracing_on", "1"); err != nil {
		return errors.Join(err, output.Close())
	}
	s.report.CommandError = s.command(ctx, s.o.Command, to)
	err = s.inst.set("tracing_on", "0")
	s.copyCounters(bundle.AfterFile)
	return errors.Join(err, output.Close())
}

// copyCounters copies the scheduler's counters, where the kernel has them.
func (s *session) copyCounters(name string) {
	data, err := s.k.ReadFile(countersPath)
	if err != nil {
		if name == bundle.BeforeFile {
			s.report.Notes = append(s.report.Notes, fmt.Sprintf("%v: a kernel with CONFIG_SCHEDSTATS counts what the scheduler does", err))
		}
		return
	}
	if err := s.writeFile(name, data); err != nil {
		s.report.Notes = append(s.report.Notes, err.Error())
	}
}

func (s *session) describe(what func(kernelFS) *description, name string) error {
	d := what(s.k)
	s.report.Notes = append(s.report.Notes, d.notes...)
	return s.writeFile(name, []byte(d.String()))
}

func (s *session) writeFile(name string, data []byte) error {
	return os.WriteFile(filepath.Join(s.o.Dir, name), data, 0o644)
}

func (s *session) writeTrace() error {
	file, err := os.Create(filepath.Join(s.o.Dir, bundle.TraceFile))
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(file)
	err = s.inst.copyTrace(zip)
	return errors.Join(err, zip.Close(), file.Close())
}

// patience is how long a command that was asked to end is waited for.
const patience = 5 * time.Second

func runCommand(ctx context.Context, command []string, output io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd.Run()
}
