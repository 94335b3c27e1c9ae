package timeline

import "github.com/schedlab/schedlab/machine"

// Caches adds up over the CPUs of each last-level cache how many threads are
// queued.
type Caches struct {
	of     []int // number of the cache by CPU
	depth  []int // by CPU
	queued []int // by cache
	first  []int // first CPU of each cache
}

// NewCaches returns the caches of a machine, numbered by their first CPU.
func NewCaches(m *machine.Machine) *Caches {
	c := &Caches{of: make([]int, m.NumCPUs()), depth: make([]int, m.NumCPUs())}
	for i := range c.of {
		c.of[i] = -1
	}
	for i := range c.of {
		if c.of[i] >= 0 {
			continue
		}
		for _, member := range m.LLCMask(i).CPUs() {
			c.of[member] = len(c.queued)
		}
		c.of[i] = len(c.queued)
		c.queued = append(c.queued, 0)
		c.first = append(c.first, i)
	}
	return c
}

// Len is the number of caches.
func (c *Caches) Len() int { return len(c.queued) }

// First is the first CPU of a cache.
func (c *Caches) First(cache int) int { return c.first[cache] }

// Depth takes a change of a CPU's depth, as [Follower.OnDepth] tells it, and
// returns the cache and how many are now queued there; ok is false for a CPU
// that the machine does not have.
func (c *Caches) Depth(cpu int32, queued int) (cache, total int, ok bool) {
	if cpu < 0 || int(cpu) >= len(c.of) {
		return 0, 0, false
	}
	cache = c.of[cpu]
	c.queued[cache] += queued - c.depth[cpu]
	c.depth[cpu] = queued
	return cache, c.queued[cache], true
}
