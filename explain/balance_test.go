package explain

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// balanceFloors are the lowest agreements about balancing, in percent: those
// that were reached when this was written, rounded down.
type balanceFloors struct{ moved, none, verdicts, same, due float64 }

// committedBalance is for the beginnings of captures in testdata.
var committedBalance = map[string]balanceFloors{
	"5.10": {moved: 95.4, none: 99.7, verdicts: 99.4, same: 78.4, due: 95.3},
	"6.1":  {moved: 96.7, none: 99.8, verdicts: 99.7, same: 80.2, due: 95.7},
	"6.12": {moved: 90.6, none: 99.5, verdicts: 99.5, same: 66.8, due: 92.9},
	"7.2":  {moved: 93.6, none: 99.7, verdicts: 95.1, same: 66, due: 94.3},
}

var sharedBalance = map[string]balanceFloors{
	"5.10": {moved: 96, none: 99.7, verdicts: 99.5, same: 86.3, due: 95.3},
	"6.1":  {moved: 96.9, none: 99.7, verdicts: 99.6, same: 84.8, due: 93.4},
	"6.12": {moved: 93.5, none: 99.7, verdicts: 99.6, same: 77.1, due: 93.2},
	"7.2":  {moved: 93.4, none: 99.5, verdicts: 94.9, same: 73.7, due: 93.3},
}

func TestBalancingOfCommittedCaptures(t *testing.T) {
	checkBalance(t, committed(), committedBalance)
}

func TestBalancingOfSharedCaptures(t *testing.T) {
	result := sharedResult()
	if result == nil {
		t.Log("left out: neither $SCHEDLAB_SHARED nor ../shared holds captures")
		return
	}
	checkBalance(t, result, sharedBalance)
}

func checkBalance(t *testing.T, result *Result, want map[string]balanceFloors) {
	t.Helper()
	kernels, sums := result.balanceByKernel()
	if len(kernels) != len(want) {
		t.Fatalf("kernels %v, floors are for %d", kernels, len(want))
	}
	for _, k := range kernels {
		all, f := sums[k].Total(), want[k]
		atLeast(t, k+" passes that moved tasks", all.Moved, f.moved)
		atLeast(t, k+" passes that moved none", all.None, f.none)
		atLeast(t, k+" verdicts", all.Verdicts, f.verdicts)
		atLeast(t, k+" same tasks", all.Same, f.same)
		atLeast(t, k+" due passes", all.Due, f.due)
		if ours := all.Moved.Agree + all.None.Agree; ours <= all.None.Decisions {
			t.Errorf("%s: the guess that nothing moves explains %d passes, the rules %d", k, all.None.Decisions, ours)
		}
		if all.Verdicts.Agree <= all.Refused {
			t.Errorf("%s: the guess no explains %d verdicts, the rules %d", k, all.Refused, all.Verdicts.Agree)
		}
	}
}

var (
	lbPattern  = regexp.MustCompile(`\[(\d+)\] .* lb: `)
	lbrPattern = regexp.MustCompile(`\[(\d+)\] .* lbr: .* pulled=(-?\d+)`)
	cmrPattern = regexp.MustCompile(`\[(\d+)\] .* cmr: .* ret=(\d)`)
)

