package workload

import (
	"errors"
	"fmt"

	"github.com/schedlab/schedlab/rtapp"
)

// rtApp runs the threads that a workload file of rt-app describes. Package
// rtapp knows the grammar; rtappbuild.go and rtappevents.go make programs of it,
// rtapplog.go writes the logs, and rtappgaps.go names what is left out.
type rtApp struct {
	file    *rtapp.File
	stop    int64 // ns; when Ctrl-C would come, where the file has no end
	ignored int
	threads []rtThread // those of the last Build, those in pools included
	starts  int        // how many of them begin at once
	limited bool       // the last Build set a stop,
	stopped int64      // which is this, in ns
}

// defaultStop is when a file without a duration whose threads never end is
// stopped.
const defaultStop = 10e9

func newRTApp() *rtApp { return &rtApp{} }

// Name implements [Benchmark].
func (b *rtApp) Name() string { return "rt-app" }

func (b *rtApp) options() []option {
	return []option{
		{"", "stop", "SECONDS", "when Ctrl-C ends a file that sets no duration (10, if its threads never end)", toSeconds(&b.stop)},
		{"l", "log", "LEVEL", "read and ignored: what the tool says about itself", toInt(&b.ignored, 0, 100)},
		{"v", "version", "", "not simulated", notSimulated("the tool's version")},
	}
}

func (b *rtApp) operand() option {
	return option{arg: "FILE.json", help: "the workload; its logs go where it says", set: b.load}
}

// operandIsFile makes it one of the inputs of an experiment.
func (b *rtApp) operandIsFile() {}

func (b *rtApp) load(path string) error {
	switch {
	case b.file != nil:
		return fmt.Errorf("a second file %s: rt-app takes one", path)
	case path == "-":
		return errors.New("the workload is read from a file here, not from standard input: name one")
	}
	var err error
	b.file, err = rtapp.Load(path)
	return err
}

func (b *rtApp) check() error {
	if b.file == nil {
		return errors.New("which workload? Write rt-app FILE.json")
	}
	return nil
}

// Report implements [Benchmark]. rt-app prints nothing on stdout; its figures
// are in the logs, of which this is the gist.
func (b *rtApp) Report(obs *Observation) Report {
	logs := b.logs(obs)
	report := Report{Unsimulated: unsimulated(b.file)}
	if b.limited && obs.EndTime >= b.stopped {
		report.Unsimulated = append(report.Unsimulated, fmt.Sprintf(
			"%s: stopped after %s, as by Ctrl-C: there is no duration, and not every thread has ended; --stop SECONDS sets another time", b.file.Name, secondsText(b.stopped)))
	}
	if obs.OutOfTasks > 0 {
		report.Failure = fmt.Sprintf("rt-app gives up: a task was forked more than %d times", forkLimit)
	}
	if obs.LogFull {
		report.Failure = fmt.Sprintf("%s: %d activations in %s are as many as can be logged; let it end sooner, or give its phases more to do", b.file.Name, MaxActivations, secondsText(obs.EndTime))
	}
	summary := b.summarize(obs, logs)
	report.Text = summary.text(b.file.Name, obs.EndTime)
	report.Metrics = summary.metrics(obs.EndTime)
	return report
}
