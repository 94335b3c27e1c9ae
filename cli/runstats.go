package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/stats"
)

// runStatistics is where a run's scheduler statistics go.
type runStatistics struct {
	schedstat, layout string
	sis               string
	every             time.Duration
}

func (r *runStatistics) addFlags(f *pflag.FlagSet) {
	f.StringVar(&r.schedstat, "schedstat", "", "`FILE` for the counters at the end, as /proc/schedstat shows them")
	f.StringVar(&r.layout, "schedstat-layout", "v15", "which kernels' layout: v15, v16 or v17; sis16, sis17 or sis18 add the idle search")
	f.StringVar(&r.sis, "sis", "", "`FILE` for the idle search by machine, cache, domain and CPU, as CSV")
	f.DurationVar(&r.every, "stats-every", 0, "virtual time, such as 100ms, after which --schedstat and --sis write again (default: at the end only)")
}

// shortestStats bounds how often the counters of all CPUs are kept.
const shortestStats = 100 * time.Microsecond

// check refuses what would fail only after the run.
func (r *runStatistics) check() error {
	if err := report.CheckSchedstatLayout(r.layout); err != nil {
		return fmt.Errorf("--schedstat-layout: %w", err)
	}
	if r.every < 0 || r.every > 0 && r.every < shortestStats {
		return fmt.Errorf("--stats-every is %s; write a duration from %s on, such as 100ms", r.every, shortestStats)
	}
	if r.every > 0 && r.schedstat == "" && r.sis == "" {
		return fmt.Errorf("--stats-every needs --schedstat FILE or --sis FILE to write to")
	}
	for _, file := range []struct{ flag, path string }{{"--schedstat", r.schedstat}, {"--sis", r.sis}} {
		if file.path == "" {
			continue
		}
		if err := checkOutput(file.flag, file.path); err != nil {
			return err
		}
	}
	if r.sis != "" && r.schedstat != "" && filepath.Clean(r.sis) == filepath.Clean(r.schedstat) {
		return fmt.Errorf("--schedstat and --sis both write %s; name two files", r.sis)
	}
	return nil
}

// write writes the files that were asked for.
func (r *runStatistics) write(counters []*sched.Snapshot) error {
	if r.schedstat != "" {
		err := writeFile(r.schedstat, func(w io.Writer) error {
			for _, snap := range counters {
				if err := report.Schedstat(w, snap, r.layout); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if r.sis == "" {
		return nil
	}
	return writeFile(r.sis, func(w io.Writer) error { return report.SISOverTime(w, counters) })
}

// sisFigures are the ratios of the idle search that mmtests' tables show, over
// all CPUs and the whole run.
func sisFigures(r *sim.Result) []figure {
	var figures []figure
	for _, f := range stats.SISOf(&r.Sched).Ratios() {
		figures = append(figures, figure{f.Name, f.Value, "%"})
	}
	return figures
}
