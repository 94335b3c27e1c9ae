package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func costFileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.json")
	check(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A file with a base changes what it names and nothing else.
func TestCostFileOverridesItsBase(t *testing.T) {
	base, err := LoadCosts("default")
	check(t, err)
	path := costFileOf(t, `{"base": "default", "description": "a slower tick",
		"parameters": {"tick": {"value": 7777, "unit": "ns", "source": "test"}}}`)
	costs, err := LoadCostFile(path)
	check(t, err)
	want := *base
	want.Name, want.Tick = path, 7777
	if *costs != want {
		t.Errorf("got %+v, want %+v", *costs, want)
	}
}

func TestBadCostFiles(t *testing.T) {
	tests := []struct{ text, want string }{
		{"{\n\"parameters\": {\n\"tick\": 5}}", "mine.json:3: "},
		{"{\n\"base\": \"default\",\n\"params\": {}}", `mine.json:3: json: unknown field "params"`},
		{`{"parameters": {}}`, "parameter search (ns) is missing"},
		{`{"base": "none"}`, `base: no cost file "none"`},
		{`{"base": "default", "parameters": {"tick": {"value": -1, "unit": "ns", "source": "test"}}}`, "parameter tick is negative"},
		{`{"base": "default", "parameters": {"tick": {"value": 1, "unit": "us", "source": "test"}}}`, `parameter tick must be in ns, not "us"`},
		{`{"base": "default", "parameters": {"tick": {"value": 1, "unit": "ns"}}}`, "parameter tick needs a source"},
		{`{"base": "default", "parameters": {"tik": {"value": 1, "unit": "ns", "source": "test"}}}`, `unknown parameter "tik"; did you mean "tick"?`},
		{`{"base": "default", "parameters": {"smt_speed": {"value": 1025, "unit": "1/1024", "source": "test"}}}`, "smt_speed must be between 1 and 1024"},
	}
	for _, tt := range tests {
		if _, err := LoadCostFile(costFileOf(t, tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.text, err, tt.want)
		}
	}
}
