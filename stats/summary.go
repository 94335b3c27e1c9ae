package stats

import "strings"

// Statistics that name a mean. Every other statistic is a plain one: it is
// averaged, but not tested (mechanisms.md 13.3).
const (
	StatisticAmean = "Amean"
	StatisticHmean = "Hmean"
)

// Arithmetic means over runs under the names of the documents that report them.
const (
	StatisticTPS          = "tps"          // of pgbench
	StatisticTransactions = "transactions" // of sysbench
	StatisticTime         = "time"         // of NAS LU
)

// IsMean says whether a statistic's rows carry a significance test: its name is
// one character followed by "mean", or a document's own for a mean.
func IsMean(statistic string) bool {
	switch statistic {
	case StatisticTPS, StatisticTransactions, StatisticTime:
		return true
	}
	return len(statistic) == len("Amean") && strings.HasSuffix(statistic, "mean")
}

// Summary is what the samples of one row and one variant come to.
type Summary struct {
	N        int
	Mean     float64 // the displayed mean: harmonic for Hmean, else arithmetic
	StdDev   float64 // around the arithmetic mean, in the unit of the samples
	Interval Interval
}

// Summarize reduces samples by the rules of their statistic.
func Summarize(statistic string, samples []float64) Summary {
	s := Summary{N: len(samples), StdDev: StdDev(samples)}
	if statistic == StatisticHmean {
		s.Mean, s.Interval = Hmean(samples), HmeanInterval(samples)
	} else {
		s.Mean, s.Interval = Amean(samples), AmeanInterval(samples)
	}
	return s
}
