package occupancy

// State is what a CPU has to do.
type State uint8

// The states. Tasks that are runnable are those that run or wait to; SCHED_IDLE
// tasks are those of that policy or in a group with cpu.idle.
const (
	Idle       State = iota // no runnable task
	SchedIdle               // only SCHED_IDLE tasks
	OneTask                 // one other task, and any number of SCHED_IDLE ones
	Overloaded              // more than one other task
	NumStates  = 4
)

// String names the state in a key.
func (s State) String() string {
	return [NumStates]string{"idle", "SCHED_IDLE tasks only", "one task", "more than one task"}[s]
}

// Slice is what a CPU did in one slice of time, in ns. The states add up to the
// slice's length.
type Slice struct {
	In [NumStates]int64
	// Missed is the part of In[Idle] that tasks could have used that waited on
	// other CPUs; where fewer wait than CPUs are idle, these share it.
	Missed int64
}

// Longest is the state that the CPU was in for longest; of equal ones the busier.
func (s *Slice) Longest() State {
	longest := Idle
	for state := range State(NumStates) {
		if s.In[state] >= s.In[longest] {
			longest = state
		}
	}
	return longest
}

func (s *Slice) add(o *Slice) {
	for i := range s.In {
		s.In[i] += o.In[i]
	}
	s.Missed += o.Missed
}

// Map is what all CPUs did from the first event of a recording to the last.
type Map struct {
	Width  int64     // ns of a slice; the last one may be shorter
	Length int64     // ns from the first event to the last
	CPUs   [][]Slice // by CPU and time
}

// Total adds up a map over CPUs and time.
func (m *Map) Total() Slice {
	var total Slice
	for _, slices := range m.CPUs {
		for i := range slices {
			total.add(&slices[i])
		}
	}
	return total
}

// MissedCPUs is how many idle CPUs, on average over a slice of time, tasks could
// have used that waited on others: the lesser of both numbers.
func (m *Map) MissedCPUs(slice int) float64 {
	sum, length := int64(0), int64(0)
	for _, slices := range m.CPUs {
		sum += slices[slice].Missed
		length = 0
		for _, ns := range slices[slice].In {
			length += ns
		}
	}
	if length == 0 {
		return 0
	}
	return float64(sum) / float64(length)
}

// maxSlices is into how many slices a map is cut; at least half as many are
// used once the recording is long enough.
const maxSlices = 600

// canvas is a map that grows with time: when it is full, its slices are made
// twice as long.
type canvas struct {
	Map
	at int // the slice of the current time
}

func newCanvas(cpus int) *canvas {
	c := &canvas{Map: Map{Width: 1000, CPUs: make([][]Slice, cpus)}}
	for i := range c.CPUs {
		c.CPUs[i] = make([]Slice, maxSlices)
	}
	return c
}

// end is where the current slice ends.
func (c *canvas) end() int64 { return int64(c.at+1) * c.Width }

// next goes on to the next slice.
func (c *canvas) next() {
	c.at++
	if c.at < maxSlices {
		return
	}
	for _, slices := range c.CPUs {
		for i := range maxSlices / 2 {
			merged := slices[2*i]
			merged.add(&slices[2*i+1])
			slices[i] = merged
		}
		clear(slices[maxSlices/2:])
	}
	c.Width *= 2
	c.at = maxSlices / 2
}

// finish cuts off what was not reached.
func (c *canvas) finish(length int64) *Map {
	c.Length = length
	used := c.at + 1
	if length > 0 && int64(c.at)*c.Width >= length {
		used = c.at
	}
	for i := range c.CPUs {
		c.CPUs[i] = c.CPUs[i][:used]
	}
	return &c.Map
}
