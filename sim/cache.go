package sim

// Distance classes of two CPUs, nearest first. They index
// [Result.Migrations].
const (
	SameCPU = iota
	SameCore
	SameLLC
	SameNode
	OtherNode
	numDistances
)

// DistanceNames names the classes in reports.
var DistanceNames = [numDistances]string{"same CPU", "core", "LLC", "node", "remote"}

// place is what distance looks at of a CPU.
type place struct{ core, llc, node int32 }

func (m *Sim) distance(a, b int32) int {
	p, q := &m.places[a], &m.places[b]
	switch {
	case a == b:
		return SameCPU
	case p.core == q.core:
		return SameCore
	case p.llc == q.llc && p.llc >= 0:
		return SameLLC
	case p.node == q.node:
		return SameNode
	}
	return OtherNode
}

// lineCost is one cache line fetched from where another CPU left it.
func (m *Sim) lineCost(to, from int32) int64 {
	switch m.distance(to, from) {
	case SameCPU, SameCore:
		return 0
	case SameLLC:
		return m.costs.LineLLC
	}
	return m.costs.LineRemote
}

// refill is what a task pays in cold caches when it starts to run on c.
func (m *Sim) refill(c *cpu, t *task, distance int) int64 {
	perKiB := int64(0)
	switch distance {
	case SameCPU:
		if c.lastTask != t {
			perKiB = m.costs.RefillCore
		}
	case SameCore:
		perKiB = m.costs.RefillCore
	case SameLLC:
		perKiB = m.costs.RefillLLC
	default:
		perKiB = m.costs.RefillRemote
	}
	return perKiB * t.footprintKiB
}
