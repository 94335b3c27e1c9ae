package export

import (
	"fmt"
	"io"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/schedlab/schedlab/timeline"
	"github.com/schedlab/schedlab/trace"
)

// The sample types of a profile, in the order of their values.
const (
	valueCPU     = iota // ns that a thread ran
	valueWait           // ns that it could have run and did not
	valueSleep          // ns that it slept
	valueWakeups        // how often it was woken
	numValues
)

// profileSink adds up where each thread's time went. The stacks of its profile
// are, from the root: the cgroup level by level (where the recording tells it),
// the name, the thread, and for waits whom it waited behind, for sleeps how.
type profileSink struct {
	out      io.Writer
	names    *trace.Names
	follower *timeline.Follower
	begin    int64
	begun    bool

	samples map[account]*[numValues]int64
	order   []account // as they appeared
}

// account is what is added up in one sample.
type account struct {
	thread      trace.Thread
	comm, group trace.Name
	cpu         int32
	leaf        string
}

func newProfileSink(out io.Writer, names *trace.Names) *profileSink {
	s := &profileSink{out: out, names: names, follower: timeline.NewFollower(), samples: make(map[account]*[numValues]int64)}
	s.follower.OnInterval = s.interval
	s.follower.OnWait = s.wait
	return s
}

func (s *profileSink) interval(i *timeline.Interval) {
	if i.Idle() {
		return
	}
	switch i.State {
	case timeline.Running:
		s.add(&i.Identity, i.CPU, "", valueCPU, i.Duration())
	case timeline.Asleep:
		s.add(&i.Identity, i.CPU, "sleeps as "+i.Sleep.String(), valueSleep, i.Duration())
	case timeline.Waiting:
		if i.Woken {
			s.add(&i.Identity, i.CPU, "", valueWakeups, 1)
		}
	}
}

func (s *profileSink) wait(p *timeline.WaitPart) {
	s.add(p.Waiter, p.CPU, s.behind(p), valueWait, p.Duration())
}

func (s *profileSink) behind(p *timeline.WaitPart) string {
	switch {
	case p.Behind == nil:
		return fmt.Sprintf("waits on CPU %d, behind whom is not known", p.CPU)
	case p.Behind.Idle():
		return fmt.Sprintf("waits for idle CPU %d to wake up", p.CPU)
	}
	return fmt.Sprintf("waits behind %s on CPU %d", s.commOf(p.Behind), p.CPU)
}

func (s *profileSink) commOf(id *timeline.Identity) string {
	if comm := s.names.Text(id.Comm); comm != "" {
		return comm
	}
	return "<...>"
}

func (s *profileSink) add(id *timeline.Identity, cpu int32, leaf string, value int, n int64) {
	a := account{id.Thread, id.Comm, id.Group, cpu, leaf}
	sum := s.samples[a]
	if sum == nil {
		sum = new([numValues]int64)
		s.samples[a] = sum
		s.order = append(s.order, a)
	}
	sum[value] += n
}

func (s *profileSink) write(e *trace.Event) error {
	if !s.begun {
		s.begun, s.begin = true, e.Time
	}
	s.follower.Observe(e)
	return nil
}

func (s *profileSink) close() error {
	s.follower.Finish()
	p := s.profile()
	if err := p.CheckValid(); err != nil {
		return err
	}
	return p.WriteUncompressed(s.out)
}

// profile builds the profile. Two samples may have the same stack and differ in
// the CPU, which is a label.
func (s *profileSink) profile() *profile.Profile {
	b := &profileBuilder{frames: make(map[string]*profile.Location), p: &profile.Profile{
		SampleType: []*profile.ValueType{
			valueCPU:     {Type: "cpu", Unit: "nanoseconds"},
			valueWait:    {Type: "wait", Unit: "nanoseconds"},
			valueSleep:   {Type: "sleep", Unit: "nanoseconds"},
			valueWakeups: {Type: "wakeups", Unit: "count"},
		},
		DefaultSampleType: "cpu",
		DurationNanos:     max(s.follower.Now()-s.begin, 0),
	}}
	for _, a := range s.order {
		sample := &profile.Sample{Value: s.samples[a][:], Location: b.stack(s.stackOf(&a))}
		sample.NumLabel = map[string][]int64{"pid": {int64(a.thread.PID)}}
		sample.NumUnit = map[string][]string{"pid": {"id"}}
		if a.cpu >= 0 {
			sample.Label = map[string][]string{"cpu": {strconv.Itoa(int(a.cpu))}}
		}
		b.p.Sample = append(b.p.Sample, sample)
	}
	return b.p
}

// stackOf is the frames of an account, the root first.
func (s *profileSink) stackOf(a *account) []string {
	id := timeline.Identity{Comm: a.comm}
	comm := s.commOf(&id)
	stack := levels(s.names.Text(a.group))
	stack = append(stack, comm, threadFrame(comm, a.thread))
	if a.leaf != "" {
		stack = append(stack, a.leaf)
	}
	return stack
}

// threadFrame names a thread as ftrace does; a later holder of a PID is another
// thread.
func threadFrame(comm string, t trace.Thread) string {
	if t.Incarnation > 0 {
		return fmt.Sprintf("%s-%d, holder %d", comm, t.PID, t.Incarnation+1)
	}
	return fmt.Sprintf("%s-%d", comm, t.PID)
}

// levels are the paths of a cgroup and all above it: /a/b is "/a", "/a/b".
func levels(path string) []string {
	if path == "" || path == "/" {
		return nil
	}
	var all []string
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, "cgroup "+path[:i])
		}
	}
	return append(all, "cgroup "+path)
}

// profileBuilder gives each frame one function and one location.
type profileBuilder struct {
	p      *profile.Profile
	frames map[string]*profile.Location
}

// stack returns the locations of frames, the leaf first as profiles have them.
func (b *profileBuilder) stack(frames []string) []*profile.Location {
	out := make([]*profile.Location, len(frames))
	for i, name := range frames {
		out[len(frames)-1-i] = b.location(name)
	}
	return out
}

func (b *profileBuilder) location(name string) *profile.Location {
	if l := b.frames[name]; l != nil {
		return l
	}
	f := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: name, SystemName: name}
	b.p.Function = append(b.p.Function, f)
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Line: []profile.Line{{Function: f}}}
	b.p.Location = append(b.p.Location, l)
	b.frames[name] = l
	return l
}
