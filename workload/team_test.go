package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// F7: the last of four to arrive begins a new round and wakes those who sleep by
// then, in the order of falling asleep.
func TestF7TeamBarrier(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: TeamBarrier, Value: 4})
	arrive := func() (round int32, last bool) {
		round, last = b.set.TeamArrive(0, &b.out)
		b.note()
		return round, last
	}
	for range 3 {
		if round, last := arrive(); round != 0 || last {
			t.Fatalf("an early thread: round %d, last %t", round, last)
		}
	}
	for _, task := range []TaskID{2, 0, 1} {
		b.set.TeamWait(0, 0, task, &b.out)
		if !b.note() {
			t.Errorf("task %d does not sleep before the round is over", task)
		}
	}
	if _, last := arrive(); !last || b.out.Calls != 1 {
		t.Errorf("the fourth of four: last %t, %d calls, want one FUTEX_WAKE", last, b.out.Calls)
	}
	b.wantWoken(2, 0, 1)
	if !b.set.TeamReleased(0, 0) || b.set.TeamReleased(0, 1) {
		t.Error("the fourth arrival must end round 0 and begin round 1")
	}
	b.set.TeamWait(0, 0, 3, &b.out)
	if b.note() {
		t.Error("a thread that comes to sleep after the round must not")
	}
	if round, _ := arrive(); round != 1 {
		t.Errorf("the next arrival is in round %d, want 1", round)
	}
}

// The last arrival calls FUTEX_WAKE although nobody sleeps (4.6).
func TestTeamBarrierAlwaysCalls(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: TeamBarrier, Value: 1})
	if _, last := b.set.TeamArrive(0, &b.out); !last || b.out.Calls != 1 || len(b.out.Wakes) != 0 {
		t.Errorf("alone: last %t, %d calls, %d wakes; want one call without wakes", last, b.out.Calls, len(b.out.Wakes))
	}
}

func TestHandOver(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Flag})
	if b.set.HandOver(0, 1, 0) || !b.set.HandOver(0, 0, 1) || b.set.Value(0) != 1 || !b.set.HandOver(0, 1, 0) || b.set.Value(0) != 0 {
		t.Error("a flag must change from the value that it holds only")
	}
}

func TestTeamProgramsReadBack(t *testing.T) {
	text := "\tteammeet s0 300000\n\thandover s1 1 0\n\thandover s1 -1 7\n\texit\n"
	p, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, p.String()); diff != "" {
		t.Error(diff)
	}
	if err := p.Validate(Bounds{Syncs: []SyncSpec{{Kind: TeamBarrier, Value: 2}, {Kind: Flag}}}); err != nil {
		t.Error(err)
	}
	for bad, want := range map[string]string{
		"teammeet s1 5\nexit":         "object 1 is a flag, not a team barrier",
		"handover s0 0 1\nexit":       "object 0 is a team barrier, not a flag",
		"handover s0 0\nexit":         `want "handover sOBJECT VALUE VALUE"`,
		"teammeet s0 -1\nexit":        "want N with N a whole number",
		"handover s1 0 9999999999999": "fits into 32 bits",
	} {
		p, err := ParseProgram(bad)
		if err == nil {
			err = p.Validate(Bounds{Syncs: []SyncSpec{{Kind: TeamBarrier, Value: 2}, {Kind: Flag}}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", bad, err, want)
		}
	}
}

// 4.6: 300,000 turns, 100 with more threads than CPUs; active 30 billion and
// 1000; passive none. GOMP_SPINCOUNT goes before, but not above what is throttled.
func TestSpinTurns(t *testing.T) {
	for _, c := range []struct {
		variables     string
		threads, cpus int
		want          int64
	}{
		{"", 4, 4, 300_000}, {"", 8, 4, 100},
		{"OMP_WAIT_POLICY=active", 4, 4, 30_000_000_000}, {"OMP_WAIT_POLICY=ACTIVE", 8, 4, 1000},
		{"OMP_WAIT_POLICY=passive", 4, 4, 0}, {"OMP_WAIT_POLICY=passive", 8, 4, 0},
		{"GOMP_SPINCOUNT=20k", 4, 4, 20_000}, {"GOMP_SPINCOUNT=20k", 8, 4, 100}, {"GOMP_SPINCOUNT=50", 8, 4, 50},
		{"GOMP_SPINCOUNT=infinite", 4, 4, 30_000_000_000},
	} {
		b := mustParse(t, strings.TrimSpace("lu "+c.variables)).(*lu)
		if got := b.team.turns(c.threads, c.cpus); got != c.want {
			t.Errorf("%q, %d threads on %d CPUs: %d turns, want %d", c.variables, c.threads, c.cpus, got, c.want)
		}
	}
}

func TestAffinityOfATeam(t *testing.T) {
	for _, c := range []struct {
		variables string
		want      [][]int // of threads 0 to 4 on 4 CPUs
	}{
		{"", [][]int{nil, nil, nil, nil, nil}},
		{"OMP_PROC_BIND=true", [][]int{{0}, {1}, {2}, {3}, {0}}},
		{"OMP_PROC_BIND=false", [][]int{nil, nil, nil, nil, nil}},
		{"GOMP_CPU_AFFINITY=3,0-2:2", [][]int{{3}, {0}, {2}, {3}, {0}}},
	} {
		b := mustParse(t, strings.TrimSpace("lu "+c.variables)).(*lu)
		var got [][]int
		for i := range 5 {
			got = append(got, b.team.allowed(i, 4))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.variables, diff)
		}
	}
}
