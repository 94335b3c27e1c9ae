package workload

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
)

// rt-app's log of a thread has a line for each activation, all times in µs.

// rtRow is one line.
type rtRow struct {
	index                    int
	perf, run, period        int64
	start, end, relative     int64
	slack, duration, cPeriod int64
	late                     int64
}

const (
	rtHeader = "%s %8s %8s %8s %15s %15s %15s %10s %10s %10s %10s\n"
	rtLine   = "%4d %8d %8d %8d %15d %15d %15d %10d %10d %10d %10d\n"
	// rtRowBytes is what a row takes in the buffer that log_size asks for.
	rtRowBytes = 88
)

// rtLog is what one thread has done.
type rtLog struct {
	name   string // as the log's file has it
	index  int    // in order of creation
	thread *rtThread
	turns  []Activation
}

// logs sorts the activations by thread: those that began at once, then the
// forked ones in the order of their forks.
func (b *rtApp) logs(obs *Observation) []rtLog {
	var logs []rtLog
	byTask := map[TaskID]int{}
	add := func(task TaskID, name string) {
		byTask[task] = len(logs)
		logs = append(logs, rtLog{name: name, index: len(logs), thread: &b.threads[task-1]})
	}
	for i := range b.starts {
		add(TaskID(taskOfThread(i)), fmt.Sprintf("%s-%d", b.threads[i].task.Name, i))
	}
	for _, task := range obs.Forks {
		if t := b.threadOf(task); t != nil {
			add(task, fmt.Sprintf("%s-%d-%04d", t.task.Name, len(logs), t.forked))
		}
	}
	for _, turn := range obs.Activations {
		if i, own := byTask[turn.Task]; own {
			logs[i].turns = append(logs[i].turns, turn)
		}
	}
	return logs
}

// threadOf is the thread of a task, nil if the task belongs to something that
// runs beside rt-app.
func (b *rtApp) threadOf(task TaskID) *rtThread {
	if task < 1 || int(task) > len(b.threads) {
		return nil
	}
	return &b.threads[task-1]
}

// rows turns activations into lines of the log. begin is when rt-app started
// its threads; the buffer, if it is limited, keeps the newest lines.
func (b *rtApp) rows(l *rtLog, begin int64) []rtRow {
	turns := l.turns
	if bytes := b.file.Global.Log.Buffer; bytes > 0 {
		turns = turns[max(0, len(turns)-int(bytes/rtRowBytes)):]
	}
	rows := make([]rtRow, len(turns))
	for i := range turns {
		rows[i] = b.row(l, &turns[i], begin)
	}
	return rows
}

func (b *rtApp) row(l *rtLog, turn *Activation, begin int64) rtRow {
	phase := &l.thread.phases[turn.Kind]
	return rtRow{
		index: l.index, perf: phase.perf + turn.Pieces*(pieceMicros/b.loopNS()), run: turn.RunMicros,
		period: MicrosOf(turn.End - turn.Start), start: MicrosOf(turn.Start), end: MicrosOf(turn.End),
		relative: MicrosOf(turn.Start - begin), slack: turn.SlackMicros,
		duration: phase.durationMicros, cPeriod: phase.periodMicros, late: turn.LateMicros,
	}
}

// loopNS is pLoad.
func (b *rtApp) loopNS() int64 {
	if measured := b.file.Global.Calibration; measured > 0 {
		return measured
	}
	return simulatedLoop
}

// LogFolder implements [Logger].
func (b *rtApp) LogFolder() string {
	if !b.file.Global.Log.Enabled {
		return ""
	}
	return filepath.Clean(b.file.Global.LogDir)
}

// Logs implements [Logger].
func (b *rtApp) Logs(obs *Observation) []LogFile {
	if !b.file.Global.Log.Enabled {
		return nil
	}
	var files []LogFile
	for _, l := range b.logs(obs) {
		files = append(files, LogFile{
			Path:  filepath.Join(b.file.Global.LogDir, b.file.Global.LogBasename+"-"+l.name+".log"),
			Write: func(w io.Writer) error { return writeRows(w, b.rows(&l, obs.Marks[rtStart])) },
		})
	}
	return files
}

func writeRows(w io.Writer, rows []rtRow) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, rtHeader, "#idx", "perf", "run", "period", "start", "end", "rel_st", "slack", "c_duration", "c_period", "wu_lat")
	for _, r := range rows {
		fmt.Fprintf(&out, rtLine, r.index, r.perf, r.run, r.period, r.start, r.end, r.relative, r.slack, r.duration, r.cPeriod, r.late)
	}
	_, err := w.Write(out.Bytes())
	return err
}
