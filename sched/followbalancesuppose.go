package sched

// Suppositions about a balance pass: would the model have done as the kernel did
// if the averages, or who idles, had been a little different?

// PassSupposition is one supposition about a pass.
type PassSupposition uint8

// The suppositions.
const (
	// SupposeSourceHeavy: the averages of the other groups' CPUs are high and
	// those of the local group low; SupposeSourceLight is the opposite.
	SupposeSourceHeavy PassSupposition = iota
	SupposeSourceLight
	// SupposeSourceLoaded and SupposeSourceUnloaded are the same of the loads alone:
	// how busy the groups are stays.
	SupposeSourceLoaded
	SupposeSourceUnloaded
	// SupposeSourceMore and SupposeSourceLess: a task more, or less, is queued on
	// the source.
	SupposeSourceMore
	SupposeSourceLess
	// SupposeDestIdle: the destination has nothing to run, so that it is the one to
	// balance; SupposeDestBusy: it has, so that it is not.
	SupposeDestIdle
	SupposeDestBusy
)

// SupposePass answers as [Follower.AskPass] under a supposition. source is the
// CPU that SupposeSourceMore and SupposeSourceLess are about.
func (f *Follower) SupposePass(q *PassQuestion, what PassSupposition, source int) PassForecast {
	d := f.domainOf(q)
	if d == nil {
		return PassForecast{Source: noCPU}
	}
	var undo func()
	switch what {
	case SupposeSourceHeavy:
		undo = f.supposeAverages(d, 0, fullAverage, setAverages)
	case SupposeSourceLight:
		undo = f.supposeAverages(d, fullAverage, 0, setAverages)
	case SupposeSourceLoaded:
		undo = f.supposeAverages(d, 0, fullAverage, setLoad)
	case SupposeSourceUnloaded:
		undo = f.supposeAverages(d, fullAverage, 0, setLoad)
	case SupposeSourceMore:
		undo = f.supposeTasks(source, +1)
	case SupposeSourceLess:
		undo = f.supposeTasks(source, -1)
	case SupposeDestIdle:
		undo = f.supposeDest(q.CPU, true)
	default:
		undo = f.supposeDest(q.CPU, false)
	}
	defer undo()
	return f.forecast(q, d)
}

// fullAverage is an average far above the capacity of a CPU.
const fullAverage = 1 << 20

func setLoad(rq *runqueue, v int64) { rq.cfs.avg.loadAvg = v }

func setAverages(rq *runqueue, v int64) {
	setLoad(rq, v)
	rq.cfs.avg.utilAvg, rq.cfs.avg.runnableAvg, rq.utilEst = v, v, v
}

// supposeAverages gives the CPUs of the local group of a domain, and all its
// others, the same averages each.
func (f *Follower) supposeAverages(d *Domain, local, others int64, set func(*runqueue, int64)) (undo func()) {
	type averages struct {
		rq  *runqueue
		avg Avg
		est int64
	}
	var kept []averages
	for cpu := d.Span.First(); cpu >= 0; cpu = d.Span.Next(cpu + 1) {
		rq := &f.s.rqs[cpu]
		kept = append(kept, averages{rq, rq.cfs.avg, rq.utilEst})
		v := others
		if d.Groups.Span.Has(cpu) {
			v = local
		}
		set(rq, v)
	}
	return func() {
		for _, k := range kept {
			k.rq.cfs.avg, k.rq.utilEst = k.avg, k.est
		}
	}
}

// supposeTasks changes how many tasks a CPU seems to have.
func (f *Follower) supposeTasks(cpu int, change int32) (undo func()) {
	if cpu < 0 || f.s.rqs[cpu].nr+change < 0 || f.s.rqs[cpu].cfs.h+change < 0 {
		return nothingToUndo
	}
	rq := &f.s.rqs[cpu]
	idle := f.s.idle.Clone()
	rq.nr += change
	rq.cfs.h += change
	if rq.nr > 0 {
		f.s.idle.Clear(cpu)
	}
	return func() {
		rq.nr -= change
		rq.cfs.h -= change
		f.s.idle.CopyFrom(idle)
	}
}

// supposeDest makes a CPU look idle or busy.
func (f *Follower) supposeDest(cpu int, looksIdle bool) (undo func()) {
	rq := &f.s.rqs[cpu]
	idle, nr, pending := f.s.idle.Clone(), rq.nr, rq.wakePending
	if looksIdle {
		f.s.idle.Set(cpu)
		rq.nr, rq.wakePending = 0, false
	} else {
		f.s.idle.Clear(cpu)
		rq.nr = max(1, nr)
	}
	return func() {
		rq.nr, rq.wakePending = nr, pending
		f.s.idle.CopyFrom(idle)
	}
}
