package serve

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A tile has every step when there are at most maxTileSteps of them, and every
// wakeup when there are at most maxTileWakes; else only summaries are drawn.
const (
	maxTileSteps = 6000
	maxTileWakes = 1000
	// maxWakesWalked bounds the search for the wakeups of a tile's rows.
	maxWakesWalked = 200_000
)

// The flags of an encoded tile.
const (
	tileHasSteps = 1 << iota
	tileHasWakes
)

// tileMagic begins an encoded tile: "SLT1" in little endian.
const tileMagic = 0x31544c53

// rowsOf returns the rows that a request names.
func (r *Recording) rowsOf(q *tileRequest) ([]*row, error) {
	rows := make([]*row, len(q.rows))
	for i, n := range q.rows {
		switch {
		case q.kind == cpuRows && n < len(r.cpus):
			rows[i] = &r.cpus[n]
		case q.kind == taskRows && n < len(r.Tasks):
			rows[i] = &r.Tasks[n].row
		default:
			return nil, fmt.Errorf("there is no row %d: the recording has %d CPUs and %d tasks", n, len(r.cpus), len(r.Tasks))
		}
	}
	return rows, nil
}

// tile encodes a tile; docs/serve.md draws the format.
func (r *Recording) tile(q *tileRequest) ([]byte, error) {
	rows, err := r.rowsOf(q)
	if err != nil {
		return nil, err
	}
	var e tileEncoder
	e.u32(tileMagic)
	e.u32(0) // flags, filled in below
	e.u32(uint32(len(rows)))
	e.u32(tileBuckets)
	e.summaries(rows, q)
	flags := uint32(0)
	if countSteps(rows, q) <= maxTileSteps {
		flags |= tileHasSteps
		e.steps(rows, q)
	}
	if wakes := r.wakesOf(q); wakes != nil {
		flags |= tileHasWakes
		e.wakes(wakes)
	}
	binary.LittleEndian.PutUint32(e.out[4:], flags)
	return e.out, nil
}

func countSteps(rows []*row, q *tileRequest) int {
	n := 0
	for _, row := range rows {
		n += row.within(q.start(), q.start()+q.span())
	}
	return n
}

// shownWake is a wakeup in a tile, with its place among the rows.
type shownWake struct {
	*wake
	row int
}

// wakesOf finds the wakeups of the rows; nil when there are too many.
func (r *Recording) wakesOf(q *tileRequest) []shownWake {
	first, end := r.wakesFrom(q.start()), r.wakesFrom(q.start()+q.span())
	if end-first > maxWakesWalked {
		return nil
	}
	place := make(map[int]int, len(q.rows))
	for i, n := range q.rows {
		place[n] = i
	}
	shown := []shownWake{}
	for i := first; i < end; i++ {
		w := &r.wakes[i]
		n := int(w.target)
		if q.kind == taskRows {
			n = int(w.wakee)
		}
		at, wanted := place[n]
		if !wanted {
			continue
		}
		if len(shown) == maxTileWakes {
			return nil
		}
		shown = append(shown, shownWake{w, at})
	}
	return shown
}

// tileEncoder writes numbers in little endian, each array at a multiple of its
// element's size, so that a browser can view it in place.
type tileEncoder struct{ out []byte }

func (e *tileEncoder) u32(v uint32) { e.out = binary.LittleEndian.AppendUint32(e.out, v) }

func (e *tileEncoder) f64(v int64) {
	e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(float64(v)))
}

func (e *tileEncoder) align(size int) {
	for len(e.out)%size != 0 {
		e.out = append(e.out, 0)
	}
}

// summaries writes for all buckets of all rows: key, and in bytes the share that
// is busy, the share that is lost, and the depth.
func (e *tileEncoder) summaries(rows []*row, q *tileRequest) {
	all := make([]summary, len(rows)*tileBuckets)
	for i := range all {
		all[i].key = nobody
	}
	for i, row := range rows {
		row.summarise(all[i*tileBuckets:(i+1)*tileBuckets], q.index*tileBuckets, q.level)
	}
	for i := range all {
		e.u32(all[i].key)
	}
	for i := range all {
		e.out = append(e.out, share(all[i].busy, q.level))
	}
	for i := range all {
		e.out = append(e.out, share(all[i].idle, q.level))
	}
	for i := range all {
		e.out = append(e.out, byte(min(all[i].depth, 255)))
	}
}

// share is how much of a bucket of 1<<level ns some ns are, 255 for all; what is
// there at all is at least 1.
func share(ns int64, level int) byte {
	if ns <= 0 {
		return 0
	}
	if level > 40 { // keeps 255 times a bucket within 63 bits
		ns, level = ns>>10, level-10
	}
	return byte(min(255, max(1, ns*255>>level)))
}

// steps writes where each row's steps begin, then their starts and values.
func (e *tileEncoder) steps(rows []*row, q *tileRequest) {
	from, to := q.start(), q.start()+q.span()
	firsts, counts := make([]int, len(rows)), make([]int, len(rows))
	total := 0
	for i, row := range rows {
		firsts[i], counts[i] = max(row.at(from), 0), row.within(from, to)
		e.u32(uint32(total))
		total += counts[i]
	}
	e.u32(uint32(total))
	e.align(8)
	for i, row := range rows {
		for _, t := range row.times[firsts[i] : firsts[i]+counts[i]] {
			e.f64(t)
		}
	}
	for i, row := range rows {
		for _, v := range row.values[firsts[i] : firsts[i]+counts[i]] {
			e.u32(v)
		}
	}
}

// wakes writes how many there are, then their times, rows, wakees, wakers, the
// CPUs chosen and those of the wakers.
func (e *tileEncoder) wakes(wakes []shownWake) {
	e.align(8)
	e.u32(uint32(len(wakes)))
	e.u32(0)
	for _, w := range wakes {
		e.f64(w.time)
	}
	for _, field := range []func(w *shownWake) uint32{
		func(w *shownWake) uint32 { return uint32(w.row) },
		func(w *shownWake) uint32 { return w.wakee },
		func(w *shownWake) uint32 { return w.waker },
		func(w *shownWake) uint32 { return uint32(w.target) },
		func(w *shownWake) uint32 { return uint32(w.from) },
	} {
		for i := range wakes {
			e.u32(field(&wakes[i]))
		}
	}
}
