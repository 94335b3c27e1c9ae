package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, spec string) *Machine {
	t.Helper()
	m, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDocument000Machine checks mechanisms.md 0.4: siblings (0,48), (1,49) and
// so on, node 0 = 0-23,48-71, one LLC of 48 CPUs per node, distances 10 and 21.
func TestDocument000Machine(t *testing.T) {
	m := mustParse(t, "2n24c2t")
	for _, check := range []struct {
		what, got, want string
	}{
		{"core of CPU 0", m.CoreMask(0).String(), "0,48"},
		{"core of CPU 49", m.CoreMask(49).String(), "1,49"},
		{"node 0", m.Nodes[0].CPUs.String(), "0-23,48-71"},
		{"LLC of CPU 95", m.LLCMask(95).String(), "24-47,72-95"},
		{"package of CPU 50", m.PackageMask(50).String(), "0-23,48-71"},
		{"cluster of CPU 50, which has none", m.ClusterMask(50).String(), "2,50"},
	} {
		if check.got != check.want {
			t.Errorf("%s: %s, want %s", check.what, check.got, check.want)
		}
	}
	if m.Distance(0, 48) != 10 || m.Distance(0, 24) != 21 || m.Distance(95, 1) != 21 {
		t.Errorf("distances %d %d %d, want 10 21 21", m.Distance(0, 48), m.Distance(0, 24), m.Distance(95, 1))
	}
}

func TestSpecCounts(t *testing.T) {
	for _, test := range []struct {
		spec string
		want Counts
	}{
		// nodes x LLCs x cores x threads: 2 x 4 x 6 x 2 = 96 CPUs, 48 cores, 8 LLCs.
		{"2n4l6c2t", Counts{Packages: 2, Nodes: 2, LLCs: 8, Cores: 48, CPUs: 96}},
		{"1n1c1t", Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 1}},
		{"1n1c8t", Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 8}},
		{"64n32c2t", Counts{Packages: 64, Nodes: 64, LLCs: 64, Cores: 2048, CPUs: 4096}},
		{"1024n2c2t", Counts{Packages: 1024, Nodes: 1024, LLCs: 1024, Cores: 2048, CPUs: 4096}},
		{"xeon-8260", Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 48, CPUs: 96}},
		{"ivb-ep", Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 20, CPUs: 40}},
		{"hsw-ex", Counts{Packages: 4, Nodes: 4, LLCs: 4, Cores: 72, CPUs: 144}},
		{"quad-core-2s", Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 8, CPUs: 8}},
		{"x86-16", Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 16, CPUs: 16}},
		{"x86-12", Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 6, CPUs: 12}},
	} {
		m := mustParse(t, test.spec)
		if got := m.Counts(); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.spec, got, test.want)
		}
		if m.Name != test.spec {
			t.Errorf("%s is called %q", test.spec, m.Name)
		}
	}
}

func TestPresetsNameTheirSource(t *testing.T) {
	for _, p := range Presets() {
		if !strings.Contains(p.Source, "document 00") {
			t.Errorf("preset %s does not say which document it is from: %q", p.Name, p.Source)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":             "no preset of that name",
		"ivb":          "no preset of that name (xeon-8260, ivb-ep",
		"2n24c":        "not a spec such as 2n24c2t",
		"2n24c2t ":     "not a spec",
		"0n24c2t":      "nodes must be 1 to 4096, not 0",
		"2n0l3c1t":     "LLCs per node must be 1",
		"2n24c0t":      "threads must be 1",
		"9999n1c1t":    "nodes must be 1 to 4096, not 9999",
		"1025n1c1t":    "1025 nodes, Linux knows at most 1024",
		"2n2048c2t":    "8192 CPUs, at most 4096",
		"1n1c" + nines: "not a spec such as",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.20q): error %v, want one with %q", spec, err, want)
		}
	}
}

var nines = strings.Repeat("9", 100)

// largest have 4,096 CPUs in few nodes, in many, and in one.
var largest = []string{"64n32c2t", "1024n4c1t", "1n4096c1t"}

func TestLargestMachinesSurviveTheirFile(t *testing.T) {
	for _, spec := range largest {
		m := mustParse(t, spec)
		if diff := cmp.Diff(m.Counts(), roundTrip(t, m).Counts()); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}

func BenchmarkLargestMachines(b *testing.B) {
	for _, spec := range largest {
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				roundTrip(b, mustParse(b, spec))
			}
		})
	}
}

func TestResolve(t *testing.T) {
	for _, name := range []string{"ivb-ep", "2n10c2t", "testdata/uneven.yaml"} {
		if _, err := Resolve(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"ivb-ep.yaml":                "no such file",
		"./2n10c2t":                  "no such file",
		"2x10":                       "not a spec",
		"testdata/import/hwloc2.xml": "this is hwloc XML, not a machine in YAML: make one with \"schedlab machine import",
		"testdata/import":            "is a directory",
	} {
		if _, err := Resolve(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q): error %v, want one with %q", name, err, want)
		}
	}
}
