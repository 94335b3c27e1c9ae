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
	_, err = Run(b, Options{Debug: func(k *task, have, told sched.Hidden, kind sched.Kind) {
		n++
		if n < 400 {
			fmt.Printf("%d %s have %+v told %+v\n", k.ID, kind, have, told)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}
