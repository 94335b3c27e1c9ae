package workload

import (
	"testing"
)

// The numbered tests are those of ipc-and-benchmarks.md 1.5.

const (
	reader  TaskID = 1
	reader2 TaskID = 2
	writer  TaskID = 10 // and 11, 12, … where there are more
	message        = 100
	// A page holds 40 messages of 100 bytes (4000 of 4096), a pipe 16 pages.
	perPage = 40
	perPipe = 16 * perPage
)

var pipeKernels = []string{"v3.2", "v4.14", "v5.17", "v7.2"}

func eachPipeKernel(t *testing.T, test func(*testing.T, *stage)) {
	for _, kernel := range pipeKernels {
		t.Run(kernel, func(t *testing.T) { test(t, newStage(t, kernel, Pipe)) })
	}
}

func TestP1OneWakeForManyWritesBeforeTheReaderRuns(t *testing.T) {
	eachPipeKernel(t, func(t *testing.T, s *stage) {
		s.mustSleep(s.read(reader, message))
		for range 50 {
			s.mustMove(s.write(writer, message), message)
		}
		s.mustWake(reader)
	})
}

func TestP2PingPongWakesEachTime(t *testing.T) {
	eachPipeKernel(t, func(t *testing.T, s *stage) {
		s.mustSleep(s.read(reader, message))
		for range 50 {
			s.mustMove(s.write(writer, message), message)
			s.mustWake(reader)
			s.mustMove(s.read(reader, message), message)
			s.mustSleep(s.read(reader, message))
		}
		s.mustWake()
	})
}

func TestP3CapacityIsSlotsNotBytes(t *testing.T) {
	eachPipeKernel(t, func(t *testing.T, s *stage) {
		if got := s.fillWith(writer, message); got != perPipe {
			t.Errorf("%d messages fit, want %d", got, perPipe)
		}
		s.mustWake()
		last := s.channel.pipe.slots[15]
		if s.channel.pipe.used != 16 || pageSize-last.offset-last.length != 96 {
			t.Errorf("%d slots used, last %+v; want 16 with 96 bytes left", s.channel.pipe.used, last)
		}
	})
}

func TestSmallMessageCapacities(t *testing.T) {
	eachPipeKernel(t, func(t *testing.T, s *stage) {
		for length, want := range map[int32]int{1: 65536, 4: 16384} {
			s.channel.set.Reset()
			clear(s.asleep)
			clear(s.rest)
			if got := s.fillWith(writer, length); got != want {
				t.Errorf("%d messages of %d bytes fit, want %d", got, length, want)
			}
		}
	})
}

// drainAlternating reads one message after the other and lets every woken
// writer run to its next sleep in between; it returns the reads that woke one.
func drainAlternating(s *stage, reads int) (waking []int) {
	s.t.Helper()
	for i := 1; i <= reads; i++ {
		s.mustMove(s.read(reader, message), message)
		if len(s.wakes) > 0 {
			waking = append(waking, i)
		}
		for _, w := range s.wakes {
			s.write(w, message)
		}
		s.wakes = s.wakes[:0]
	}
	return waking
}

func TestP4ReaderOfAFullPipeWakesTheWriterInVain(t *testing.T) {
	s := newStage(t, "v5.17", Pipe)
	s.fillWith(writer, message)
	waking := drainAlternating(s, perPage)
	if len(waking) != 40 {
		t.Fatalf("reads %v woke the writer, want all 40", waking)
	}
	// 15 pages of 40 and the message that just got the freed slot.
	if s.channel.pipe.used != 16 || s.asleep[writer] {
		t.Fatalf("%d slots, writer asleep %t; want 16 and false", s.channel.pipe.used, s.asleep[writer])
	}
	if got := s.fillWith(writer, message); got != 39 {
		t.Errorf("%d more messages merged, want 39", got)
	}
}

func TestP5SharedPipeWakesTheWriterOncePerSlot(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v7.2"} {
		s := newStage(t, kernel, Pipe)
		s.fillWith(writer, message)
		if waking := drainAlternating(s, perPage); len(waking) != 1 || waking[0] != 40 {
			t.Errorf("%s: reads %v woke the writer, want 40 only", kernel, waking)
		}
	}
}

