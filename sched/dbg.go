package sched

import "fmt"

func (f *Follower) DebugCPU(cpu int) string {
	rq := &f.s.rqs[cpu]
	id := int32(0)
	if rq.curr != nil {
		id = rq.curr.ID
	}
	w := ""
	for t := rq.wakeHead; t != nil; t = t.wakeNext {
		w += fmt.Sprintf("+%d", t.ID)
	}
	return fmt.Sprintf("%d:%d/%d%s%v", cpu, id, rq.nr, w, rq.cfs.avg.loadAvg)
}
