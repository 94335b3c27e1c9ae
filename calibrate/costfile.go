package calibrate

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/schedlab/schedlab/sim"
)

// baseCosts is the file whose parameters a calibrated file overrides.
const baseCosts = "default"

// BaseCosts are the costs that a search starts on top of.
func BaseCosts() (*sim.Costs, error) { return sim.LoadCosts(baseCosts) }

// CostFile writes the knobs' values as a cost file on top of a built-in one,
// "" for that of BaseCosts. The provenance says what they were fitted to.
func CostFile(base string, costs *sim.Costs, knobs []Knob, description, provenance string) ([]byte, error) {
	units := map[string]string{}
	for _, p := range sim.CostParameters() {
		units[p.Name] = p.Unit
	}
	type parameter struct {
		Value  int64  `json:"value"`
		Unit   string `json:"unit"`
		Source string `json:"source"`
	}
	parameters := map[string]parameter{}
	for _, k := range knobs {
		source := fmt.Sprintf("%s, from %d within %d-%d", provenance, k.Start, k.Low, k.High)
		if k.Source != "" {
			source = k.Source
		}
		for _, name := range k.parameters() {
			value, err := costs.Parameter(name)
			if err != nil {
				return nil, err
			}
			parameters[name] = parameter{value, units[name], source}
		}
	}
	text, err := json.MarshalIndent(struct {
		Base        string               `json:"base"`
		Description string               `json:"description"`
		Parameters  map[string]parameter `json:"parameters"`
	}{cmp.Or(base, baseCosts), description, parameters}, "", "  ")
	return append(text, '\n'), err
}
