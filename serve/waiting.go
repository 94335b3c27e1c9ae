package serve

import "sort"

// waiting are the spans in which somewhere a task waits behind another one.
// A CPU that idles in them is idle while others wait.
type waiting struct {
	from, to []int64 // of each span, in order, apart from each other
	before   []int64 // total length of the spans before it
	open     int64   // start of the span that has not ended; -1: none
}

func newWaiting() waiting { return waiting{open: -1} }

// set says how many tasks wait behind others from t on.
func (w *waiting) set(t int64, tasks int) {
	switch {
	case tasks > 0 && w.open < 0:
		w.open = t
	case tasks == 0 && w.open >= 0:
		w.close(t)
	}
}

func (w *waiting) close(t int64) {
	start := w.open
	w.open = -1
	if start < 0 || t <= start {
		return
	}
	if n := len(w.to); n > 0 && w.to[n-1] >= start {
		w.to[n-1] = t
		return
	}
	total := int64(0)
	if n := len(w.to); n > 0 {
		total = w.before[n-1] + w.to[n-1] - w.from[n-1]
	}
	w.from, w.to, w.before = append(w.from, start), append(w.to, t), append(w.before, total)
}

// until is the length of all spans before t.
func (w *waiting) until(t int64) int64 {
	i := sort.Search(len(w.from), func(i int) bool { return w.from[i] >= t }) - 1
	if i < 0 {
		return 0
	}
	return w.before[i] + min(t, w.to[i]) - w.from[i]
}

// during is how much of [from, to) the spans cover.
func (w *waiting) during(from, to int64) int64 { return w.until(to) - w.until(from) }
