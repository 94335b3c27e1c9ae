package experiments

import (
	"slices"
	"testing"
)

// Every experiment file is a part of exactly one document, and the first part
// is named after it.
func TestDocumentsHoldEveryExperimentOnce(t *testing.T) {
	var parts []string
	for _, d := range Documents() {
		if d.Parts[0] != d.Name {
			t.Errorf("the first part of %s is %s", d.Name, d.Parts[0])
		}
		for _, part := range d.Parts {
			if of, known := DocumentOf(part); !known || of.Name != d.Name {
				t.Errorf("%s belongs to %q", part, of.Name)
			}
		}
		parts = append(parts, d.Parts...)
	}
	slices.Sort(parts)
	if !slices.Equal(parts, Names()) {
		t.Errorf("documents have the parts %q, there are %q", parts, Names())
	}
}

func TestDocumentOfNothing(t *testing.T) {
	if d, known := DocumentOf("wake"); known {
		t.Errorf("found %+v", d)
	}
}
