package experiment

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/schedlab/schedlab/workload"
)

// stretchSpec is a `stretch:` key: how much of a long run is simulated.
type stretchSpec struct {
	stretch workload.Stretch // zero: the whole run
	quick   workload.Stretch // what --quick takes instead; zero: the same
	at      position
}

func (s *stretchSpec) given() bool { return s.at != position{} }

// wholeRun is what a benchmark writes to be exempt from the experiment's stretch.
const wholeRun = "whole"

// MaxStretch is the longest part of a stretch.
const MaxStretch = 1000 * time.Second

const stretchExample = "write stretch: {warmup: 400ms, measure: 300ms} or stretch: whole"

// stretch reads the key of the experiment or of a benchmark.
func (d *decoder) stretch(f *fields) stretchSpec {
	n := f.get("stretch")
	if n == nil || d.err != nil {
		return stretchSpec{}
	}
	spec := stretchSpec{at: f.keyAt("stretch")}
	if s, ok := d.resolve(n).(*ast.StringNode); ok {
		if s.Value != wholeRun {
			d.fail(where(n), "stretch is %q; %s", s.Value, stretchExample)
		}
		return spec
	}
	own := d.fields(n, "stretch", "warmup", "measure", "settle", "quick")
	spec.stretch = d.stretchTimes(&own)
	if q := own.get("quick"); q != nil {
		quick := d.fields(q, "the quick stretch", "warmup", "measure", "settle")
		spec.quick = d.stretchTimes(&quick)
	}
	return spec
}

func (d *decoder) stretchTimes(f *fields) workload.Stretch {
	stretch := workload.Stretch{Warmup: d.duration(f, "warmup", 0), Measure: d.duration(f, "measure", time.Microsecond)}
	if f.get("settle") != nil {
		stretch.Settle = d.duration(f, "settle", 0)
	}
	return stretch
}

// duration reads a length of time that must be there.
func (d *decoder) duration(f *fields, key string, least time.Duration) int64 {
	t := d.required(f, key)
	if d.err != nil {
		return 0
	}
	length, err := time.ParseDuration(t.value)
	if err != nil || length < least || length > MaxStretch {
		d.fail(t.at, "%s is %q; write a length such as 300ms or 1.5s, from %s to %s", key, t.value, least, MaxStretch)
	}
	return int64(length)
}

// stretchOf is what a benchmark's cells simulate.
func (x *Experiment) stretchOf(b *benchmark, quick bool) workload.Stretch {
	spec := &x.stretch
	if b.stretch.given() {
		spec = &b.stretch
	}
	if quick && spec.quick.Given() {
		return spec.quick
	}
	return spec.stretch
}

// stretchAt is where a benchmark's stretch stands.
func (x *Experiment) stretchAt(b *benchmark) position {
	if b.stretch.given() {
		return b.stretch.at
	}
	return x.stretch.at
}

// applyStretch hands a cell's stretch to its benchmark.
func applyStretch(benchmark workload.Benchmark, stretch workload.Stretch) error {
	if !stretch.Given() {
		return nil
	}
	scalable, ok := benchmark.(workload.Scalable)
	if !ok {
		return fmt.Errorf("%s cannot be scaled from a stretch; write stretch: %s in that benchmark", benchmark.Name(), wholeRun)
	}
	scalable.SetStretch(stretch)
	return nil
}
