package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The timeline against the obvious: a slice that is sorted after every change,
// stably, so that equal keys stay in the order of their insertion.
func TestTimelineIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line timeline
		var oracle []*Entity
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				se := &Entity{vruntime: rapid.Int64Range(-4, 4).Draw(t, "vruntime")}
				line.insert(se)
				oracle = append(oracle, se)
				slices.SortStableFunc(oracle, func(a, b *Entity) int { return int(a.vruntime - b.vruntime) })
			},
			"remove": func(t *rapid.T) {
				if len(oracle) == 0 {
					t.Skip("empty") // rapid draws another step instead
				}
				i := rapid.IntRange(0, len(oracle)-1).Draw(t, "index")
				line.remove(oracle[i])
				oracle = slices.Delete(oracle, i, i+1)
			},
			"": func(t *rapid.T) { compareTimeline(t, &line, oracle) },
		})
	})
}

func compareTimeline(t *rapid.T, line *timeline, oracle []*Entity) {
	if len(line.slots) != len(oracle) {
		t.Fatalf("%d entities, want %d", len(line.slots), len(oracle))
	}
	var first, second *Entity
	if len(oracle) > 0 {
		first = oracle[0]
	}
	if len(oracle) > 1 {
		second = oracle[1]
	}
	if line.leftmost() != first || line.second() != second {
		t.Fatalf("the first two entities are not the earliest")
	}
	for i, sl := range line.slots {
		if want := oracle[len(oracle)-1-i]; sl.se != want || sl.key != want.vruntime {
			t.Fatalf("slot %d holds the wrong entity", i)
		}
	}
}
