package trace

// perfQueue puts records into the order of time. perf writes what each CPU's
// buffer held, one buffer after the other, and then a mark that a round is
// complete; what is older than the newest record of the round before can no
// longer be preceded by anything, so it may leave (as perf itself does it).
//
// Within a buffer records are in order, so the queue holds runs of ascending
// time and merges them.
type perfQueue struct {
	arena   []byte // contents of the records that wait
	runs    []perfRun
	heap    timeHeap
	newest  int64 // of all that was put in
	ready   int64 // records up to this time may leave
	round   int64 // newest record of the round before
	last    int64
	merging bool
	limit   int // bytes that may wait
}

// perfRun is records of ascending time.
type perfRun struct {
	entries []queuedRecord
	next    int
}

type queuedRecord struct {
	time   int64
	offset int64 // in the file
	start  int   // in the arena
	size   uint32
	kind   uint32
}

const noTime = -1 << 63

func newPerfQueue(limit int) perfQueue {
	return perfQueue{newest: noTime, ready: noTime, round: noTime, last: noTime, limit: limit}
}

// put adds a record; it may not be called while records leave.
func (q *perfQueue) put(time int64, entry perfEntry) {
	if len(q.runs) == 0 || time < q.last {
		q.newRun()
	}
	run := &q.runs[len(q.runs)-1]
	run.entries = append(run.entries, queuedRecord{
		time: time, offset: entry.offset, start: len(q.arena), size: uint32(len(entry.bytes)), kind: entry.kind,
	})
	q.arena = append(q.arena, entry.bytes...)
	q.last = time
	q.newest = max(q.newest, time)
}

// newRun reuses the space of a run that has been emptied.
func (q *perfQueue) newRun() {
	if n := len(q.runs); n < cap(q.runs) {
		q.runs = q.runs[:n+1]
		q.runs[n].entries, q.runs[n].next = q.runs[n].entries[:0], 0
		return
	}
	q.runs = append(q.runs, perfRun{})
}

// full reports whether something has to leave before the round is complete.
func (q *perfQueue) full() bool { return len(q.arena) >= q.limit }

// endRound lets leave what is older than the newest record of the round before.
func (q *perfQueue) endRound() {
	q.ready = q.round
	q.round = q.newest
	q.startMerge()
}

// overflow lets the older half leave, by time.
func (q *perfQueue) overflow() {
	oldest := q.newest
	for i := range q.runs {
		oldest = min(oldest, q.runs[i].entries[0].time)
	}
	q.ready = oldest + (q.newest-oldest)/2
	q.startMerge()
}

// endAll lets everything leave.
func (q *perfQueue) endAll() {
	q.ready = q.newest
	q.startMerge()
}

func (q *perfQueue) startMerge() {
	q.heap = q.heap[:0]
	for i := range q.runs {
		q.heap.push(heapItem{time: q.runs[i].entries[0].time, stream: int32(i)})
	}
	q.merging = true
}

// take returns the next record that may leave; its bytes are valid until the next
// call of put.
func (q *perfQueue) take() (queuedRecord, []byte, bool) {
	if !q.merging {
		return queuedRecord{}, nil, false
	}
	if len(q.heap) == 0 || q.heap.top().time > q.ready {
		q.merging = false
		q.compact()
		return queuedRecord{}, nil, false
	}
	run := &q.runs[q.heap.top().stream]
	record := run.entries[run.next]
	run.next++
	if run.next < len(run.entries) {
		q.heap.advance(run.entries[run.next].time, 0)
	} else {
		q.heap.pop()
	}
	return record, q.arena[record.start : record.start+int(record.size)], true
}

// compact moves what still waits to the front.
func (q *perfQueue) compact() {
	arena, runs := q.arena[:0], 0
	for i := range q.runs {
		run := &q.runs[i]
		kept := run.entries[:0]
		for _, record := range run.entries[run.next:] {
			arena = append(arena, q.arena[record.start:record.start+int(record.size)]...)
			record.start = len(arena) - int(record.size)
			kept = append(kept, record)
		}
		run.entries, run.next = kept, 0
		if len(kept) > 0 {
			q.runs[runs], q.runs[i] = q.runs[i], q.runs[runs]
			runs++
		}
	}
	q.arena, q.runs = arena, q.runs[:runs]
	q.last = noTime
	if runs > 0 {
		last := q.runs[runs-1].entries
		q.last = last[len(last)-1].time
	}
}
