package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"

	"github.com/schedlab/schedlab/internal/suggest"
)

// maxCells bounds a plan: beyond it a file is a slip, not an experiment.
const maxCells = 1_000_000

// Options are the command line's choices that change which cells run.
type Options struct {
	Quick      bool      // the fewer repeats and rows of the file's quick section
	Seed       *uint64   // instead of the file's seed
	Benchmarks []string  // only these of the file's; none: all
	Supposed   []Tunable // cost parameters with other values, to see what they carry
}

// Plan is the cells of an experiment in their fixed order: machine, benchmark,
// environment, row, variant, repeat, each in the order of the file.
type Plan struct {
	Cells      []Cell
	Quick      bool
	Seed       uint64
	experiment *Experiment
	supposed   []Tunable
	origins    []origin       // of each cell
	places     map[origin]int // of each cell in Cells
	rows       [][]row        // of each benchmark
	repeats    int
}

// origin says from which entries of the experiment a cell comes.
type origin struct{ machine, benchmark, environment, row, variant, repeat int }

// Plan lists the cells. The error, a *RequestError, is for a file without a
// quick section under Options.Quick, and for too many cells.
func (x *Experiment) Plan(o Options) (*Plan, error) {
	x, err := x.only(o.Benchmarks)
	if err != nil {
		return nil, err
	}
	p := &Plan{experiment: x, Quick: o.Quick, Seed: x.seed, repeats: x.repeats, supposed: o.Supposed, places: map[origin]int{}}
	if o.Seed != nil {
		p.Seed = *o.Seed
	}
	if o.Quick && x.quick == nil {
		return nil, &RequestError{File: x.src.name,
			Message: "--quick, but the experiment has no quick section; write quick: {repeats: 3, rows: {-g: [4]}}"}
	}
	if o.Quick && x.quick.repeats > 0 {
		p.repeats = x.quick.repeats
	}
	p.rows = x.planRows(o.Quick)
	if n := p.count(); n > maxCells {
		return nil, &RequestError{File: x.src.name, Message: fmt.Sprintf("%d cells; the limit is %d", n, maxCells)}
	}
	p.fill()
	return p, nil
}

// only is the experiment with some of its benchmarks; with all if none is named.
func (x *Experiment) only(names []string) (*Experiment, error) {
	if len(names) == 0 {
		return x, nil
	}
	all := make([]string, len(x.benchmarks))
	for i := range x.benchmarks {
		all[i] = x.benchmarks[i].name.value
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, &RequestError{File: x.src.name, Message: fmt.Sprintf("there is no benchmark %q; %s", name, suggest.DidYouMean(name, all))}
		}
	}
	some := *x
	some.benchmarks = nil
	for i := range x.benchmarks {
		if slices.Contains(names, all[i]) {
			some.benchmarks = append(some.benchmarks, x.benchmarks[i])
		}
	}
	return &some, nil
}

func (x *Experiment) planRows(quick bool) [][]row {
	rows := make([][]row, len(x.benchmarks))
	for i := range x.benchmarks {
		flags := x.benchmarks[i].rows
		if quick {
			flags = quickRows(flags, x.quick.rows)
		}
		rows[i] = expandRows(flags)
	}
	return rows
}

func (p *Plan) count() int {
	x := p.experiment
	rows := 0
	for b, r := range p.rows {
		for _, m := range p.machines() {
			if x.benchmarks[b].runsOn(m) {
				rows += len(r)
			}
		}
	}
	return rows * len(x.environments) * len(x.variants) * p.repeats
}

// machines are the machines that get tables of their own; when only variants
// name machines, that is one group under the baseline's.
func (p *Plan) machines() []text {
	if x := p.experiment; len(x.machines) == 0 {
		return []text{x.variants[x.baseline].machine}
	}
	return p.experiment.machines
}

