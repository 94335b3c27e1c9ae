package sched

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestBalanceDecisions reads two groups' sums and prints how they classify and
// what the kernel would move (mechanisms.md 9.3 to 9.5, 9.10). The domain's
// totals are those of the two groups and of the rest, if any.
//
//	decide kernel=v5.17 [idle=busy|idle|newidle] [pct=117] [sibling] [numa] [llc] [allowed=N]
//	local weight=2 nr=0 idle=2
//	busiest weight=2 nr=3 util=1800 runnable=2900
//	rest weight=4 load=1000
//
// From v6.6 on a group has cores=N, and smt says that it is one core with
// threads. A group's capacity is 1024 a CPU unless cap says otherwise, h equals nr, and
// flag sets its imbalance flag.
func TestBalanceDecisions(t *testing.T) {
	datadriven.RunTest(t, "testdata/balance_decide", func(t *testing.T, d *datadriven.TestData) string {
		q := parseDecision(t, d)
		if q.kernel == "v4.14" {
			return q.decide414(t)
		}
		return q.decide(t)
	})
}

type decisionQuestion struct {
	kernel         string
	env            balanceEnv
	sibling        bool
	local, busiest groupStats
	rest           groupStats
	flags          [2]bool // imbalance flags of local and busiest
}

func parseDecision(t *testing.T, d *datadriven.TestData) *decisionQuestion {
	q := &decisionQuestion{}
	q.env.d = &Domain{ImbalancePct: 117}
	q.env.idle = Idle
	for _, arg := range d.CmdArgs {
		value := ""
		if len(arg.Vals) > 0 {
			value = arg.Vals[0]
		}
		switch arg.Key {
		case "kernel":
			q.kernel = value
		case "idle":
			q.env.idle = map[string]IdleType{"busy": NotIdle, "idle": Idle, "newidle": NewlyIdle}[value]
		case "pct":
			q.env.d.ImbalancePct = atoi(t, value)
		case "sibling":
			q.sibling = true
		case "numa":
			q.env.d.Flags |= FlagNUMA
		case "llc":
			q.env.d.Flags |= FlagShareLLC
		case "allowed":
			q.env.d.ImbNUMANr = atoi(t, value)
		default:
			d.Fatalf(t, "unknown argument %s", arg.Key)
		}
	}
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		switch words[0] {
		case "local":
			q.local, q.flags[0] = parseGroup(t, words[1:])
		case "busiest":
			q.busiest, q.flags[1] = parseGroup(t, words[1:])
		case "rest":
			q.rest, _ = parseGroup(t, words[1:])
		default:
			d.Fatalf(t, "unknown group %s", words[0])
		}
	}
	return q
}

func parseGroup(t *testing.T, words []string) (g groupStats, flag bool) {
	capacity := int64(-1)
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "flag":
			flag = true
		case "weight":
			g.weight = int32(atoi(t, value))
		case "nr":
			g.nr = int32(atoi(t, value))
			g.h = g.nr
		case "cores":
			g.cores = int32(atoi(t, value))
		case "smt":
			g.smt = true
		case "idle":
			g.idleCPUs = int32(atoi(t, value))
		case "cap":
			capacity = atoi(t, value)
		case "load":
			g.load = atoi(t, value)
		case "util":
			g.util = atoi(t, value)
		case "runnable":
			g.runnable = atoi(t, value)
		default:
			t.Fatalf("unknown field %s", key)
		}
	}
	if capacity < 0 {
		capacity = int64(g.weight) * capacityFull
	}
	g.capacity = capacity
	return g, flag
}

func atoi(t *testing.T, s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (q *decisionQuestion) decide(t *testing.T) string {
	profile, err := LookupProfile(q.kernel)
	if err != nil {
		t.Fatal(err)
	}
	rules := &profile.Balance
	q.busiest.sharesCore = rules.balancesCores && q.env.sharesCore(&q.busiest)
	ds := &domainStats{
		local: q.local, busiest: q.busiest, preferSibling: q.sibling,
		load:     q.local.load + q.busiest.load + q.rest.load,
		capacity: q.local.capacity + q.busiest.capacity + q.rest.capacity,
	}
	for i, g := range []*groupStats{&ds.local, &ds.busiest} {
		g.kind = g.classify(q.env.d.ImbalancePct, q.flags[i])
		if g.kind == groupOverloaded {
			g.avgLoad = g.loadPerCapacity()
		}
	}
	kinds := fmt.Sprintf("local %s, busiest %s: ", ds.local.kind, ds.busiest.kind)
	if !ds.unbalanced(&q.env, rules.siblingDifference) {
		return kinds + "balanced\n"
	}
	s := &Scheduler{profile: profile}
	s.computeImbalance(&q.env, ds)
	return kinds + fmt.Sprintf("%s %d\n", q.env.move, q.env.imbalance)
}

func (q *decisionQuestion) decide414(t *testing.T) string {
	ds := &domainStats414{local: q.group414(0), busiest: q.group414(1)}
	ds.load = ds.local.load + ds.busiest.load + q.rest.load
	ds.capacity = ds.local.capacity + ds.busiest.capacity + q.rest.capacity
	ds.avgLoad = ds.load * capacityFull / ds.capacity
	kinds := fmt.Sprintf("local %s avg %d, busiest %s avg %d, domain avg %d: ",
		ds.local.kind, ds.local.avgLoad, ds.busiest.kind, ds.busiest.avgLoad, ds.avgLoad)
	if !ds.unbalanced(&q.env) {
		return kinds + "balanced\n"
	}
	q.env.dst = &runqueue{}
	s := &Scheduler{profile: &v414}
	return kinds + fmt.Sprintf("load %d\n", ds.imbalance(s, &q.env))
}

func (q *decisionQuestion) group414(i int) groupStats414 {
	g := groupStats414{groupStats: q.local}
	if i == 1 {
		g.groupStats = q.busiest
	}
	g.judge(q.env.d.ImbalancePct, q.flags[i], g.load)
	return g
}
