package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

// schedstatLayout is one format of /proc/schedstat.
type schedstatLayout struct {
	name    string
	version int
	// types is the order in which the idle types' columns come.
	types []sched.IdleType
	// names puts the domain's name before its CPUs.
	names bool
	// splits gives each kind of imbalance a column of its own.
	splits bool
	// sis appends the idle search's counters to the CPU's line.
	sis func(c *sched.CPUStats) []int64
}

var (
	idleFirst = []sched.IdleType{sched.Idle, sched.NotIdle, sched.NewlyIdle}
	busyFirst = []sched.IdleType{sched.NotIdle, sched.Idle, sched.NewlyIdle}
)

// schedstatLayouts are the formats of mainline (v15 up to v6.8, v16 up to
// v6.14, then v17), and those of the statistics patches of 2020 and 2021,
// which took the same numbers for themselves.
var schedstatLayouts = []schedstatLayout{
	{name: "v15", version: 15, types: idleFirst},
	{name: "v16", version: 16, types: busyFirst},
	{name: "v17", version: 17, types: busyFirst, names: true, splits: true},
	{name: "sis16", version: 16, types: idleFirst, sis: sisColumns},
	{name: "sis17", version: 17, types: idleFirst, sis: sisColumnsRecent},
	{name: "sis18", version: 18, types: idleFirst, sis: sisColumnsCore},
}

// SchedstatLayouts lists the names that [Schedstat] takes.
func SchedstatLayouts() []string {
	names := make([]string, len(schedstatLayouts))
	for i := range schedstatLayouts {
		names[i] = schedstatLayouts[i].name
	}
	return names
}

// CheckSchedstatLayout returns the error of a name that is not a layout's.
func CheckSchedstatLayout(name string) error {
	_, err := schedstatLayoutOf(name)
	return err
}

func schedstatLayoutOf(name string) (*schedstatLayout, error) {
	for i := range schedstatLayouts {
		if schedstatLayouts[i].name == name {
			return &schedstatLayouts[i], nil
		}
	}
	return nil, fmt.Errorf("there is no schedstat layout %q; there are %s", name, strings.Join(SchedstatLayouts(), ", "))
}

// Schedstat writes counters as /proc/schedstat shows them, in the layout of
// that name: v15, v16 and v17 are mainline's, sis16, sis17 and sis18 are v15
// with the columns of the idle-search statistics patch. Where the scheduler
// has the SCHED_IDLE balance type its columns follow those of the others, as
// on a kernel patched so.
//
// Always 0, because there is no such thing here or it has long been unused in
// the kernel: imbalance by misfit, exec and fork balancing (sbe, sbf), and
// ttwu_move_balance.
func Schedstat(w io.Writer, snap *sched.Snapshot, layout string) error {
	l, err := schedstatLayoutOf(layout)
	if err != nil {
		return err
	}
	out := &columns{w: bufio.NewWriter(w)}
	types := l.types
	if snap.SchedIdle {
		types = append(types[:len(types):len(types)], sched.SchedIdle)
	}
	out.line("version", int64(l.version))
	out.line("timestamp", snap.Jiffies)
	for i := range snap.CPUs {
		c := &snap.CPUs[i]
		out.line(fmt.Sprintf("cpu%d", c.CPU), l.cpuColumns(&c.Stats)...)
		for level := range c.Domains {
			d := &c.Domains[level]
			out.line(l.domainLabel(level, d, snap.NumCPUs), l.domainColumns(d, types)...)
		}
	}
	return out.w.Flush()
}

// columns writes lines of a label and numbers.
type columns struct{ w *bufio.Writer }

func (c *columns) line(label string, values ...int64) {
	// The writer keeps the first error; Flush returns it.
	_, _ = c.w.WriteString(label)
	for _, v := range values {
		_, _ = fmt.Fprintf(c.w, " %d", v)
	}
	_ = c.w.WriteByte('\n')
}

func (l *schedstatLayout) cpuColumns(c *sched.CPUStats) []int64 {
	// The second number was once the count of switches between the arrays of
	// the O(1) scheduler.
	v := []int64{c.Yields, 0, c.Schedules, c.SchedIdle, c.Wakeups, c.WakeupsLocal, c.RunTime, c.RunDelay, c.Slices}
	if l.sis != nil {
		v = append(v, l.sis(c)...)
	}
	return v
}

func sisColumns(c *sched.CPUStats) []int64 {
	return []int64{c.SISSearch, c.SISDomainSearch, c.SISScanned, c.SISFailed}
}

func sisColumnsRecent(c *sched.CPUStats) []int64 {
	return append(sisColumns(c), c.SISRecentHit, c.SISRecentMiss)
}

func sisColumnsCore(c *sched.CPUStats) []int64 {
	return append(sisColumnsRecent(c), c.SISCoreSearch, c.SISCoreMiss)
}

func (l *schedstatLayout) domainLabel(level int, d *sched.DomainSnapshot, cpus int) string {
	mask := hexMask(d.Span, cpus)
	if l.names {
		return fmt.Sprintf("domain%d %s %s", level, d.Name, mask)
	}
	return fmt.Sprintf("domain%d %s", level, mask)
}

func (l *schedstatLayout) domainColumns(d *sched.DomainSnapshot, types []sched.IdleType) []int64 {
	var v []int64
	b := &d.Balance
	for _, t := range types {
		v = append(v, b.Passes[t], b.Balanced[t], b.Failed[t])
		v = append(v, l.imbalanceColumns(b, t)...)
		v = append(v, b.Moved[t], b.HotMoved[t], b.NoBusyQueue[t], b.NoBusyGroup[t])
	}
	v = append(v, b.ActiveTries, b.ActiveTries-b.ActivePushes, b.ActivePushes)
	v = append(v, make([]int64, 6)...) // sbe_*, sbf_*
	return append(v, d.WakeRemote, d.MoveAffine, 0)
}

// imbalanceColumns are load, util, task and misfit, or the sum of what has
// such different units.
func (l *schedstatLayout) imbalanceColumns(b *sched.BalanceStats, t sched.IdleType) []int64 {
	kinds := b.Imbalance[t]
	if l.splits {
		return append(kinds[:], 0)
	}
	sum := int64(0)
	for _, v := range kinds {
		sum += v
	}
	return []int64{sum}
}

// hexMask prints a set as the kernel prints bitmaps: hexadecimal words of 32
// CPUs, the highest first and only as wide as there are CPUs.
func hexMask(m machine.CPUMask, n int) string {
	var b strings.Builder
	for word := (n - 1) / 32; word >= 0; word-- {
		digits := 8
		if rest := n - 32*word; rest < 32 {
			digits = (rest + 3) / 4
		}
		fmt.Fprintf(&b, "%0*x", digits, uint32(m[word/2]>>(32*(word%2))))
		if word > 0 {
			b.WriteByte(',')
		}
	}
	return b.String()
}