// fiveBlocked fills a pipe and puts writers A to E to sleep in that order.
func fiveBlocked(t *testing.T, kernel string) *stage {
	s := newStage(t, kernel, Pipe)
	s.fillWith(writer, message)
	for i := range TaskID(4) {
		s.mustSleep(s.write(writer+1+i, message))
	}
	return s
}

func TestP6ExclusiveWritersAreWokenInTurn(t *testing.T) {
	s := fiveBlocked(t, "v5.17")
	for range perPage {
		s.mustMove(s.read(reader, message), message)
	}
	s.mustWake(writer, writer+1, writer+2, writer+3, writer+4)

	s = fiveBlocked(t, "v5.17")
	for i := range TaskID(perPage - 1) {
		s.mustMove(s.read(reader, message), message)
		s.mustWake(writer + i%5)
		s.mustSleep(s.write(writer+i%5, message))
	}
	s.mustMove(s.read(reader, message), message)
	s.mustWake(writer + 39%5)
}

func TestP7SharedPipeStampedes(t *testing.T) {
	s := fiveBlocked(t, "v4.14")
	for range perPage - 1 {
		s.mustMove(s.read(reader, message), message)
	}
	s.mustWake()
	s.mustMove(s.read(reader, message), message)
	s.mustWake(writer+4, writer+3, writer+2, writer+1, writer)
	s.mustMove(s.write(writer+4, message), message)
	for i := range TaskID(4) {
		s.mustSleep(s.write(writer+i, message))
	}
	s.mustWake()
}

func TestSharedPipeMergeWakesBlockedWriters(t *testing.T) {
	s := newStage(t, "v4.14", Pipe)
	// 16 pages: 15 full ones and one with 96 bytes left; a writer that has not
	// slept may still merge 96 bytes, and its wake call meets the blocked one.
	s.fillWith(writer, message)
	s.mustMove(s.write(writer+1, 96), 96)
	s.mustWake(writer)
	s.mustSleep(s.write(writer, message))
}

func TestP8ReaderThatSleptPassesTheDataOn(t *testing.T) {
	s := newStage(t, "v5.17", Pipe)
	s.mustSleep(s.read(reader, message))
	s.mustSleep(s.read(reader2, message))
	s.mustMove(s.write(writer, message), message)
	s.mustMove(s.write(writer, message), message)
	s.mustWake(reader)
	s.mustMove(s.read(reader, message), message)
	s.mustWake(reader2)
	s.mustMove(s.read(reader2, message), message)
	s.mustWake()
}

func TestWriterThatSleptPassesTheSpaceOn(t *testing.T) {
	s := fiveBlocked(t, "v6.14")
	// Two slots are freed before any writer runs: only the first was freed
	// from a full pipe, so only A is woken; A takes one slot and, having
	// slept, wakes B for the other. B fills the pipe and wakes nobody.
	for range 2 * perPage {
		s.mustMove(s.read(reader, message), message)
	}
	s.mustWake(writer)
	s.mustMove(s.write(writer, message), message)
	s.mustWake(writer + 1)
	s.mustMove(s.write(writer+1, message), message)
	s.mustWake()
}

func TestP9PolledPipeCallsOnEveryWrite(t *testing.T) {
	s := newStage(t, "v5.17", Pipe)
	s.mustSleep(s.poll(reader))
	s.mustMove(s.write(writer, message), message)
	s.mustWake(reader)
	s.mustMove(s.poll(reader), 0)
	for range 5 {
		s.mustMove(s.write(writer, message), message)
	}
	s.mustWake() // the calls find nobody
}

func TestPolledPipeWakesOneReaderPerWrite(t *testing.T) {
	for _, polled := range []bool{false, true} {
		s := newStage(t, "v5.17", Pipe)
		if polled {
			s.mustMove(s.write(writer, 1), 1)
			s.mustMove(s.poll(20), 0)
			s.mustMove(s.read(reader, 1), 1)
		}
		s.mustSleep(s.read(reader, message))
		s.mustSleep(s.read(reader2, message))
		s.mustMove(s.write(writer, message), message)
		s.mustWake(reader)
		s.mustMove(s.write(writer, message), message) // not into an empty pipe
		if polled {
			s.mustWake(reader2)
		} else {
			s.mustWake()
		}
	}
}

