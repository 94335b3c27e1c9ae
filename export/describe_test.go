package export

import "testing"

// What is written is described, and nothing else.
func TestEveryColumnIsDescribed(t *testing.T) {
	for table, meanings := range map[Table]map[string]string{Events: eventMeanings, Slices: sliceMeanings} {
		columns := Describe(table)
		for _, c := range columns {
			if c.Meaning == "" {
				t.Errorf("%s: nothing says what %s is", table, c.Name)
			}
		}
		if len(columns) != len(meanings) {
			t.Errorf("%s: %d columns, %d are described", table, len(columns), len(meanings))
		}
	}
}
