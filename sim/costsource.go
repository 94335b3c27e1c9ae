package sim

import (
	"encoding/json"
	"fmt"
)

// CostValue is a number as a built-in cost file has it.
type CostValue struct {
	CostParameter
	Value  int64
	Source string
}

// CostListing returns what a built-in cost file itself says, in the order of
// CostParameters: its description, the file that it is based on ("" for one that
// has all) and its numbers.
func CostListing(name string) (description, base string, values []CostValue, err error) {
	if _, err := LoadCosts(name); err != nil {
		return "", "", nil, err
	}
	text, err := costFiles.ReadFile("costs/" + name + ".json")
	if err != nil {
		return "", "", nil, err
	}
	var file costFile
	if err := json.Unmarshal(text, &file); err != nil {
		return "", "", nil, fmt.Errorf("cost file %s: %w", name, err)
	}
	for _, p := range CostParameters() {
		if number, given := file.Parameters[p.Name]; given {
			values = append(values, CostValue{p, number.Value, number.Source})
		}
	}
	return file.Description, file.Base, values, nil
}
