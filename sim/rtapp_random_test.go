package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// genRTEvents draws the events of a phase; locks are not freed in any order that
// a sensible file would have, since nothing may depend on that.
func genRTEvents(t *rapid.T) string {
	event := rapid.SampledFrom([]string{
		`"run": 200`, `"run": 1500`, `"runtime": 300`, `"sleep": 700`, `"mem": 100000`, `"iorun": 5000`, `"yield"`,
		`"timer": {"ref": "unique", "period": 2000}`, `"timer": {"ref": "tick", "period": 1000, "mode": "absolute"}`,
		`"lock": "m", "run": 100, "unlock": "m"`, `"lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"`, `"signal": "c"`, `"broad": "c"`,
		`"lock": "m", "sync": {"ref": "c", "mutex": "m"}, "unlock": "m"`, `"barrier": "b"`, `"suspend"`, `"resume": "A"`, `"resume": "B"`,
		`"sem_post": "s"`, `"sem_wait": "s"`, `"fork": "F"`, `"unlock": "m"`,
		`"memrun": {"type": "chase", "size": 4000000, "count": 500}`,
	})
	return strings.Join(rapid.SliceOfN(event, 1, 5).Draw(t, "events"), ", ")
}

func genRTAttributes(t *rapid.T) string {
	return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		`"cpus": [0], `, `"cpus": [1, 2], `, `"priority": 7, `, `"policy": "SCHED_IDLE", `, `"policy": "SCHED_BATCH", `, `"taskgroup": "/g/h", `, `"taskgroup": "/", `,
	}), 0, 2, func(s string) string { key, _, _ := strings.Cut(s, ":"); return key }).Draw(t, "attributes"), "")
}

func genRTFile(t *rapid.T) string {
	var tasks []string
	for _, name := range []string{"A", "B", "C"} {
		var phases []string
		for i := range rapid.IntRange(1, 3).Draw(t, "phases") {
			phases = append(phases, fmt.Sprintf(`"p%d": {%s"loop": %d, %s}`, i, genRTAttributes(t), rapid.IntRange(1, 3).Draw(t, "loop"), genRTEvents(t)))
		}
		tasks = append(tasks, fmt.Sprintf(`"%s": {"instance": %d, "delay": %d, %s"phases": {%s}}`, name,
			rapid.IntRange(1, 3).Draw(t, "instances"), rapid.IntRange(0, 1).Draw(t, "delay")*1500, genRTAttributes(t), strings.Join(phases, ", ")))
	}
	tasks = append(tasks, `"F": {"instance": 0, "loop": 1, "run": 300, "sleep": 300}`)
	return withGlobal(strings.Join(tasks, ", "), ``)
}

// mostRuns is how many times an activation of these files may add up, each
// rounded by half a microsecond.
const mostRuns = 5

// Any file runs without breaking an invariant, and its logs are consistent: the
// activations of a thread follow each other, and periods are what lies between.
func TestRandomRTAppFiles(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := genRTFile(t)
		file := filepath.Join(folder, "w.json")
		must := func(err error) {
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		must(os.WriteFile(file, []byte(text), 0o644))
		bench, err := workload.Parse([]string{"rt-app", "--stop", "0.01", file})
		must(err)
		mach, err := machine.Parse("1n2c2t")
		must(err)
		scenario, err := bench.Build(workload.Shape{CPUs: 4, Nodes: 1})
		must(err)
		profile, err := sched.LookupProfile(rapid.SampledFrom([]string{"v4.14", "v6.1", "v7.2"}).Draw(t, "kernel"))
		must(err)
		rules, err := workload.RulesFor(profile.Name)
		must(err)
		costs, err := CostsFor(mach.Name)
		must(err)
		cfg := Config{Sched: sched.NewConfig(mach, profile), Costs: costs, Rules: rules, Scenario: scenario, Seed: 1, Check: true}
		if rapid.Bool().Draw(t, "limited") {
			cfg.Limits = []GroupLimit{{Path: "/g", Limit: sched.Limit{Quota: 1e6, Period: 2e6}}}
		}
		m, err := New(cfg)
		must(err)
		r, err := m.Run(context.Background())
		must(err)
		last := make([]int64, len(scenario.Tasks))
		for _, a := range r.Observation.Activations {
			if a.Start < last[a.Task] || a.End < a.Start || 1000*a.RunMicros > a.End-a.Start+mostRuns*500 {
				t.Fatalf("activation %+v after one that ended at %d\n%s", a, last[a.Task], text)
			}
			last[a.Task] = a.End
		}
	})
}
