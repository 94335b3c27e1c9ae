package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Source is where requests come from: clients outside the machine, who send
// whether or not the last request was answered (an open loop). It is no task:
// each arrival is an interrupt on some CPU, which queues the request and wakes
// the worker that has waited longest.
type Source struct {
	Intervals Series // ns from one arrival to the next
	Sizes     Series // ns of work of a request
	// Batch is how many requests arrive at once, after so many intervals; at
	// least 1.
	Batch int
	// From and Until say which requests count: those that arrive in [From, Until).
	From, Until int64
}

// Series is a sequence of times in ns.
type Series struct {
	Table []int64
	// InOrder: the table, over and over. Otherwise each time is drawn from it.
	InOrder bool
}

// next returns one time; at is how many there were before.
func (s *Series) next(rng *rand.Rand, at int64) int64 {
	if s.InOrder {
		return s.Table[at%int64(len(s.Table))]
	}
	return s.Table[rng.IntN(len(s.Table))]
}

func (s *Series) validate(what string) error {
	if len(s.Table) == 0 {
		return fmt.Errorf("there are no %s", what)
	}
	for _, ns := range s.Table {
		if ns < 0 {
			return fmt.Errorf("%s have a time of %d ns: it is negative", what, ns)
		}
	}
	return nil
}

// sum is the length of the table, in ns.
func (s *Series) sum() int64 {
	total := int64(0)
	for _, ns := range s.Table {
		total += ns
	}
	return total
}

// Mean is the mean time in ns.
func (s *Series) Mean() float64 {
	if len(s.Table) == 0 {
		return 0
	}
	return float64(s.sum()) / float64(len(s.Table))
}

func (s *Source) validate() error {
	if err := s.Intervals.validate("intervals"); err != nil {
		return err
	}
	if err := s.Sizes.validate("sizes"); err != nil {
		return err
	}
	switch {
	case s.Intervals.sum() == 0:
		return fmt.Errorf("all requests arrive at once: the intervals are zero")
	case s.Batch < 1:
		return fmt.Errorf("a batch of %d requests: want at least 1", s.Batch)
	case s.From < 0 || s.Until <= s.From:
		return fmt.Errorf("no request counts: the times [%d, %d) ns are none", s.From, s.Until)
	}
	return nil
}

// Request is one request.
type Request struct {
	Arrived, Work int64 // ns
	counts        bool
	source        int32 // its number plus 1; 0: there is no request
}

// Given reports whether there is a request at all.
func (q *Request) Given() bool { return q.source != 0 }

// RequestCounts is what became of the requests that count.
type RequestCounts struct {
	Arrived, Answered int64
	// Unanswered were still waiting or being worked at when the run ended. Their
	// latency until then is among the latencies: it was at least that.
	Unanswered int64
	// Latency is from arrival to answer, in us.
	Latency Histogram
	// Over is the ns that the counting lasted.
	Over int64
}

// Requests is a queue of requests with the workers that wait for them. There is
// no hand-off: a worker that was woken finds what others have left.
type Requests struct {
	source  *Source
	number  int32 // of the source, plus 1
	rng     *rand.Rand
	drawn   int64 // intervals
	sized   int64 // sizes
	queue   []Request
	head    int
	workers []TaskID // asleep, longest first
	counts  RequestCounts
}

// sourceStream keeps the random numbers of sources apart from those of tasks.
const sourceStream = 1 << 40

// NewRequests returns the queues of a scenario in their first state.
func NewRequests(s *Scenario, seed uint64) []Requests {
	queues := make([]Requests, len(s.Sources))
	for i := range queues {
		source := &s.Sources[i]
		queues[i] = Requests{source: source, number: int32(i) + 1, rng: rand.New(rand.NewPCG(seed, sourceStream+uint64(i)))}
		queues[i].counts.Over = source.Until - source.From
	}
	return queues
}

// NextArrival returns how long it is from one arrival to the next, and which of
// the machine's CPUs, 0 to cpus-1, that one interrupts.
func (r *Requests) NextArrival(cpus int) (ns int64, cpu int) {
	for range r.source.Batch {
		ns += r.source.Intervals.next(r.rng, r.drawn)
		r.drawn++
	}
	return ns, r.rng.IntN(cpus)
}

// Arrive queues a batch of requests at a time in ns and wakes as many workers.
func (r *Requests) Arrive(now int64, out *Outcome) {
	out.reset()
	for range r.source.Batch {
		q := Request{source: r.number, Arrived: now, Work: r.source.Sizes.next(r.rng, r.sized), counts: now >= r.source.From && now < r.source.Until}
		r.sized++
		if q.counts {
			r.counts.Arrived++
		}
		r.queue = append(r.queue, q)
		if len(r.workers) > 0 {
			out.Wakes = append(out.Wakes, Wake{Task: r.workers[0]})
			r.workers = append(r.workers[:0], r.workers[1:]...)
		}
	}
}

// Waiting reports whether a request waits for a worker.
func (r *Requests) Waiting() bool { return r.head < len(r.queue) }

// Receive takes the request that has waited longest, or puts the worker to
// sleep.
func (r *Requests) Receive(t TaskID, out *Outcome) Request {
	out.reset()
	if !r.Waiting() {
		r.workers = append(r.workers, t)
		out.Blocked = true
		return Request{}
	}
	q := r.queue[r.head]
	r.head++
	if r.head > len(r.queue)/2 {
		r.queue = append(r.queue[:0], r.queue[r.head:]...)
		r.head = 0
	}
	return q
}

// Answer ends a request.
func (r *Requests) Answer(now int64, q Request) {
	if q.counts {
		r.counts.Answered++
		r.counts.Latency.Add((now - q.Arrived) / 1000)
	}
}

// Finish returns what became of the requests; working are those that workers
// have at that time, of any source.
func (r *Requests) Finish(now int64, working []Request) *RequestCounts {
	for _, q := range slices.Concat(working, r.queue[r.head:]) {
		if q.counts && q.source == r.number {
			r.counts.Unanswered++
			r.counts.Latency.Add((now - q.Arrived) / 1000)
		}
	}
	return &r.counts
}
