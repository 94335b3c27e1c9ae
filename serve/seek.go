package serve

import (
	"fmt"
	"net/url"
	"strconv"
)

// seekRequest asks for a moment.
type seekRequest struct {
	wake bool  // a wakeup, else a task beginning to run
	task int   // -1: any
	from int64 // ns since the start
	back bool
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

// parseSeek reads what=run|wake, task, from and dir=next|prev.
func parseSeek(form url.Values) (*seekRequest, error) {
	q := &seekRequest{task: -1}
	switch form.Get("what") {
	case "run":
	case "wake":
		q.wake = true
	default:
		return nil, fmt.Errorf("what is %q; choose run or wake", form.Get("what"))
	}
	if text := form.Get("task"); text != "" || !q.wake {
		task, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("task is %q; write the number of a task", text)
		}
		q.task = int(task)
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
	if q.task >= len(r.Tasks) {
		return Moment{}
	}
	row := &r.Tasks[q.task].row
	i, step := row.at(q.from)+1, 1
	if q.back {
		i, step = row.at(q.from-1), -1
	}
	for ; i >= 0 && i < len(row.times); i += step {
		if row.values[i]&3 == running {
			return Moment{Found: true, Time: row.times[i], CPU: int32(row.values[i]>>2) - 1, Task: uint32(q.task)}
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
		if w := &r.wakes[i]; q.task < 0 || int(w.wakee) == q.task {
			return Moment{Found: true, Time: w.time, CPU: w.target, Task: w.wakee, Waker: w.waker, Origin: w.from}
		}
	}
	return Moment{}
}
