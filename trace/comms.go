package trace

// comms remembers the last name of every thread, for formats whose entries give
// only the number of the thread that ran.
type comms struct {
	pages [maxPID / commPage]*[commPage]Name
}

const (
	maxPID   = 1 << 22 // the largest value of kernel.pid_max
	commPage = 1 << 11
)

func (c *comms) name(pid int32) Name {
	if pid < 0 || pid >= maxPID {
		return NoName
	}
	page := c.pages[pid/commPage]
	if page == nil {
		return NoName
	}
	return page[pid%commPage]
}

func (c *comms) learn(pid int32, name Name) {
	if pid <= 0 || pid >= maxPID || name == NoName {
		return
	}
	page := c.pages[pid/commPage]
	if page == nil {
		page = new([commPage]Name)
		c.pages[pid/commPage] = page
	}
	page[pid%commPage] = name
}

// setIdle names thread 0, as ftrace does.
func (c *comms) setIdle(names *Names) {
	c.pages[0] = new([commPage]Name)
	c.pages[0][0] = names.Intern("<idle>")
}

// follow completes e and learns the names that it carries.
func (c *comms) follow(e *Event) {
	switch e.Kind {
	case KindSwitch:
		c.learn(e.small(1), e.text(0))
		c.learn(e.small(5), e.text(4))
	case KindWaking, KindWakeup, KindWakeupNew, KindMigrate, KindExit, KindStatRuntime:
		c.learn(e.small(1), e.text(0))
	case KindFork:
		c.learn(e.small(1), e.text(0))
		c.learn(e.small(3), e.text(2))
	}
	if e.Comm == NoName {
		e.Comm = c.name(e.PID)
	}
}
