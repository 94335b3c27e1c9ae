package explain

import (
	"context"
	"strings"
	"testing"
)

// The sender 406 wakes a receiver on its own CPU; the story names the CPUs in
// the order in which they were looked at and the rule that decided.
func TestWhyTellsOneDecision(t *testing.T) {
	b, err := Open("testdata/6.1/hb-pipe")
	if err != nil {
		t.Fatal(err)
	}
	pick, err := ParsePick("401@16.455985")
	if err != nil {
		t.Fatal(err)
	}
	story, err := Why(context.Background(), b, Options{}, pick)
	if err != nil {
		t.Fatal(err)
	}
	text := story.Text()
	for _, want := range []string{
		"hackbench-401 at 16.455985: woken on CPU 2 while hackbench-409 runs there, which is about to sleep (sync); it last ran on CPU 1.",
		"Target CPU 2: WA_IDLE: sync and waker alone.",
		"Looked at: CPU 2 (target idle): busy, CPU 1 (prev idle): busy, CPU 7 (recent_used_cpu idle): other LLC",
		"Decided by: nothing idle: target -> CPU 2.",
		"The kernel chose CPU 3. Cause: race: two placements overlap.",
		"NO_WA_IDLE",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

// The story of a decision must not change what comes after it.
func TestTellingLeavesNoTrace(t *testing.T) {
	b, err := Open("testdata/6.1/idle-noise")
	if err != nil {
		t.Fatal(err)
	}
	silent, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	told, err := Run(context.Background(), b, Options{story: 50})
	if err != nil {
		t.Fatal(err)
	}
	if told.story == nil || told.story.Index != 50 {
		t.Fatal("decision 50 was not told")
	}
	if silent.ByKind != told.ByKind || silent.Hidden != told.Hidden {
		t.Errorf("%+v and %+v", silent.ByKind, told.ByKind)
	}
}

func TestWhyOfAThreadThatWasNeverPlaced(t *testing.T) {
	b, err := Open("testdata/6.1/forks")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Why(context.Background(), b, Options{}, Pick{PID: 99999, Time: Anytime})
	if err == nil || !strings.Contains(err.Error(), "never placed") {
		t.Errorf("error %v", err)
	}
}