func (p *Plan) fill() {
	x := p.experiment
	for m := range p.machines() {
		for b := range x.benchmarks {
			if !x.benchmarks[b].runsOn(p.machines()[m]) {
				continue
			}
			for e := range x.environments {
				for r := range p.rows[b] {
					for v := range x.variants {
						for repeat := 1; repeat <= p.repeats; repeat++ {
							p.add(origin{m, b, e, r, v, repeat})
						}
					}
				}
			}
		}
	}
}

func (p *Plan) add(o origin) {
	x := p.experiment
	group, b, e, v := p.machines()[o.machine].value, &x.benchmarks[o.benchmark], &x.environments[o.environment], &x.variants[o.variant]
	r := &p.rows[o.benchmark][o.row]
	machine := orElse(v.machine, text{value: group}).value
	p.places[o] = len(p.origins)
	p.origins = append(p.origins, o)
	p.Cells = append(p.Cells, Cell{
		Key:     cellKey(machineLabel(group), b.name.value, e.name.value, r.label, v.name.value, strconv.Itoa(o.repeat)),
		Seed:    cellSeed(p.Seed, machineLabel(group), b.name.value, e.name.value, r.label, o.repeat),
		Machine: x.path(machine), MachineName: machineLabel(machine),
		Kernel:     orElse(v.kernel, x.kernel).value,
		Preemption: orElse(x.preemption, text{value: DefaultPreemption}).value,
		Noise:      x.noise.value,
		HZ:         int(x.hz.value),
		Placement:  v.placement.value,
		Costs:      x.path(x.costs.value),
		Supposed:   p.supposed,
		Features:   values(v.features),
		Tunables:   sortedTunables(v.tunables, e.tunables),
		Command:    append(b.command[:len(b.command):len(b.command)], r.args...),
		Cgroup:     rootless(e.cgroup.value),
		Cgroups:    e.cgroupSettings(),
		Background: e.backgroundJobs(),
		Stretch:    x.stretchOf(b, p.Quick),
		Variant:    v.name.value, Benchmark: b.name.value, Environment: e.name.value, Row: r.label, Repeat: o.repeat,
	})
}

// runsOn reports whether the benchmark has tables on a machine.
func (b *benchmark) runsOn(machine text) bool {
	return len(b.machines) == 0 || slices.ContainsFunc(b.machines, func(m text) bool { return m.value == machine.value })
}

func orElse(t, otherwise text) text {
	if t.given() {
		return t
	}
	return otherwise
}

// machineLabel is a machine in results: the base name of a machine file.
func machineLabel(name string) string {
	if !isPath(name) {
		return name
	}
	base := filepath.Base(filepath.ToSlash(name))
	return base[:len(base)-len(filepath.Ext(base))]
}

func rootless(cgroup string) string {
	if cgroup == "/" {
		return ""
	}
	return cgroup
}

// sortedTunables are those of the first list, and of the second what the first
// does not have.
func sortedTunables(list, otherwise []tunable) []Tunable {
	var tunables []Tunable
	for _, t := range slices.Concat(list, otherwise) {
		if !slices.ContainsFunc(tunables, func(o Tunable) bool { return o.Name == t.name.value }) {
			tunables = append(tunables, Tunable{t.name.value, t.value.value})
		}
	}
	sort.Slice(tunables, func(i, j int) bool { return tunables[i].Name < tunables[j].Name })
	return tunables
}

func (e *environment) cgroupSettings() []CgroupSetting {
	var settings []CgroupSetting
	for _, path := range e.declared {
		before := len(settings)
		for _, s := range e.cgroups {
			if s.path == path {
				settings = append(settings, CgroupSetting{s.path, s.file, s.value.value})
			}
		}
		if len(settings) == before {
			settings = append(settings, CgroupSetting{Path: path})
		}
	}
	return settings
}

func (e *environment) backgroundJobs() []BackgroundJob {
	var jobs []BackgroundJob
	for _, b := range e.background {
		jobs = append(jobs, BackgroundJob{Command: b.command, Cgroup: rootless(b.cgroup.value)})
	}
	return jobs
}
