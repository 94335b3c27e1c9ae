package sim

import "fmt"

// checkInvariants compares the simulator's view of who runs where with the
// scheduler's, then lets the scheduler check itself.
func (m *Sim) checkInvariants() error {
	for i := range m.cpus {
		c := &m.cpus[i]
		curr := m.sched.Current(i)
		switch {
		case (c.task == nil) != (curr == nil):
			return fmt.Errorf("CPU %d: the simulator and the scheduler disagree whether it is idle", i)
		case c.task != nil && c.task.sched != curr:
			return fmt.Errorf("CPU %d executes task %d but the scheduler runs %d", i, c.task.id, curr.ID)
		case c.task != nil && c.end == never:
			return fmt.Errorf("CPU %d has task %d but executes nothing", i, c.task.id)
		case c.nextEvent() < m.now:
			return fmt.Errorf("CPU %d has an event in the past, at %d ns", i, c.nextEvent())
		case m.sched.NeedResched(i) != c.needResched:
			return fmt.Errorf("CPU %d: need_resched is %v in the scheduler only", i, m.sched.NeedResched(i))
		case c.needResched && c.task == nil && c.ipiAt == never:
			return fmt.Errorf("CPU %d idles and needs a reschedule but no IPI is on its way", i)
		}
	}
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.exited && t.sched.Queued() {
			return fmt.Errorf("task %d has exited but is still queued", i)
		}
	}
	return m.sched.CheckInvariants()
}
