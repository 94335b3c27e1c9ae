package workload

import (
	"testing"

	"github.com/schedlab/schedlab/rtapp"
)

// Whatever a file describes becomes a scenario that can run, or is refused.
func FuzzRTAppBuild(f *testing.F) {
	f.Add(`{"tasks": {"T": {"run": 1, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m", "barrier": "b"}}}`)
	f.Add(`{"tasks": {"T": {"instance": 0, "fork": "T", "run": 5}, "U": {"loop": 3, "fork": "T", "sem_wait": "s", "sem_post": "s"}}}`)
	f.Add(`{"tasks": {"T": {"phases": {"p": {"loop": -1, "timer": {"ref": "unique", "period": 5}, "cpus": [1]}, "q": {"iorun": 9, "mem": 9}}}}}`)
	f.Add(`{"tasks": {"T": {"delay": 5, "suspend", "resume": "T", "runtime": 7, "yield"}}, "global": {"duration": 3, "calibration": 7, "cumulative_slack": true}}`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := rtapp.Parse("f", []byte(text))
		if err != nil {
			return
		}
		b := &rtApp{file: file}
		s, err := b.Build(Shape{CPUs: 4, Nodes: 1})
		if err != nil {
			return
		}
		if err := s.Validate(4); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if s.TimeLimit == 0 && file.Global.Duration <= 0 {
			t.Fatalf("nothing ends the run of\n%s", text)
		}
		b.Report(&Observation{Marks: make([]int64, s.Marks)})
	})
}
