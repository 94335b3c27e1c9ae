package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// checkAccepted holds for whatever a reader accepts: it validates, it can be
// drawn, and its YAML loads to the same counts.
func checkAccepted(t *testing.T, m *Machine) {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatalf("accepted, but %v", err)
	}
	for _, format := range Formats() {
		render(t, m, format)
	}
	if a, b := m.Counts(), roundTrip(t, m).Counts(); a != b {
		t.Fatalf("%+v became %+v in YAML", a, b)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2n24c2t", "2n4l6c2t", "ivb-ep", "0n1c1t", "1n1c", "99999999999999999999n1c1t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if m, err := Parse(spec); err == nil && m.NumCPUs() <= 64 {
			checkAccepted(t, m)
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8", "3-1", "4095", "0-4095,1,,", "1-2-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUList(s, MaxCPUs)
		if err != nil {
			return
		}
		again, err := ParseCPUList(MaskOf(MaxCPUs, cpus...).String(), MaxCPUs)
		if err != nil || len(again) != len(cpus) {
			t.Fatalf("%q: %v printed reads as %v, %v", s, cpus, again, err)
		}
	})
}

func FuzzYAML(f *testing.F) {
	addFile(f, "testdata/uneven.yaml")
	f.Add([]byte("nodes: [{id: 0, cpus: 0,3}]"))
	f.Add([]byte("nodes: [{id: 0, cpus: &a 0-3}, {id: 1, cpus: [4, 5-7]}]\ndistances: {self: 10, other: 20}\ncores: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseYAML("fuzz.yaml", data); err == nil {
			checkAccepted(t, m)
		}
	})
}

func addFile(f *testing.F, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
}

// FuzzImport covers the sniffer and the readers of text.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/import/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		addFile(f, file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format, err := sniff(data)
		if err != nil {
			return
		}
		if imported, err := format.read("fuzz", data); err == nil {
			checkAccepted(t, imported.Machine)
		}
	})
}

// fuzzReader fuzzes one reader with one seed, past the sniffer.
func fuzzReader(f *testing.F, parse func([]byte) (*draft, error), seeds ...string) {
	for _, seed := range seeds {
		addFile(f, filepath.Join("testdata", "import", seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if imported, err := finishImport("fuzz", data, parse); err == nil {
			checkAccepted(t, imported.Machine)
		}
	})
}

func FuzzLscpuJSON(f *testing.F) {
	fuzzReader(f, parseLscpuJSON, "lscpu-J.json", "lscpu-J-tree.json", "lscpu-J-e.json")
}

func FuzzLscpuParsable(f *testing.F) {
	fuzzReader(f, parseLscpuParsable, "lscpu-p.txt", "lscpu-p-custom.txt")
}

func FuzzHwloc(f *testing.F) { fuzzReader(f, parseHwloc, "hwloc1.xml", "hwloc2.xml") }

func FuzzMachineText(f *testing.F) { fuzzReader(f, parseMachineText, "machine.txt") }