// countBalance counts passes and verdicts in the text of a trace.
func countBalance(t *testing.T, path string) (moved, none, verdicts, refused int64) {
	t.Helper()
	open := map[string]bool{}
	lines := textLines(t, path)
	for lines.Scan() {
		line := lines.Text()
		if m := lbPattern.FindStringSubmatch(line); m != nil {
			open[m[1]] = true
		} else if m := lbrPattern.FindStringSubmatch(line); m != nil && open[m[1]] {
			open[m[1]] = false
			if m[2] == "0" {
				none++
			} else {
				moved++
			}
		} else if m := cmrPattern.FindStringSubmatch(line); m != nil {
			verdicts++
			if m[2] == "0" {
				refused++
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return moved, none, verdicts, refused
}

func TestPassesAndVerdictsAreCountedByHand(t *testing.T) {
	dir := filepath.Join("testdata", "6.1", "nested-while1")
	moved, none, verdicts, refused := countBalance(t, filepath.Join(dir, "trace.txt.gz"))
	got := explainAll(t, dir, 1).Captures[0].Balance.Total()
	if got.Moved.Decisions != moved || got.None.Decisions != none || got.Verdicts.Decisions != verdicts || got.Refused != refused {
		t.Errorf("moved %d, none %d, verdicts %d, no %d; the text has %d, %d, %d, %d",
			got.Moved.Decisions, got.None.Decisions, got.Verdicts.Decisions, got.Refused, moved, none, verdicts, refused)
	}
}

// spreadTrace: on CPU 0 task 20 runs and task 10 waits, having run 100 ms ago;
// CPUs 2 and 3 idle. CPU 2 balances the cache: the core of CPU 0 has two tasks,
// its own none, so one is to be moved (mechanisms.md 9.11). The verdict is yes:
// nothing has run task 10 for longer than migration_cost.
const spreadTrace = `            b-20      [000] d..2.     1.000000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120
          <idle>-0       [002] ..s1.     1.100000: lb: (load_balance+0x0/0xe50) dst=2 level=2 span=4 failed=0 interval=4 idle=0
          <idle>-0       [002] d.s2.     1.100010: cm: (can_migrate_task+0x0/0x510) pid=10 src=0 dst=2 imbalance=1 type=2 load=1024 util=500
          <idle>-0       [002] d.s2.     1.100020: cmr: (load_balance+0x5e4/0xe50 <- can_migrate_task) ret=1
          <idle>-0       [002] d.s2.     1.100030: sched_migrate_task: comm=a pid=10 prio=120 orig_cpu=0 dest_cpu=2
          <idle>-0       [002] ..s1.     1.100040: lbr: (rebalance_domains+0x28b/0x3c0 <- load_balance) pulled=1
`

func runTrace(t *testing.T, text string) *Capture {
	t.Helper()
	b, err := Open(writeBundle(t, linux61, "", text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPassThatSpreads(t *testing.T) {
	c := runTrace(t, spreadTrace)
	one := Count{1, 1}
	if got := c.Balance.Total(); got.Moved != one || got.Same != one || got.Verdicts != one || got.Source != one || got.None.Decisions != 0 {
		t.Errorf("counts %+v, want one pass that moved task 10", got)
	}
	if cells := c.Balance.Cells; len(cells) != 1 || cells[0].Level != "MC" || cells[0].Idle != sched.Idle {
		t.Errorf("cells %+v, want MC, idle", cells)
	}
}

// The same pass, in which the kernel refuses: both disagreements are kept, and
// what explains the pass is the verdict.
func TestPassThatDiffersByItsVerdict(t *testing.T) {
	text := strings.ReplaceAll(spreadTrace, "ret=1", "ret=0")
	text = strings.ReplaceAll(text, "pulled=1", "pulled=0")
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "sched_migrate_task") {
			kept = append(kept, line)
		}
	}
	c := runTrace(t, strings.Join(kept, ""))
	got := c.Balance.Total()
	if got.None != (Count{1, 0}) || got.Verdicts != (Count{1, 0}) || got.Refused != 1 {
		t.Errorf("counts %+v, want a pass and a verdict that differ", got)
	}
	if c.Balance.Causes[PassCauseVerdict] != 1 || c.Balance.VerdictCauses[VerdictCauseHeat] != 1 {
		t.Errorf("causes %v and %v, want a verdict that differs by heat", c.Balance.Causes, c.Balance.VerdictCauses)
	}
	var b bytes.Buffer
	if err := (&Result{Captures: []*Explained{{Capture: c}}}).WriteBalanceDisagreementsText(&b); err != nil {
		t.Fatal(err)
	}
	want := "1.100000 balance MC for CPU 2 (idle): kernel moved 0, model 1: CPU 0, tasks 1, local group has spare, busiest has spare: a verdict on one of the tasks differs\n"
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("line %q, want its end to be %q", b.String(), want)
	}
}

// A switch on another CPU during the pass makes it a race.
func TestPassDuringWhichQueuesChange(t *testing.T) {
	text := strings.ReplaceAll(spreadTrace, "pulled=1", "pulled=0")
	var out []string
	for line := range strings.Lines(text) {
		switch {
		case strings.Contains(line, " cm: "):
			out = append(out, "            b-20      [000] d..2.     1.100005: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120\n")
		case strings.Contains(line, "cmr: "), strings.Contains(line, "migrate"):
		default:
			out = append(out, line)
		}
	}
	c := runTrace(t, strings.Join(out, ""))
	if c.Balance.Total().None != (Count{1, 0}) || c.Balance.Causes[PassCauseChanged] != 1 {
		t.Errorf("counts %+v, causes %v, want a race", c.Balance.Total(), c.Balance.Causes)
	}
}

// newTestReplay is a replay of nothing on four CPUs.
func newTestReplay(t *testing.T) *replay {
	t.Helper()
	b, err := Open(writeBundle(t, linux61, "", plainTrace))
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReplay(b, Options{HZ: 250}, trace.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Three tasks are bound to CPU 0 (mask 0x1). One is allowed to move: so are
// the others, it is supposed, until one of them is refused.
func TestAffinityIsLearnedFromVerdicts(t *testing.T) {
	r := newTestReplay(t)
	var bound [3]*task
	for i := range bound {
		bound[i] = r.lookup(trace.Task{PID: int32(10 + i), Comm: trace.NoName, Prio: 120}, 0)
		r.setAllowed(bound[i], 0x1, 1)
	}
	verdict := func(k *task, model bool) *openVerdict {
		return &openVerdict{who: k, moves: model, ask: sched.VerdictQuestion{Task: &k.Task, From: 0, To: 2}}
	}
	r.learnAffinity(verdict(bound[0], false), true)
	for i, k := range bound {
		if !k.AllowedOn(2) {
			t.Errorf("task %d is still bound", i)
		}
	}
	r.learnAffinity(verdict(bound[1], true), false)
	if !bound[0].AllowedOn(2) || bound[1].AllowedOn(2) || bound[2].AllowedOn(2) {
		t.Error("want the first task free, the others bound again")
	}
	r.learnAffinity(verdict(bound[1], false), true)
	if !bound[1].AllowedOn(2) || bound[2].AllowedOn(2) {
		t.Error("want the second task free, and nothing supposed of the third")
	}
}

// Of a pass or a verdict whose end was not recorded nothing is counted; of what
// the machine does not have, neither.
func TestPassesThatCannotBeCompared(t *testing.T) {
	for what, change := range map[string][2]string{
		"no result":              {"pulled=1", "unpulled=1"},
		"no domain of 3 CPUs":    {"span=4", "span=3"},
		"no CPU 9":               {"dst=2", "dst=9"},
		"a pass that never ends": {"lbr:", "lbx:"},
	} {
		got := runTrace(t, strings.ReplaceAll(spreadTrace, change[0], change[1])).Balance.Total()
		if got.passes() != 0 {
			t.Errorf("%s: %+v, want no pass counted", what, got)
		}
	}
}

func TestCellsAreInOrder(t *testing.T) {
	var b Balance
	for _, c := range []struct {
		level string
		idle  sched.IdleType
	}{{"NUMA", sched.Idle}, {"SMT", sched.NewlyIdle}, {LevelActive, sched.Idle}, {"MC", sched.NotIdle}, {"SMT", sched.NotIdle}, {"MC", sched.NotIdle}} {
		b.cell(c.level, c.idle).None.check(true)
	}
	var got []string
	for _, c := range b.Cells {
		got = append(got, c.Level+" "+c.Idle.String())
	}
	if want := "SMT busy, SMT newidle, MC busy, NUMA idle, active idle"; strings.Join(got, ", ") != want {
		t.Errorf("cells %v, want %s", got, want)
	}
	if n := b.cell("MC", sched.NotIdle).None.Decisions; n != 2 {
		t.Errorf("%d passes in MC, want 2", n)
	}
}

func TestBalanceInTheReports(t *testing.T) {
	result := &Result{Captures: []*Explained{{Capture: runTrace(t, spreadTrace)}}}
	var text, object, table, cells bytes.Buffer
	for _, err := range []error{
		result.WriteText(&text), result.WriteJSON(&object), result.WriteCSV(&table), result.WriteBalanceCSV(&cells),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "\nbalancing:\n") {
		t.Errorf("text without a table of balancing:\n%s", text.String())
	}
	var parsed struct {
		Captures []struct {
			Balance map[string]json.RawMessage `json:"balance"`
		} `json:"captures"`
	}
	if err := json.Unmarshal(object.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]agreementJSON{"passes_moved": {1, 1}, "passes_none": {0, 0}, "verdicts": {1, 1}} {
		var got agreementJSON
		if err := json.Unmarshal(parsed.Captures[0].Balance[key], &got); err != nil || got != want {
			t.Errorf("balance.%s is %s, want %+v", key, parsed.Captures[0].Balance[key], want)
		}
	}
	for _, c := range []struct {
		name string
		out  *bytes.Buffer
	}{{"captures", &table}, {"cells", &cells}} {
		rows, err := csv.NewReader(c.out).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Errorf("%s: %d rows, error %v, want a header and one row", c.name, len(rows), err)
		}
	}
}

// A recording without balance probes has no table of balancing.
func TestNoTableWithoutPasses(t *testing.T) {
	result := &Result{Captures: []*Explained{{Capture: runTrace(t, plainTrace)}}}
	var text bytes.Buffer
	if err := result.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "balancing:") {
		t.Errorf("a table of nothing:\n%s", text.String())
	}
}
