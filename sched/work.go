package sched

// Work counts what the scheduler did since it was built. It is the
// only thing a cost model needs: the scheduler never knows how long its own
// steps take, except through [Prices] where the kernel measures itself.
type Work struct {
	Searches        int64 // select_idle_sibling calls
	Probes          int64 // CPUs tested for being idle in a domain scan
	SiblingProbes   int64 // SMT siblings tested
	ProbesShared    int64 // looks whose lines another core of the cache had read since they were written (queuelines.go)
	ProbesModified  int64 // looks that took them from the core that wrote them
	ProbesRemote    int64 // looks that took them from another cache
	ProbesReturned  int64 // times a CPU got its own lines back after a look
	DomainSteps     int64 // domains visited while walking a chain
	AffineChecks    int64 // wake_affine evaluations
	GroupCPUs       int64 // CPUs looked at for group statistics (balancing and slow path)
	TasksExamined   int64 // candidates of a balance pass
	TasksMoved      int64 // tasks detached and attached
	RemoteLocks     int64 // run-queue locks taken of another CPU
	BlockedUpdates  int64 // queues whose blocked averages were decayed
	SharedLineWrite int64 // writes to a cache line shared by an LLC (has_idle_cores, nr_busy_cpus, masks)

	// Bandwidth control (bandwidth.go).
	BandwidthChecks int64 // hooks that asked whether a queue has a limit
	PoolLocks       int64 // times a pool's lock and its line were taken
	ThrottleSteps   int64 // queues touched on the way up and down a throttled hierarchy

	// What only the patches of 2022 do (sisfilter.go, siscore.go, schedidle.go).
	MaskUpdates       int64 // a CPU's bit in its cache's mask changed
	MaskLookups       int64 // a search or a pull consulted a mask
	MaskFetches       int64 // lookups that found the line taken away by an update in the same cache
	MaskFetchesRemote int64 // the same, the mask being that of another cache
	PullProbes        int64 // CPUs that a sched-idle pull looked at

	MapLookups int64 // entries of the schedule balance map that were read (balancemap.go)
}

func (w *Work) add(o *Work) {
	w.Searches += o.Searches
	w.Probes += o.Probes
	w.SiblingProbes += o.SiblingProbes
	w.ProbesShared += o.ProbesShared
	w.ProbesModified += o.ProbesModified
	w.ProbesRemote += o.ProbesRemote
	w.ProbesReturned += o.ProbesReturned
	w.DomainSteps += o.DomainSteps
	w.AffineChecks += o.AffineChecks
	w.GroupCPUs += o.GroupCPUs
	w.TasksExamined += o.TasksExamined
	w.TasksMoved += o.TasksMoved
	w.RemoteLocks += o.RemoteLocks
	w.BlockedUpdates += o.BlockedUpdates
	w.SharedLineWrite += o.SharedLineWrite
	w.BandwidthChecks += o.BandwidthChecks
	w.PoolLocks += o.PoolLocks
	w.ThrottleSteps += o.ThrottleSteps
}

// Prices gives the nanoseconds of one unit of each kind of [Work].
type Prices struct {
	Search, Probe, SiblingProbe, DomainStep, AffineCheck int64
	GroupCPU, TaskExamined, TaskMoved, RemoteLock        int64
	BlockedUpdate, SharedLineWrite                       int64
	BandwidthCheck, PoolLock, ThrottleStep               int64

	MaskUpdate, MaskLookup, MaskFetch, MaskFetchRemote, PullProbe int64

	// Of lines, on top of Probe and SiblingProbe (queuelines.go); all 0: not counted.
	ProbeShared, ProbeModified, ProbeRemote, ProbeReturn int64

	MapLookup int64
}

// Cost returns what w costs, in nanoseconds.
func (p *Prices) Cost(w *Work) int64 {
	return p.Search*w.Searches + p.Probe*w.Probes + p.SiblingProbe*w.SiblingProbes +
		p.DomainStep*w.DomainSteps + p.AffineCheck*w.AffineChecks +
		p.GroupCPU*w.GroupCPUs + p.TaskExamined*w.TasksExamined +
		p.TaskMoved*w.TasksMoved + p.RemoteLock*w.RemoteLocks +
		p.BlockedUpdate*w.BlockedUpdates + p.SharedLineWrite*w.SharedLineWrite +
		p.lineCost(w) + p.bandwidthCost(w) + p.patchCost(w)
}

func (p *Prices) lineCost(w *Work) int64 {
	return p.ProbeShared*w.ProbesShared + p.ProbeModified*w.ProbesModified + p.ProbeRemote*w.ProbesRemote + p.ProbeReturn*w.ProbesReturned
}

func (p *Prices) bandwidthCost(w *Work) int64 {
	if w.BandwidthChecks|w.PoolLocks == 0 {
		return 0 // no group has a limit
	}
	return p.BandwidthCheck*w.BandwidthChecks + p.PoolLock*w.PoolLocks + p.ThrottleStep*w.ThrottleSteps
}

func (p *Prices) patchCost(w *Work) int64 {
	return p.MaskUpdate*w.MaskUpdates + p.MaskLookup*w.MaskLookups +
		p.MaskFetch*w.MaskFetches + p.MaskFetchRemote*w.MaskFetchesRemote + p.PullProbe*w.PullProbes +
		p.MapLookup*w.MapLookups
}

// DefaultPrices are the starting values of mechanisms.md 15.4.
func DefaultPrices() Prices {
	return Prices{
		Search: 40, Probe: 40, SiblingProbe: 15, DomainStep: 25, AffineCheck: 100,
		GroupCPU: 60, TaskExamined: 40, TaskMoved: 600, RemoteLock: 80,
		BlockedUpdate: 30, SharedLineWrite: 150,
		BandwidthCheck: 2, PoolLock: 150, ThrottleStep: 60,
		MaskUpdate: 150, MaskLookup: 5, MaskFetch: 75, MaskFetchRemote: 250, PullProbe: 40,
		MapLookup: 5,
	}
}
