package machine

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestYAMLRoundTrip(t *testing.T) {
	specs := []string{"1n1c1t", "1n1c8t", "2n4l6c2t", "16n4c2t"}
	for _, p := range Presets() {
		specs = append(specs, p.Name)
	}
	for _, spec := range specs {
		m := mustParse(t, spec)
		if diff := cmp.Diff(m, roundTrip(t, m)); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}

// TestLegalOddities checks that what is unusual but real loads as written.
func TestLegalOddities(t *testing.T) {
	m, err := Load("testdata/uneven.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Packages: 2, Nodes: 3, LLCs: 3, Clusters: 1, Cores: 6, CPUs: 7}
	if got := m.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if m.CPUs[7] != offlineCPU || !m.Nodes[2].CPUs.Empty() || m.Nodes[2].ID != 4 {
		t.Errorf("CPU 7 %+v, node 4 %+v: want an offline CPU and a node without CPUs", m.CPUs[7], m.Nodes[2])
	}
	for cpu, want := range map[int]string{0: "0-1", 3: "2-3", 4: "4-6"} {
		if got := m.LLCMask(cpu).String(); got != want {
			t.Errorf("LLC of CPU %d: %s, want %s", cpu, got, want)
		}
	}
	if m.CPUs[5].Capacity != 446 || m.CPUs[4].Capacity != 1024 {
		t.Errorf("capacities %d, %d, want 446, 1024", m.CPUs[5].Capacity, m.CPUs[4].Capacity)
	}
	if diff := cmp.Diff(m, roundTrip(t, m)); diff != "" {
		t.Error(diff)
	}
}

// TestDerivedFromCaches checks what docs/machine.md says of a file without
// llcs and clusters: the last cache inside the node, and a shared L2 below it.
func TestDerivedFromCaches(t *testing.T) {
	m, err := parseYAML("t.yaml", []byte(`
nodes: [{id: 0, cpus: 0-3}, {id: 1, cpus: 4-7}]
distances: [[10, 12], [12, 10]]
packages: 0-7
caches:
  - {level: 2, type: Unified, cpus: [0-1, 2-3, 4-5, 6-7]}
  - {level: 3, type: Unified, each: package}
`))
	if err != nil {
		t.Fatal(err)
	}
	if llc, cluster := m.LLCMask(6).String(), m.ClusterMask(6).String(); llc != "4-7" || cluster != "6-7" {
		t.Errorf("LLC %s, cluster %s, want 4-7 and 6-7", llc, cluster)
	}
	if got := m.Caches[len(m.Caches)-1].CPUs.String(); got != "0-7" {
		t.Errorf("the L3 itself is of CPUs %s, want 0-7", got)
	}
}

const twoNodes = "nodes:\n  - {id: 0, cpus: 0-3}\n  - {id: 1, cpus: 4-7}\ndistances: [[10, 21], [21, 10]]\n" // lines 1-4

func TestYAMLErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"asymmetric", "nodes: [{id: 0, cpus: 0}, {id: 1, cpus: 1}]\ndistances:\n  - [10, 21]\n  - [20, 10]\n", "f.yaml:4:6: distance 20 from node 1 to node 0, but 21"},
		{"self not smallest", "nodes: [{id: 0, cpus: 0}, {id: 1, cpus: 1}]\ndistances:\n  - [10, 10]\n  - [10, 10]\n", "f.yaml:3:10: distance 10 from node 0 to node 1 is not larger than 10"},
		{"uniform wrong", "nodes: [{id: 0, cpus: 0}, {id: 1, cpus: 1}]\ndistances: {self: 20, other: 10}\n", "f.yaml:2:30: distance 10"},
		{"uniform half", "nodes: [{id: 0, cpus: 0}]\ndistances: {self: 20}\n", "give both"},
		{"short row", "nodes: [{id: 0, cpus: 0}, {id: 1, cpus: 1}]\ndistances:\n  - [10, 21]\n  - [21]\n", "node 1 has 1 distances"},
		{"no distances", "nodes:\n- {id: 0, cpus: 0}\n- {id: 1, cpus: 1}\n", "f.yaml:3:8: 2 nodes need distances"},
		{"rows", "nodes: [{id: 0, cpus: 0}, {id: 1, cpus: 1}]\ndistances: [[10]]\n", "distances has 1 rows for 2 nodes"},
		{"CPU in two nodes", "nodes:\n  - {id: 0, cpus: 0-4}\n  - {id: 1, cpus: 4-7}\n", "f.yaml:3:19: CPU 4 is in a second node, the first is in line 2"},
		{"node order", "nodes: [{id: 1, cpus: 0}, {id: 0, cpus: 1}]\n", "list nodes by increasing id"},
		{"no id", "nodes: [{cpus: 0}]\n", `the 1st node has no id: add "id: 0"`},
		{"no CPU", "nodes: [{id: 0}]\n", "no CPU is online"},
		{"beyond cpus", "cpus: 4\nnodes:\n  - {id: 0, cpus: 0-4}\n", "f.yaml:3:19: CPU 4, but cpus: 4 in line 1"},
		{"too many", "cpus: 4097\nnodes: [{id: 0, cpus: 0}]\n", "f.yaml:1:7: cpus: 4097, at most 4096"},
		{"CPU too high", "nodes: [{id: 0, cpus: 4096}]\n", "f.yaml:1:23: CPU list \"4096\": CPU 4096 is beyond"},
		{"bad list", "nodes: [{id: 0, cpus: 3-1}]\n", `f.yaml:1:23: CPU list "3-1"`},
		{"unquoted comma", "nodes: [{id: 0, cpus: 0,3}]\n", `f.yaml:1:25: "3" is not a key of a machine; a CPU list with commas needs quotes`},
		{"unknown key", "nodes: [{id: 0, cpus: 0}]\ncore: [0]\n", `f.yaml:2:1: unknown field "core"`},
		{"twice", "nodes: [{id: 0, cpus: 0}]\nnodes: [{id: 0, cpus: 0}]\n", "f.yaml:2:1: mapping key"},
		{"syntax", "nodes: [{id: 0, cpus: 0}\n", "f.yaml:1:8:"},
		{"empty", "", "a machine has at least nodes"},
		{"two documents", "nodes: [{id: 0, cpus: 0}]\n---\nnodes: [{id: 0, cpus: 0}]\n", "there are 2"},
		{"alias", "nodes: [{id: 0, cpus: &a 0}]\ncores: [*a]\n", "f.yaml:2:9: an alias"},
		{"deep", "nodes: " + strings.Repeat("[", 1000), "nested more than 64 deep"},
		{"core over nodes", twoNodes + "cores: [\"3,4\"]\n", "f.yaml:5:9: core 3-4: CPUs 3 and 4 are not in the same node"},
		{"core over LLCs", twoNodes + "llcs: [0-1, 2-3, 4-7]\ncores: [1-2]\n", "f.yaml:6:9: core 1-2: CPUs 1 and 2 are not in the same LLC"},
		{"LLC over nodes", twoNodes + "llcs: [0-7]\n", "f.yaml:5:8: LLC 0-7: CPUs 0 and 4 are not in the same node"},
		{"cluster over LLCs", twoNodes + "llcs: [0-1, 2-3, 4-7]\nclusters: [0-3]\n", "not in the same LLC"},
		{"core over packages", twoNodes + "packages: [0-1, 2-3, 4-7]\ncores: [1-2]\n", "not in the same package"},
		{"missing package", twoNodes + "packages: [0-3]\n", "f.yaml:5:11: CPUs 4-7 are in no package"},
		{"CPU in two cores", twoNodes + "cores: [0-1, 1-2]\n", "f.yaml:5:14: CPU 1 is in a second core, the first is in line 5"},
		{"offline CPU in a core", "nodes: [{id: 0, cpus: 0-3}]\ncores: [3-4]\n", "f.yaml:2:9: CPU 4 is in no node"},
		{"empty set", twoNodes + "cores: [\"\"]\n", "f.yaml:5:9: an empty set"},
		{"capacity", twoNodes + "capacities: [{cpus: 0, capacity: 1025}]\n", "f.yaml:5:34: capacity 1025"},
		{"nobody fast", twoNodes + "capacities: [{cpus: 0-7, capacity: 512}]\n", "f.yaml:5:36: the fastest CPU has capacity 512"},
		{"cache level", twoNodes + "caches: [{level: 0, each: core}]\n", "f.yaml:5:18: level 0"},
		{"cache type", twoNodes + "caches: [{level: 1, type: data, each: core}]\n", `f.yaml:5:27: type "data" is not Data`},
		{"cache size", twoNodes + "caches: [{level: 1, size: big, each: core}]\n", `f.yaml:5:27: "big" is not a size`},
		{"cache of nobody", twoNodes + "caches: [{level: 1}]\n", `f.yaml:5:18: the L1 cache has no CPUs: add "each: core"`},
		{"cache both ways", twoNodes + "caches: [{level: 1, each: core, cpus: 0-1}]\n", "both cpus and each"},
		{"cache each what", twoNodes + "caches: [{level: 1, each: socket}]\n", `"socket" is not core, cluster, llc`},
		{"cache each llc", twoNodes + "caches: [{level: 3, each: llc}]\n", "each: llc needs llcs"},
		{"cache twice", twoNodes + "caches: [{level: 3, type: Unified, cpus: [0-3, 3-7]}]\n", "f.yaml:5:48: CPU 3 is in a second L3 Unified cache"},
	} {
		_, err := parseYAML("f.yaml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v\n  want one with %q", test.name, err, test.want)
		}
	}
}

// TestDocumentedMachine loads the example of docs/machine.md.
func TestDocumentedMachine(t *testing.T) {
	doc, err := os.ReadFile("../docs/machine.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(doc), "```yaml\n")
	example, _, _ := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/machine.md has no yaml example")
	}
	m, err := parseYAML("example.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Packages: 2, Nodes: 3, LLCs: 2, Clusters: 2, Cores: 12, CPUs: 16}
	if got := m.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
