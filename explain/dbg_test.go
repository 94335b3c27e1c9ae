package explain

import (
	"fmt"
	"os"
	"testing"

	"github.com/schedlab/schedlab/sched"
)

func TestDbg(t *testing.T) {
	d := os.Getenv("DIR")
	if d == "" {
		return
	}
	b, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	_, err = Run(b, Options{Debug: func(now int64, k *task, have, told sched.Hidden, kind sched.Kind) {
		n++
		if n < 100000 {
			fmt.Printf("%.6f %d %s load %d %d util %d %d\n", float64(now)/1e9, k.ID, kind, have.Load, told.Load, have.Util, told.Util)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}
