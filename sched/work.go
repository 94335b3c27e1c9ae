package sched

// Work counts what the scheduler did since it was built. It is the
// only thing a cost model needs: the scheduler never knows how long its own
// steps take, except through [Prices] where the kernel measures itself.
type Work struct {
	Searches        int64 // select_idle_sibling calls
	Probes          int64 // CPUs tested for being idle in a domain scan
	SiblingProbes   int64 // SMT siblings tested
	DomainSteps     int64 // domains visited while walking a chain
	AffineChecks    int64 // wake_affine evaluations
	GroupCPUs       int64 // CPUs looked at for group statistics (balancing and slow path)
	TasksExamined   int64 // candidates of a balance pass
	TasksMoved      int64 // tasks detached and attached
	RemoteLocks     int64 // run-queue locks taken of another CPU
	BlockedUpdates  int64 // queues whose blocked averages were decayed
	SharedLineWrite int64 // writes to a cache line shared by an LLC (has_idle_cores, nr_busy_cpus, masks)
}

func (w *Work) add(o *Work) {
	w.Searches += o.Searches
	w.Probes += o.Probes
	w.SiblingProbes += o.SiblingProbes
	w.DomainSteps += o.DomainSteps
	w.AffineChecks += o.AffineChecks
	w.GroupCPUs += o.GroupCPUs
	w.TasksExamined += o.TasksExamined
	w.TasksMoved += o.TasksMoved
	w.RemoteLocks += o.RemoteLocks
	w.BlockedUpdates += o.BlockedUpdates
	w.SharedLineWrite += o.SharedLineWrite
}

// Prices gives the nanoseconds of one unit of each kind of [Work].
type Prices struct {
	Search, Probe, SiblingProbe, DomainStep, AffineCheck int64
	GroupCPU, TaskExamined, TaskMoved, RemoteLock        int64
	BlockedUpdate, SharedLineWrite                       int64
}

// Cost returns what w costs, in nanoseconds.
func (p *Prices) Cost(w *Work) int64 {
	return p.Search*w.Searches + p.Probe*w.Probes + p.SiblingProbe*w.SiblingProbes +
		p.DomainStep*w.DomainSteps + p.AffineCheck*w.AffineChecks +
		p.GroupCPU*w.GroupCPUs + p.TaskExamined*w.TasksExamined +
		p.TaskMoved*w.TasksMoved + p.RemoteLock*w.RemoteLocks +
		p.BlockedUpdate*w.BlockedUpdates + p.SharedLineWrite*w.SharedLineWrite
}

// DefaultPrices are the starting values of mechanisms.md 15.4.
func DefaultPrices() Prices {
	return Prices{
		Search: 40, Probe: 40, SiblingProbe: 15, DomainStep: 25, AffineCheck: 100,
		GroupCPU: 60, TaskExamined: 40, TaskMoved: 600, RemoteLock: 80,
		BlockedUpdate: 30, SharedLineWrite: 150,
	}
}
