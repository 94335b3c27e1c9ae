package quota

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

// Setting is one point of a sweep.
type Setting struct {
	Limit   sched.Limit
	Threads int
}

// CPUs is what the limit amounts to.
func (s *Setting) CPUs() float64 { return float64(s.Limit.Quota) / float64(s.Limit.Period) }

// Sweep is a service with the ground it runs on.
type Sweep struct {
	// Base is the machine, the kernel, the cgroups above, the seed; its workload
	// and the limit of Path are set for each point.
	Base    experiment.Cell
	Path    string           // the service's cgroup
	Service workload.Service // its number of threads is set for each point
	Repeats int              // simulations of each point, with seeds of their own
	Workers int              // simulations at once; 0: one per CPU
}

// Point is a setting with what came of it.
type Point struct {
	Setting
	Requests   workload.RequestCounts // of all repeats together
	WorstP99   int64                  // us, of the repeats
	Throughput float64                // answered requests a second
	Used       float64                // CPUs of the service's group, kernel work in its threads included
	Stat       sched.BandwidthStats   // summed over the repeats, as all below
	Account    sched.BandwidthAccount
	End        int64 // ns of virtual time
	CPUTime    int64 // ns of all CPUs of the machine
	IdleTime   int64 // ns of that without a task
}

// Percentile is a latency in us.
func (p *Point) Percentile(percent float64) int64 {
	us, _ := p.Requests.Latency.Percentile(percent)
	return us
}

// Wasted is how many CPUs' worth of quota was left over, on average over the
// whole run, in periods in which the service was throttled all the same.
func (p *Point) Wasted() float64 { return float64(p.Account.Unused) / float64(max(1, p.End)) }

// Overloaded reports whether requests were left at the end that a longer run
// would not have answered either: more than one in a hundred.
func (p *Point) Overloaded() bool { return p.Requests.Unanswered*100 > p.Requests.Arrived }

// Check builds every point without running it. The error, an
// *experiment.FieldError, is the first refusal.
func (s *Sweep) Check(settings []Setting) error {
	for _, set := range settings {
		cell, err := s.cell(set, 1)
		if err != nil {
			return err
		}
		if _, err := experiment.NewSimulation(cell); err != nil {
			return err
		}
	}
	return nil
}

// cell is one simulation. All points of a repeat meet the same requests.
func (s *Sweep) cell(set Setting, repeat int) (*experiment.Cell, error) {
	service := s.Service
	service.Threads = set.Threads
	benchmark, err := workload.NewService(service)
	if err != nil {
		return nil, err
	}
	c := s.Base
	c.Workload = benchmark
	c.Seed = s.Base.Seed + uint64(repeat-1)
	c.Cgroup = s.Path
	c.Cgroups = append(c.Cgroups[:len(c.Cgroups):len(c.Cgroups)], experiment.CgroupSetting{Path: s.Path, File: "cpu.max", Value: set.Limit.Max()})
	if set.Limit.Burst > 0 {
		c.Cgroups = append(c.Cgroups, experiment.CgroupSetting{Path: s.Path, File: "cpu.max.burst", Value: fmt.Sprint(set.Limit.Burst / 1000)})
	}
	return &c, nil
}

// Run simulates the points, several at once; their order is that of the
// settings, whatever finishes first. done, if not nil, is called after each
// simulation.
func (s *Sweep) Run(ctx context.Context, settings []Setting, done func()) ([]Point, error) {
	points := make([]Point, len(settings))
	errs := make([]error, len(settings))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(s.workers(), len(settings)) {
		workers.Go(func() {
			for i := range next {
				points[i], errs[i] = s.point(ctx, settings[i], done)
			}
		})
	}
	for i := range settings {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return points, nil
}

func (s *Sweep) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (s *Sweep) point(ctx context.Context, set Setting, done func()) (Point, error) {
	p := Point{Setting: set}
	for repeat := 1; repeat <= s.Repeats; repeat++ {
		cell, err := s.cell(set, repeat)
		if err != nil {
			return p, err
		}
		run, err := experiment.NewSimulation(cell)
		if err != nil {
			return p, err
		}
		result, err := run.Run(ctx)
		if err != nil {
			return p, err
		}
		p.add(result, groupOf(run.Groups(), s.Path))
		if done != nil {
			done()
		}
	}
	p.finish()
	return p, nil
}

func groupOf(groups []sim.Group, path string) *sim.Group {
	for i := range groups {
		if groups[i].Path == path {
			return &groups[i]
		}
	}
	return &sim.Group{} // the service runs in a group, so this is never reached
}

// add adds a repeat to the point.
func (p *Point) add(r *sim.Result, g *sim.Group) {
	counts := r.Observation.Requests[0]
	p99, _ := counts.Latency.Percentile(99)
	p.WorstP99 = max(p.WorstP99, p99)
	p.Requests.Arrived += counts.Arrived
	p.Requests.Answered += counts.Answered
	p.Requests.Unanswered += counts.Unanswered
	p.Requests.Over += counts.Over
	p.Requests.Latency.Merge(&counts.Latency)
	p.Used += float64(g.Usage) // ns so far; see finish
	p.Stat = sumStats(p.Stat, g.Bandwidth)
	p.Account = sumAccounts(p.Account, g.Account)
	p.End += r.End
	p.CPUTime += r.Observation.CPUTime
	p.IdleTime += r.Observation.IdleTime
}

func (p *Point) finish() {
	p.Used /= float64(max(1, p.End))
	p.Throughput = float64(p.Requests.Answered) / (float64(max(1, p.Requests.Over)) / 1e9)
}

func sumStats(a, b sched.BandwidthStats) sched.BandwidthStats {
	a.Periods += b.Periods
	a.Throttled += b.Throttled
	a.ThrottledTime += b.ThrottledTime
	a.Bursts += b.Bursts
	a.BurstTime += b.BurstTime
	return a
}

func sumAccounts(a, b sched.BandwidthAccount) sched.BandwidthAccount {
	a.Exhausted += b.Exhausted
	a.Early += b.Early
	a.Used += b.Used
	a.Running += b.Running
	a.Parked += b.Parked
	a.Held += b.Held
	a.Unused += b.Unused
	a.Expired += b.Expired
	return a
}

// LimitOf is the limit that amounts to a number of CPUs in a period, whole
// microseconds, with a burst of so many percent of the quota.
func LimitOf(cpus float64, period int64, burstPercent int) sched.Limit {
	quota := int64(math.Round(cpus*float64(period)/1000)) * 1000
	return sched.Limit{Quota: quota, Period: period, Burst: quota * int64(burstPercent) / 100 / 1000 * 1000}
}
