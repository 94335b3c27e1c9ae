package sched

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/schedlab/schedlab/machine"
)

// TestPlacementFixtures runs testdata/placement: each file builds a state and
// shows the decision taken in it.
//
//	new machine=NODESxLLCSxCORESxTHREADS kernel=K [features=(F,...)]
//	busy cpus=(0-3,8) [n=TASKS]       idle-class cpus=(...)      idle cpus=(...)
//	load cpu=C load=L                 kthread cpu=C [n=TASKS] (a per-CPU kernel thread runs there)
//	llc cpu=C [idle-cores=BOOL] [nr-idle-scan=N]
//	avg cpu=C [idle=NS] [wake-idle=NS] [scan-cost=NS]
//	task [prev=C] [recent=C] [allowed=(...)] [util=U]
//	wake here=C [sync]      fork here=C
//	exec here=C             the task replaces the one that runs there
//
// The task stays the same until the next "task"; state changes only by command
// and by what the placement itself changes. Numbering of CPUs: see topo.
func TestPlacementFixtures(t *testing.T) {
	datadriven.Walk(t, "testdata/placement", func(t *testing.T, path string) {
		f := &placementFixture{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return f.run(t, d)
		})
	})
}

type placementFixture struct {
	lab  *placementLab
	task *Task
}

func (f *placementFixture) run(t *testing.T, d *datadriven.TestData) string {
	cpus := func(key string) []int {
		for _, arg := range d.CmdArgs {
			if arg.Key == key {
				list, err := machine.ParseCPUList(strings.Join(arg.Vals, ","), len(f.lab.rqs))
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				return list
			}
		}
		return nil
	}
	number := func(key string, otherwise int64) int64 {
		v := otherwise
		d.MaybeScanArgs(t, key, &v)
		return v
	}
	switch d.Cmd {
	case "new":
		f.build(t, d)
	case "busy":
		f.lab.busy(int(number("n", 1)), cpus("cpus")...)
	case "idle-class":
		f.lab.runsIdleClass(cpus("cpus")...)
	case "idle":
		f.lab.idles(cpus("cpus")...)
	case "load":
		f.lab.load(int(number("cpu", 0)), number("load", 0))
	case "kthread":
		cpu := int(number("cpu", 0))
		f.lab.busy(int(number("n", 1)), cpu)
		f.lab.rqs[cpu].curr.kthread = true
	case "llc":
		shared := f.lab.rqs[number("cpu", 0)].llcShared
		d.MaybeScanArgs(t, "idle-cores", &shared.HasIdleCores)
		shared.NrIdleScan = int32(number("nr-idle-scan", int64(shared.NrIdleScan)))
	case "avg":
		rq := &f.lab.rqs[number("cpu", 0)]
		rq.avgIdle = number("idle", rq.avgIdle)
		rq.wakeAvgIdle = number("wake-idle", rq.wakeAvgIdle)
		rq.llc.avgScanCost = number("scan-cost", rq.llc.avgScanCost)
	case "task":
		f.task = f.lab.task(int(number("prev", 0)), cpus("allowed")...)
		f.task.recentUsed = int32(number("recent", number("prev", 0)))
		f.task.se.avg.utilAvg = number("util", 0)
	case "wake", "fork", "exec":
		return f.place(d)
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return ""
}

func (f *placementFixture) build(t *testing.T, d *datadriven.TestData) {
	var shape, kernel string
	d.ScanArgs(t, "machine", &shape)
	d.ScanArgs(t, "kernel", &kernel)
	var tp topo
	if _, err := fmt.Sscanf(shape, "%dx%dx%dx%d", &tp.nodes, &tp.llcs, &tp.cores, &tp.threads); err != nil {
		d.Fatalf(t, "machine %q: %v", shape, err)
	}
	var features []string
	for _, arg := range d.CmdArgs {
		if arg.Key == "features" {
			features = arg.Vals
		}
	}
	f.lab = newPlacementLab(t, kernel, tp, features...)
}

var kindOf = map[string]Kind{"wake": KindWake, "fork": KindFork, "exec": KindExec}

// place carries out a placement and shows the record, the counters that it
// changed, and what it left behind.
func (f *placementFixture) place(d *datadriven.TestData) string {
	lab, kind := f.lab, kindOf[d.Cmd]
	here := 0
	for _, arg := range d.CmdArgs {
		if arg.Key == "here" {
			here, _ = strconv.Atoi(arg.Vals[0])
		}
	}
	prev := int(f.task.cpu)
	if kind != KindWake {
		prev = here
	}
	if kind == KindExec {
		lab.rqs[here].curr = f.task
		f.task.queued, f.task.se.avg.last = true, 0
	}
	before, recent := *lab.Stats(here), f.task.recentUsed
	lab.selectCPU(f.task, prev, here, kind, d.HasArg("sync"))

	var b strings.Builder
	dec := &lab.decision
	fmt.Fprintf(&b, "CPU %d by %s\n", dec.CPU, dec.Rule)
	if kind == KindWake {
		fmt.Fprintf(&b, "affine: %s; target %d\n", dec.Affine, dec.Target)
	}
	writeCandidates(&b, dec)
	after := lab.Stats(here)
	if kind == KindWake {
		fmt.Fprintf(&b, "search %d domain %d scanned %d failed %d\n",
			after.SISSearch-before.SISSearch, after.SISDomainSearch-before.SISDomainSearch,
			after.SISScanned-before.SISScanned, after.SISFailed-before.SISFailed)
	}
	if f.task.recentUsed != recent {
		fmt.Fprintf(&b, "recent_used %d -> %d\n", recent, f.task.recentUsed)
	}
	return b.String()
}

// writeCandidates prints one line a step: the CPUs it looked at, with "+" for
// taken, "-" busy, "!" not allowed, "/" other LLC, "#" core busy, "?" budget
// exhausted, "=" not the best.
func writeCandidates(b *strings.Builder, d *Decision) {
	signs := map[Verdict]string{
		VerdictTaken: "+", VerdictBusy: "-", VerdictNotAllowed: "!", VerdictOtherLLC: "/",
		VerdictCoreBusy: "#", VerdictBudget: "?", VerdictNotBest: "=", VerdictFiltered: "o",
	}
	last := RuleNone
	for _, c := range d.Candidates {
		if c.Step != last {
			if last != RuleNone {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "  %s:", c.Step)
			if c.Step == RuleIdleCPU && d.Budget >= 0 {
				fmt.Fprintf(b, " (budget %d)", d.Budget)
			}
			last = c.Step
		}
		fmt.Fprintf(b, " %d%s", c.CPU, signs[c.Verdict])
	}
	if last != RuleNone {
		b.WriteByte('\n')
	}
}
