package serve

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

// seekRequest asks for a moment.
type seekRequest struct {
	wake  bool  // a wakeup, else a task beginning to run
	tasks []int // nil: any
	from  int64 // ns since the start
	back  bool
}

// Moment is the answer to a seek.
type Moment struct {
	Found  bool   `json:"found"`
	Time   int64  `json:"time"` // ns since the start
	CPU    int32  `json:"cpu"`
	Task   uint32 `json:"task"`
	Waker  uint32 `json:"waker"` // of a wakeup
	Origin int32  `json:"origin"`
}

// parseSeek reads what=run|wake, tasks=3,8-12, from and dir=next|prev.
func parseSeek(form url.Values) (*seekRequest, error) {
	q := &seekRequest{}
	switch form.Get("what") {
	case "run":
	case "wake":
		q.wake = true
	default:
		return nil, fmt.Errorf("what is %q; choose run or wake", form.Get("what"))
	}
	if text := form.Get("tasks"); text != "" || !q.wake {
		tasks, err := parseRows(text)
		if err != nil {
			return nil, fmt.Errorf("tasks: %w", err)
		}
		q.tasks = tasks
	}
	from, err := strconv.ParseInt(form.Get("from"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("from is %q; write nanoseconds since the start", form.Get("from"))
	}
	q.from = from
	switch form.Get("dir") {
	case "next":
	case "prev":
		q.back = true
	default:
		return nil, fmt.Errorf("dir is %q; choose next or prev", form.Get("dir"))
	}
	return q, nil
}

// seek finds the nearest moment after, or before, the one asked for.
func (r *Recording) seek(q *seekRequest) Moment {
	if q.wake {
		return r.seekWake(q)
	}
	var nearest Moment
	for _, task := range q.tasks {
		m := r.seekRun(q, task)
		if m.Found && (!nearest.Found || q.nearer(m.Time, nearest.Time)) {
			nearest = m
		}
	}
	return nearest
}

// nearer reports whether a lies before b in the direction of the request.
func (q *seekRequest) nearer(a, b int64) bool {
	if q.back {
		return a > b
	}
	return a < b
}

func (r *Recording) seekRun(q *seekRequest, task int) Moment {
	if task >= len(r.Tasks) {
		return Moment{}
	}
	row := &r.Tasks[task].row
	i, step := row.at(q.from)+1, 1
	if q.back {
		i, step = row.at(q.from-1), -1
	}
	for ; i >= 0 && i < len(row.times); i += step {
		if row.values[i]&3 == running {
			return Moment{Found: true, Time: row.times[i], CPU: int32(row.values[i]>>2) - 1, Task: uint32(task)}
		}
	}
	return Moment{}
}

func (r *Recording) seekWake(q *seekRequest) Moment {
	i, step := r.wakesFrom(q.from+1), 1
	if q.back {
		i, step = r.wakesFrom(q.from)-1, -1
	}
	for ; i >= 0 && i < len(r.wakes); i += step {
		if w := &r.wakes[i]; q.tasks == nil || slices.Contains(q.tasks, int(w.wakee)) {
			return Moment{Found: true, Time: w.time, CPU: w.target, Task: w.wakee, Waker: w.waker, Origin: w.from}
		}
	}
	return Moment{}
}
