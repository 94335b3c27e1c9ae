package explain

import (
	"fmt"
	"strings"

	"github.com/schedlab/schedlab/sched"
)

// Story is one decision told in full.
type Story struct {
	Decision
	WakerPID  int32  `json:"waker_pid"` // 0: the idle task
	WakerComm string `json:"waker"`

	WakerFlips, WakeeFlips int64
	LLCSize                int32
	HereLoad, PrevLoad     int64 // of the CPUs
	HereTasks              int   // runnable on the waker's CPU
	Idle                   []int
	ScanBudget             int32
	Others                 []Alternative
}

// Alternative is what the model would choose with one feature bit flipped.
type Alternative struct {
	Feature string // as the kernel spells it: WA_IDLE, NO_WA_IDLE
	CPU     int
}

// placementFeatures are the bits that a placement depends on.
var placementFeatures = []sched.Feature{
	sched.WAIdle, sched.WAWeight, sched.WABias, sched.SISUtil, sched.SISProp, sched.SISAvgCPU, sched.UtilEst,
}

// tell collects the circumstances of the placement that is being asked about;
// the model's answer is filled in already. The state is left as the answer left
// it.
func (r *replay) tell(a *ask) *Story {
	s := r.f.Scheduler()
	waker := r.f.Waker(a.Here)
	st := &Story{
		WakerPID: waker.ID, WakerFlips: int64(waker.Flips()), WakeeFlips: int64(a.who.Flips()),
		LLCSize: r.f.LLCSize(a.Here), HereLoad: s.Load(a.Here), PrevLoad: s.Load(a.Prev),
		HereTasks: s.NrRunning(a.Here), ScanBudget: r.f.ScanBudget(a.Prev),
	}
	if k := r.tasks.byPID[waker.ID]; k != nil && &k.Task == waker {
		st.WakerComm = r.names.Text(k.comm)
	}
	for cpu := range r.cpus {
		if s.Idle(cpu) {
			st.Idle = append(st.Idle, cpu)
		}
	}
	for _, feature := range placementFeatures {
		if !r.bundle.Profile.Known.Has(feature) {
			continue
		}
		name := feature.String()
		if r.features.Has(feature) {
			name = "NO_" + name
		}
		what := sched.Nothing()
		what.Feature = int16(feature)
		r.f.Restore(&a.Question)
		st.Others = append(st.Others, Alternative{name, r.f.Suppose(&a.Question, what, nil)})
	}
	r.f.Restore(&a.Question)
	r.f.Ask(&a.Question, nil)
	return st
}

// Text tells the story in a few sentences.
func (st *Story) Text() string {
	var b strings.Builder
	r := &st.Record
	fmt.Fprintf(&b, "%s-%d at %s: %s\n", st.Comm, st.PID, seconds(st.Time), st.opening())
	st.tellTarget(&b)
	st.tellCandidates(&b)
	fmt.Fprintf(&b, "  Decided by: %s -> CPU %d.\n", r.Rule, r.CPU)
	if st.Agrees() {
		fmt.Fprintf(&b, "  The kernel chose the same.\n")
	} else {
		fmt.Fprintf(&b, "  The kernel chose CPU %d. Cause: %s.\n", st.Kernel, st.Cause)
	}
	st.tellOthers(&b)
	return b.String()
}

func (st *Story) opening() string {
	r := &st.Record
	switch r.Kind {
	case sched.KindFork:
		return fmt.Sprintf("forked on CPU %d.", r.Here)
	case sched.KindExec:
		return fmt.Sprintf("execs on CPU %d.", r.Here)
	}
	waker := "the idle task"
	if st.WakerPID > 0 {
		waker = fmt.Sprintf("%s-%d", st.WakerComm, st.WakerPID)
	}
	sync := ""
	if r.Sync {
		sync = ", which is about to sleep (sync)"
	}
	return fmt.Sprintf("woken on CPU %d while %s runs there%s; it last ran on CPU %d.", r.Here, waker, sync, r.Prev)
}

// tellTarget says how the choice between the waker's CPU and the previous one
// was made.
func (st *Story) tellTarget(b *strings.Builder) {
	r := &st.Record
	if r.Kind != sched.KindWake {
		return
	}
	fmt.Fprintf(b, "  Target CPU %d: %s", r.Target, r.Affine)
	switch r.Affine {
	case sched.AffineWide:
		fmt.Fprintf(b, " (wakee_flips of waker %d and wakee %d, cache of %d CPUs)", st.WakerFlips, st.WakeeFlips, st.LLCSize)
	case sched.AffineWeight, sched.AffineUndecided:
		fmt.Fprintf(b, " (load %d here on CPU %d with %d runnable, %d on CPU %d)", st.HereLoad, r.Here, st.HereTasks, st.PrevLoad, r.Prev)
	case sched.AffineNotAsked:
		if r.Here == r.Prev {
			b.WriteString(" (waker's and previous CPU are the same)")
		}
	}
	b.WriteString(".\n")
}

// tellCandidates lists the CPUs that were looked at, in order.
func (st *Story) tellCandidates(b *strings.Builder) {
	r := &st.Record
	if len(r.Candidates) == 0 {
		return
	}
	b.WriteString("  Looked at:")
	for i, c := range r.Candidates {
		sep := ","
		if i == 0 {
			sep = ""
		}
		fmt.Fprintf(b, "%s CPU %d (%s): %s", sep, c.CPU, c.Step, c.Verdict)
	}
	b.WriteString(".\n")
	if r.Kind == sched.KindWake && r.Budget >= 0 && r.Rule == sched.RuleTarget {
		fmt.Fprintf(b, "  The scan might test %d CPUs.\n", r.Budget)
	}
	fmt.Fprintf(b, "  Idle at that moment: %s.\n", cpuList(st.Idle))
}

// tellOthers says what other feature settings would have given.
func (st *Story) tellOthers(b *strings.Builder) {
	var same, other []string
	for _, o := range st.Others {
		if o.CPU == int(st.Record.CPU) {
			same = append(same, o.Feature)
		} else {
			other = append(other, fmt.Sprintf("%s -> CPU %d", o.Feature, o.CPU))
		}
	}
	if len(other) > 0 {
		fmt.Fprintf(b, "  With one feature changed: %s.\n", strings.Join(other, ", "))
	}
	if len(same) > 0 {
		fmt.Fprintf(b, "  No difference alone: %s.\n", strings.Join(same, ", "))
	}
}

func cpuList(cpus []int) string {
	if len(cpus) == 0 {
		return "none"
	}
	words := make([]string, len(cpus))
	for i, c := range cpus {
		words[i] = fmt.Sprint(c)
	}
	return strings.Join(words, " ")
}

// seconds prints ns as the trace does.
func seconds(ns int64) string { return fmt.Sprintf("%d.%06d", ns/1e9, ns%1e9/1e3) }
