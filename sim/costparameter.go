package sim

import (
	"fmt"

	"github.com/schedlab/schedlab/internal/suggest"
)

// CostParameter describes one number of a cost file.
type CostParameter struct {
	Name, Unit string
	// Frozen parameters are paid by patched kernels only. They were set before
	// the first comparison and are nobody's to fit (RATIONALE.md, "Costs, and
	// when they may change").
	Frozen bool
}

// frozenParameters are the costs that only a patched kernel pays.
var frozenParameters = map[string]bool{
	"mask_update": true, "mask_lookup": true, "mask_fetch": true, "mask_fetch_remote": true, "pull_probe": true,
	"map_lookup": true,
}

// CostParameters lists every parameter, in the order of the built-in files.
func CostParameters() []CostParameter {
	list := make([]CostParameter, len(costFields))
	for i, f := range costFields {
		list[i] = CostParameter{f.name, f.unit, frozenParameters[f.name]}
	}
	return list
}

// Parameter returns the value of a parameter, in its own unit.
func (c *Costs) Parameter(name string) (int64, error) {
	field, err := parameterField(name)
	if err != nil {
		return 0, err
	}
	return *field(c), nil
}

// With returns a copy in which one parameter has another value. Frozen
// parameters, unknown ones and values that cannot be are refused.
func (c *Costs) With(name string, value int64) (*Costs, error) {
	if frozenParameters[name] {
		return nil, fmt.Errorf("parameter %s is paid by patched kernels only and frozen: it cannot be fitted", name)
	}
	return c.Suppose(name, value)
}

// Suppose is With for the question what a cost does: frozen parameters may have
// another value too.
func (c *Costs) Suppose(name string, value int64) (*Costs, error) {
	field, err := parameterField(name)
	if err != nil {
		return nil, err
	}
	changed := *c
	*field(&changed) = value
	return &changed, changed.check(name, value)
}

func (c *Costs) check(name string, value int64) error {
	if err := checkValue(name, value); err != nil {
		return err
	}
	return c.checkRanges()
}

// mostOfOne is the largest value of a parameter: a second, where most are in
// ns. Sums of some of them times a count stay far from the end of an int64.
const mostOfOne = 1e9

func checkValue(name string, value int64) error {
	switch {
	case value < 0:
		return fmt.Errorf("parameter %s is negative", name)
	case value > mostOfOne:
		return fmt.Errorf("parameter %s is %d; the most is %d", name, value, int64(mostOfOne))
	}
	return nil
}

func parameterField(name string) (func(*Costs) *int64, error) {
	for i := range costFields {
		if costFields[i].name == name {
			return costFields[i].field, nil
		}
	}
	return nil, fmt.Errorf("unknown parameter %q; %s", name, suggest.DidYouMean(name, parameterNames()))
}