func TestP10LongWrites(t *testing.T) {
	// 10000 = 2·4096 + 1808, and 1808 + 2288 = 4096.
	for second, wantSlots := range map[int32]uint8{2288: 3, 2289: 4} {
		eachPipeKernel(t, func(t *testing.T, s *stage) {
			s.mustSleep(s.read(reader, message))
			out := s.write(writer, 10000)
			s.mustMove(out, 10000)
			if out.NewPages != 3 {
				t.Errorf("%d pages allocated, want 3", out.NewPages)
			}
			s.mustWake(reader)
			s.mustMove(s.write(writer, second), second)
			if got := s.channel.pipe.used; got != wantSlots {
				t.Errorf("after %d more bytes %d slots are used, want %d", second, got, wantSlots)
			}
		})
	}
}

func TestWriterThatFillsAnEmptyPipeWakesTheReaderBeforeSleeping(t *testing.T) {
	eachPipeKernel(t, func(t *testing.T, s *stage) {
		s.mustSleep(s.read(reader, message))
		out := s.write(writer, 70000)
		s.mustSleep(out)
		if out.Moved != 65536 {
			t.Errorf("moved %d bytes, want 65536", out.Moved)
		}
		s.mustWake(reader)
	})
}

func TestPipeKeepsFreedPages(t *testing.T) {
	// One spare page up to v6.13, two since.
	for kernel, wantNew := range map[string]int32{"v5.17": 2, "v7.2": 1} {
		s := newStage(t, kernel, Pipe)
		s.write(writer, 3*pageSize)
		s.mustMove(s.read(reader, 3*pageSize), 3*pageSize)
		if got := s.write(writer, 3*pageSize).NewPages; got != wantNew {
			t.Errorf("%s: %d pages allocated, want %d", kernel, got, wantNew)
		}
	}
}

func TestSharedPipeReaderWaitsForTheWholeWhileAWriterSleeps(t *testing.T) {
	s := newStage(t, "v4.14", Pipe)
	s.mustSleep(s.write(writer, 65536+500))
	// The writer sleeps with 500 bytes to go, so the reader of one byte more
	// than a pipe does not return short: it wakes the writer and sleeps on.
	out := s.read(reader, 65536+1)
	s.mustSleep(out)
	if out.Moved != 65536 {
		t.Fatalf("moved %d, want 65536", out.Moved)
	}
	s.mustWake(writer)
	s.mustMove(s.write(writer, 0), 500)
	s.mustWake(reader)
	s.mustSleep(s.write(writer+1, 65536)) // 15 free slots, and the writer has none to merge into
	s.mustMove(s.read(reader, 0), 1)
	// The reader freed slots before it slept: it wakes once more at its end.
	s.mustWake(writer + 1)

	// Since v5.5 the same read returns what there is.
	s = newStage(t, "v5.17", Pipe)
	s.mustSleep(s.write(writer, 65536+500))
	s.mustMove(s.read(reader, 65536+1), 65536)
}

func TestPollersAreWokenInReverseOrder(t *testing.T) {
	for _, kind := range []ChannelKind{Pipe, UnixStream} {
		for _, kernel := range pipeKernels {
			s := newStage(t, kernel, kind)
			for task := TaskID(20); task < 24; task++ {
				s.mustSleep(s.poll(task))
			}
			s.mustMove(s.write(writer, 1), 1)
			s.mustWake(23, 22, 21, 20)
			for task := TaskID(20); task < 24; task++ {
				s.mustMove(s.poll(task), 0)
			}
			if !s.channel.readers.empty() {
				t.Errorf("%s: a finished poll left its entry behind", kernel)
			}
		}
	}
}

func TestPollerKeepsItsPlaceWhenWokenInVain(t *testing.T) {
	s := newStage(t, "v5.17", Pipe)
	s.mustSleep(s.poll(20))
	s.mustSleep(s.poll(21))
	s.mustMove(s.write(writer, 1), 1)
	s.mustWake(21, 20)
	s.mustMove(s.read(reader, 1), 1)
	s.mustSleep(s.poll(20)) // linked still, behind 21
	s.mustSleep(s.poll(21))
	s.mustSleep(s.poll(22)) // new at the head
	s.mustMove(s.write(writer, 1), 1)
	s.mustWake(22, 21, 20)
}
