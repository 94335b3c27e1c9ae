package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check asks the runner about every distinct cell before anything runs. The
// error is the first refusal, as a *RequestError at the offending line.
func (p *Plan) Check(runner Runner) error {
	for i := range p.Cells {
		if p.origins[i].repeat > 1 { // repeats differ in their seed only
			continue
		}
		if err := runner.Check(&p.Cells[i]); err != nil {
			return p.refusal(i, err)
		}
	}
	return nil
}

func (p *Plan) refusal(cell int, err error) error {
	message := err.Error()
	at := p.experiment.variants[p.origins[cell].variant].name.at
	var field *FieldError
	if errors.As(err, &field) {
		message = field.Err.Error()
		if place := p.locate(cell, field.Field); place != (position{}) {
			at = place
		}
	}
	request := p.experiment.src.errorAt(at, "%s", message)
	request.Err = err
	return request
}

// locate is where the file sets a field of a cell; the zero position when it is
// nowhere (a default).
func (p *Plan) locate(cell int, field string) position {
	x, o := p.experiment, p.origins[cell]
	v, e, b := &x.variants[o.variant], &x.environments[o.environment], &x.benchmarks[o.benchmark]
	switch field {
	case "machine":
		return orElse(v.machine, p.machines()[o.machine]).at
	case "kernel":
		return orElse(v.kernel, x.kernel).at
	case "hz":
		return x.hz.at
	case "preemption":
		return x.preemption.at
	case "noise":
		return x.noise.at
	case "costs":
		return x.costs.at
	case "placement":
		return v.placement.at
	case "run":
		return b.run.at
	case "rows":
		if at := p.rows[o.benchmark][o.row].at; at != (position{}) {
			return at
		}
		return b.run.at
	case "stretch":
		return x.stretchAt(b)
	case "cgroup":
		return e.cgroup.at
	}
	return locateItem(v, e, field)
}

func locateItem(v *variant, e *environment, field string) position {
	if name, found := strings.CutPrefix(field, "tunables."); found {
		for _, t := range slices.Concat(v.tunables, e.tunables) {
			if t.name.value == name {
				return t.name.at
			}
		}
		return position{}
	}
	var i int
	if n, _ := fmt.Sscanf(field, "features[%d]", &i); n == 1 && i >= 0 && i < len(v.features) {
		return v.features[i].at
	}
	if n, _ := fmt.Sscanf(field, "background[%d]", &i); n == 1 && i >= 0 && i < len(e.background) {
		return e.background[i].run.at
	}
	if n, _ := fmt.Sscanf(field, "cgroups[%d]", &i); n == 1 && i >= 0 {
		return e.cgroupAt(i)
	}
	return position{}
}

// cgroupAt is where the i-th CgroupSetting of the cells stands.
func (e *environment) cgroupAt(i int) position {
	settings := e.cgroupSettings()
	if i >= len(settings) {
		return position{}
	}
	for _, s := range e.cgroups {
		if s.path == settings[i].Path && s.file == settings[i].File {
			return s.value.at
		}
	}
	return e.name.at
}
