package serve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestShelfKeepsWhatFits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, name+"/trace.txt", smallTrace)
	}
	limits := DefaultLimits
	limits.Changes = 60 // the small trace has 27 to 30
	s := newShelf(context.Background(), library(t, dir), limits)
	get := func(name string) *Recording {
		t.Helper()
		rec, _, err := s.get(name, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	a, b := get("a"), get("b")
	if size := a.size(); 2*size > limits.Changes || 3*size <= limits.Changes {
		t.Fatalf("the small trace has %d changes: two must fit into %d, three not", size, limits.Changes)
	}
	if get("a") != a {
		t.Error("a was built anew")
	}
	get("c") // b was used least recently
	if get("a") != a {
		t.Error("a was dropped, b should have been")
	}
	if get("b") == b {
		t.Error("b was kept beyond the limit")
	}
}

func TestShelfBuildsOnceForAll(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/trace.txt", smallTrace)
	s := newShelf(context.Background(), library(t, dir), DefaultLimits)
	recs := make([]*Recording, 8)
	var group sync.WaitGroup
	for i := range recs {
		group.Go(func() { recs[i], _, _ = s.get("a", time.Minute) })
	}
	group.Wait()
	for _, r := range recs {
		if r == nil || r != recs[0] {
			t.Fatal("some got another recording or none")
		}
	}
}

func TestShelfTriesAgainAfterAnError(t *testing.T) {
	dir := t.TempDir()
	s := newShelf(context.Background(), library(t, dir), DefaultLimits)
	if _, _, err := s.get("late", time.Minute); err == nil || !strings.Contains(err.Error(), "no recording there") {
		t.Fatalf("error %v, want that there is none", err)
	}
	write(t, dir, "late/trace.txt", smallTrace)
	var err error
	for range 100 { // the failed one leaves the shelf just after it is answered
		if _, _, err = s.get("late", time.Minute); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error(err)
}

func TestShelfEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/trace.txt", smallTrace)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := newShelf(ctx, library(t, dir), DefaultLimits).get("a", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestSeekFindsTheNearest(t *testing.T) {
	r := build(t, smallTrace) // task 1 is a, 3 is b
	for _, c := range []struct {
		what string
		q    seekRequest
		want Moment
	}{
		{"a runs after 5", seekRequest{tasks: []int{1}, from: 5000}, Moment{Found: true, Time: 40_000, CPU: 1, Task: 1}},
		{"a or b", seekRequest{tasks: []int{1, 3}, from: 5000}, Moment{Found: true, Time: 30_000, CPU: 0, Task: 3}},
		{"back", seekRequest{tasks: []int{1, 3}, from: 39_000, back: true}, Moment{Found: true, Time: 30_000, CPU: 0, Task: 3}},
		{"never again", seekRequest{tasks: []int{3}, from: 30_000}, Moment{}},
		{"any wakeup", seekRequest{wake: true, from: 0}, Moment{Found: true, Time: 9000, Task: 3, Waker: 1}},
		{"a wakeup before", seekRequest{wake: true, from: 9000, back: true}, Moment{}},
		{"of another", seekRequest{wake: true, from: 0, tasks: []int{1}}, Moment{}},
		{"no such task", seekRequest{tasks: []int{77}, from: 0}, Moment{}},
	} {
		if got := r.seek(&c.q); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
