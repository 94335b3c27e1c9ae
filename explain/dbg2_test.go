package explain

import (
	"fmt"
	"os"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

func TestDbg2(t *testing.T) {
	d := os.Getenv("DIR2")
	if d == "" {
		return
	}
	b, _ := Open(d)
	dbgSel = func(r *replay, k *task, sel *trace.Select) {
		have := r.f.Hidden(&k.Task)
		fmt.Printf("%.6f %s-%d prev %d cpuload %d/%d qload %d/%d load %d/%d util %d/%d idle %d/%d G%s\n", float64(r.f.Now())/1e9, r.names.Text(k.comm), k.ID, sel.PrevCPU, r.f.Scheduler().Load(int(sel.PrevCPU)), sel.PrevLoad, r.f.QueueLoad(&k.Task), sel.QueueLoad, have.Load, sel.Load, have.Util, sel.Util, r.f.AvgIdle(int(sel.PrevCPU)), sel.PrevIdle, k.Group().Name())
		if os.Getenv("ST") != "" {
			fmt.Println(dbgState())
		}
	}
	_, _ = Run(b, Options{Debug: func(now int64, k *task, have, told sched.Hidden, kind sched.Kind) {}})
}
