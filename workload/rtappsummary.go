package workload

import (
	"fmt"
	"strings"
)

// rtSummary is the gist of the logs.
type rtSummary struct {
	loopNS  int64
	threads []rtThreadSummary
	all     rtThreadSummary
}

// rtThreadSummary sums up one log; times are µs.
type rtThreadSummary struct {
	name              string
	turns             int64
	run, period, late int64 // sums
	mostLate          int64
	timers            bool // any of its activations has one
	leastSlack        int64
}

func (b *rtApp) summarize(obs *Observation, logs []rtLog) *rtSummary {
	s := &rtSummary{loopNS: b.loopNS()}
	for i := range logs {
		l := &logs[i]
		t := rtThreadSummary{name: l.name}
		for j := range l.turns {
			t.add(b.row(l, &l.turns[j], obs.Marks[rtStart]))
		}
		s.threads = append(s.threads, t)
		s.all.join(&t)
	}
	return s
}

func (t *rtThreadSummary) add(r rtRow) {
	t.turns++
	t.run += r.run
	t.period += r.period
	t.late += r.late
	t.mostLate = max(t.mostLate, r.late)
	if r.cPeriod == 0 {
		return
	}
	if !t.timers || r.slack < t.leastSlack {
		t.leastSlack = r.slack
	}
	t.timers = true
}

func (t *rtThreadSummary) join(o *rtThreadSummary) {
	t.turns += o.turns
	t.late += o.late
	t.mostLate = max(t.mostLate, o.mostLate)
	t.timers = t.timers || o.timers
}

func (s *rtSummary) text(file string, end int64) string {
	var b strings.Builder
	plural := "s"
	if len(s.threads) == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "rt-app %s: %d thread%s, %s, pLoad %d ns\n", file, len(s.threads), plural, secondsText(end), s.loopNS)
	width := len("thread")
	for i := range s.threads {
		width = max(width, len(s.threads[i].name))
	}
	fmt.Fprintf(&b, "%-*s %11s %10s %10s %10s %10s %11s\n", width, "thread", "activations", "run", "period", "wu_lat", "most", "least slack")
	for i := range s.threads {
		t := &s.threads[i]
		fmt.Fprintf(&b, "%-*s %11d %10s %10s", width, t.name, t.turns, mean(t.run, t.turns), mean(t.period, t.turns))
		if t.timers {
			fmt.Fprintf(&b, " %10s %10d %11d", mean(t.late, t.turns), t.mostLate, t.leastSlack)
		}
		b.WriteByte('\n')
	}
	b.WriteString("(means over the activations in us; wu_lat and slack where there are timers)\n")
	return b.String()
}

// mean writes a mean with one decimal, a dash for none.
func mean(sum, n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(sum)/float64(n))
}

// metrics are the wakeup latency where there are timers, and the rate.
func (s *rtSummary) metrics(end int64) []Metric {
	var metrics []Metric
	if s.all.timers && s.all.turns > 0 {
		metrics = append(metrics,
			Metric{Statistic: "Amean", Label: "wu_lat", Unit: "us", Better: "lower", Value: float64(s.all.late) / float64(s.all.turns)},
			Metric{Statistic: "Max", Label: "wu_lat", Unit: "us", Better: "lower", Value: float64(s.all.mostLate)})
	}
	if end > 0 {
		metrics = append(metrics, Metric{Statistic: "Hmean", Label: "activations", Unit: "activations/s", Better: "higher", Value: float64(s.all.turns) * 1e9 / float64(end)})
	}
	return metrics
}
