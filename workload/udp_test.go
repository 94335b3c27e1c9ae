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
// sizes are 768, 1280, 2304, 8448 and 33024 or, in pages, 17152 (3.4); 832 from
// v6.3 on for the shortest, 17216 in pages.
func TestN4DatagramsThatFit(t *testing.T) {
	for _, c := range []struct {
		kernel string
		bytes  int32
		want   int
	}{
		{"v5.17", 64, 278}, {"v5.17", 256, 167}, {"v5.17", 1024, 93}, {"v5.17", 4096, 26}, {"v5.17", 16384, 13}, {"v5.17", 65507, 4},
		{"v5.17", 128, 278}, {"v5.17", 2048, 49}, {"v5.17", 8192, 13}, // 4352 and 16640
		{"v4.14", 64, 278}, {"v4.14", 256, 167}, {"v4.14", 1024, 93}, {"v4.14", 4096, 26}, {"v4.14", 16384, 7}, {"v4.14", 65507, 2},
		{"v3.8", 64, 278}, {"v3.8", 256, 167}, {"v3.8", 1024, 93}, {"v3.8", 4096, 26}, {"v3.8", 16384, 7},
		{"v3.2", 64, 299}, {"v3.2", 256, 180}, {"v3.2", 1024, 100}, // 229376 / 768 = 298.7, / 1280 = 179.2, / 2304 = 99.6
		{"v6.12", 64, 257}, {"v6.12", 256, 167}, // 212992 is 256·832, which is not beyond it
	} {
		if got := flood(newUDP(t, c.kernel), c.bytes); got != c.want {
			t.Errorf("%s: %d datagrams of %d bytes fit, want %d", c.kernel, got, c.bytes, c.want)
		}
	}
}

// TestDatagramsMeasured compares with a v6.18 kernel: datagrams of one length are
// sent to a socket that nobody reads, until none is taken. The lengths are those
// between which the number changes.
func TestDatagramsMeasured(t *testing.T) {
	for _, m := range []struct {
		length int32
		fit    int
	}{
		{1, 256}, {64, 256}, {197, 256}, {198, 166}, {256, 166}, {645, 166}, {646, 92}, {1024, 92}, {1669, 92}, {1670, 48},
		{3717, 48}, {3718, 25}, {4096, 25}, {7813, 25}, {7814, 12}, {16384, 12}, {16917, 12}, {16918, 11}, {18530, 11}, {18531, 10},
		{20467, 10}, {20468, 9}, {22833, 9}, {22834, 8}, {25792, 8}, {25793, 7}, {29595, 7}, {29596, 6}, {34666, 6}, {34667, 5},
		{41766, 5}, {41767, 4}, {52416, 4}, {52417, 3}, {65507, 3},
	} {
		if got := flood(newUDP(t, "v7.2"), m.length); got != m.fit {
			t.Errorf("%d datagrams of %d bytes fit, measured %d", got, m.length, m.fit)
		}
	}
}

// The same kernel, with the buffer full: after so many reads there is room for one
// more, when a quarter of the buffer has been read: 64·832, 42·1280, 24·2304,
// 7·8448 and 4·17216 are the first not below 53248.
func TestRoomAfterReadsMeasured(t *testing.T) {
	for length, want := range map[int32]int{64: 64, 256: 42, 1024: 24, 4096: 7, 16384: 4} {
		s := newUDP(t, "v7.2")
		flood(s, length)
		reads := 0
		for s.out.Dropped = 1; s.out.Dropped > 0; {
			s.mustMove(s.read(reader, length), length)
			reads++
			s.write(writer, length)
		}
		if reads != want {
			t.Errorf("%d bytes: room after %d reads, measured %d", length, reads, want)
		}
	}
}

// The same kernel, with a buffer of 2304 bytes: the first datagram is taken however
// long it is, and of the shortest, 832, a second one.
func TestSmallBufferTakesTheFirstDatagram(t *testing.T) {
	for length, want := range map[int32]int{64: 2, 1024: 1, 16384: 1} {
		s := newUDP(t, "v7.2")
		s.channel.set.rules.Loopback.UDPRcvBuf = 2304
		if got := flood(s, length); got != want {
			t.Errorf("%d datagrams of %d bytes fit, measured %d", got, length, want)
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
			full = s.channel.udp.full(&s.channel.set.rules.Loopback, 768)
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
