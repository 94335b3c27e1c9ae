package explain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	pat := os.Getenv("PAT")
	if pat == "" {
		return
	}
	dirs, _ := filepath.Glob(pat)
	var tot Count
	var causes [numCauses]int64
	for _, d := range dirs {
		if findTrace(d) == "" {
			continue
		}
		b, err := Open(d)
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := Run(context.Background(), b, Options{IgnoreHidden: os.Getenv("PLAIN") != ""})
		if err != nil {
			t.Error(err)
			continue
		}
		x := c.Total()
		for i, n := range c.Causes {
			causes[i] += n
		}
		tot.Decisions += x.Decisions
		tot.Agree += x.Agree
		fmt.Printf("%-44s %5d %6.2f%% w %6.2f f %6.2f e %6.2f prev %5.1f rnd %5.1f | flips %5.1f recent %5.1f load %5.1f cpuload %5.1f (%d) mended %d unk %d hz %d\n", d[len("/work/shared/captures/"):], x.Decisions, 100*x.Share(), 100*c.ByKind[0].Share(), 100*c.ByKind[1].Share(), 100*c.ByKind[2].Share(),
			100*float64(c.Prev)/float64(x.Decisions), 100*c.Random/float64(x.Decisions),
			100*c.Hidden.Flips.Share(), 100*c.Hidden.Recent.Share(), 100*c.Hidden.Load.Share(), 100*c.Hidden.CPULoad.Share(), c.Hidden.CPULoad.Decisions, c.Mended, c.Unknown, c.HZ)
		if os.Getenv("SHOW") != "" {
			for i, d := range c.Kept {
				if w := os.Getenv("CAUSE"); w != "" && d.Cause.String() != w {
					continue
				}
				if i >= 3000 {
					break
				}
				r := d.Record
				fmt.Printf("  %.6f %s %s-%d here %d prev %d sync %v kernel %d model %d aff %s target %d rule %s budget %d ov %v %s cand %v\n", float64(d.Time)/1e9, r.Kind, d.Comm, d.PID, r.Here, r.Prev, r.Sync, d.Kernel, r.CPU, r.Affine, r.Target, r.Rule, r.Budget, d.Overlaps, d.Cause, r.Candidates)
			}
		}
	}
	fmt.Printf("TOTAL %d %.3f%%\n", tot.Decisions, 100*tot.Share())
	for i, n := range causes {
		if n > 0 {
			fmt.Println(Cause(i), n)
		}
	}
}
