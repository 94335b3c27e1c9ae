package workload

import "testing"

func newUDP(t *testing.T, kernel string) *stage { return newStage(t, kernel, UDPSocket) }

// flood sends until a datagram is dropped and returns how many were not.
func flood(s *stage, n int32) (accepted int) {
	for {
		if s.write(writer, n); s.out.Dropped > 0 {
			return accepted
		}
		accepted++
	}
}

// A receiver that never runs is woken once; what does not fit is lost, and the
// sender never sleeps.
func TestN3FloodOfDatagrams(t *testing.T) {
	s := newUDP(t, "v5.17")
	s.mustSleep(s.read(reader, 64))
	dropped := int32(0)
	for range 1000 {
		s.mustMove(s.write(writer, 64), 64)
		dropped += s.out.Dropped
	}
	s.mustWake(reader)
	if dropped != 1000-278 {
		t.Errorf("%d dropped, want 722", dropped)
	}
}

// How many fit: as long as those before them are not beyond the buffer. True
// sizes are 768, 1280, 2304, 8448 and 33024 or, in pages, 17152 (3.4).
func TestN4DatagramsThatFit(t *testing.T) {
	for _, c := range []struct {
		kernel string
		bytes  int32
		want   int
	}{
		{"v5.17", 64, 278}, {"v5.17", 256, 167}, {"v5.17", 1024, 93}, {"v5.17", 4096, 26}, {"v5.17", 16384, 13}, {"v5.17", 65507, 4},
		{"v4.14", 64, 278}, {"v4.14", 16384, 7}, {"v4.14", 65507, 2},
		{"v3.8", 64, 278}, {"v3.2", 64, 299}, // 229376 / 768 = 298.7
	} {
		if got := flood(newUDP(t, c.kernel), c.bytes); got != c.want {
			t.Errorf("%s: %d datagrams of %d bytes fit, want %d", c.kernel, got, c.bytes, c.want)
		}
	}
}

// A reader of v5.17 gives memory back by quarters: 53248 of 212992, the 70th
// datagram of 768. One of v3.8 does for each.
func TestMemoryComesBackInBulk(t *testing.T) {
	for kernel, want := range map[string]int{"v5.17": 70, "v3.8": 1} {
		s := newUDP(t, kernel)
		flood(s, 64)
		reads := 0
		for full := true; full; reads++ {
			s.mustMove(s.read(reader, 64), 64)
			full = s.channel.udp.full(&s.channel.set.rules.Loopback)
		}
		if reads != want {
			t.Errorf("%s: room after %d reads, want %d", kernel, reads, want)
		}
	}
}

// Two readers: the one that slept first is woken, one for each datagram.
func TestDatagramWakesOneReader(t *testing.T) {
	s := newUDP(t, "v5.17")
	s.mustSleep(s.read(reader, 64))
	s.mustSleep(s.read(reader+1, 64))
	s.write(writer, 64)
	s.mustWake(reader)
	s.write(writer, 64)
	s.mustWake(reader + 1)
}

// A datagram is read whole: the rest of a longer one is lost.
func TestDatagramIsCut(t *testing.T) {
	s := newUDP(t, "v5.17")
	s.write(writer, 100)
	s.write(writer, 50)
	if got := s.channel.Ready(); got != 100 {
		t.Errorf("%d bytes ready, want 100", got)
	}
	s.mustMove(s.read(reader, 60), 60)
	s.mustMove(s.read(reader, 60), 50)
	s.mustSleep(s.read(reader, 60))
}

// Whatever was read is given back when the queue is empty.
func TestMemoryComesBackWithTheLastDatagram(t *testing.T) {
	s := newUDP(t, "v5.17")
	for range 3 {
		s.write(writer, 64)
	}
	for i, want := range []int32{3 * 768, 3 * 768, 0} {
		if s.mustMove(s.read(reader, 64), 64); s.channel.udp.memory != want {
			t.Errorf("after %d reads %d bytes are in use, want %d", i+1, s.channel.udp.memory, want)
		}
	}
}

// 274 datagrams of 768 and two of 1280 are 212992: v3.8 takes no more, later
// kernels one more.
func TestBufferThatIsExactlyFull(t *testing.T) {
	for kernel, want := range map[string]int{"v3.8": 0, "v4.14": 1, "v5.17": 1} {
		s := newUDP(t, kernel)
		for range 274 {
			s.write(writer, 64)
		}
		s.write(writer, 256)
		s.write(writer, 256)
		if got := flood(s, 64); got != want {
			t.Errorf("%s: %d more fit, want %d", kernel, got, want)
		}
	}
}
