package trace

// timeHeap merges streams that are each in the order of time: it holds the time
// of the next entry of every stream. Equal times come in the order of rank, where
// a format gives one, and of the streams' numbers.
type timeHeap []heapItem

type heapItem struct {
	time   int64
	rank   int64
	stream int32
}

func (a heapItem) before(b heapItem) bool {
	switch {
	case a.time != b.time:
		return a.time < b.time
	case a.rank != b.rank:
		return a.rank < b.rank
	}
	return a.stream < b.stream
}

func (h *timeHeap) push(item heapItem) {
	*h = append(*h, item)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !s[i].before(s[parent]) {
			return
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

// top returns the earliest item; the heap must not be empty.
func (h timeHeap) top() heapItem { return h[0] }

// advance gives the stream on top its next time, and the rank of that entry.
func (h timeHeap) advance(time, rank int64) {
	h[0].time, h[0].rank = time, rank
	h.sink()
}

// pop removes the stream on top, which has ended.
func (h *timeHeap) pop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	if last > 0 {
		(*h).sink()
	}
}

func (h timeHeap) sink() {
	i, item := 0, h[0]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(item) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = item
}
