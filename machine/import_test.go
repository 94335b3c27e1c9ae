package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// smallMachine is what all files in testdata/import describe: 2n2c2t with
// caches of 32K, 32K, 256K and 8M.
func smallMachine(t *testing.T, name string) *Machine {
	t.Helper()
	s := shape{nodes: 2, llcsPerNode: 1, coresPerLLC: 2, threads: 2}
	m, err := s.build(name, cacheSizes{l1d: 32 * kib, l1i: 32 * kib, l2: 256 * kib, llc: 8 * mib})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestImportFormats reads one machine in every format, and compares it with the
// one that the spec string gives, less what the format cannot tell.
func TestImportFormats(t *testing.T) {
	for _, test := range []struct {
		file, format string
		tells        string   // "sizes", "distances" or both
		notes        []string // part of each
	}{
		{"sysfs.tar.gz", "sysfs archive", "sizes distances", nil},
		{"machine.txt", "machine.txt", "sizes distances", nil},
		{"hwloc2.xml", "hwloc XML", "sizes distances", nil},
		{"hwloc1.xml", "hwloc XML", "sizes distances", nil},
		{"lscpu-p.txt", "lscpu -p", "", []string{"sizes of caches", "assumed 10 to itself and 20"}},
		{"lscpu-p-custom.txt", "lscpu -p", "", []string{"sizes of caches", "assumed 10 to itself and 20"}},
		{"lscpu-J-e.json", "lscpu -J", "", []string{"sizes of caches", "assumed 10 to itself and 20"}},
		{"lscpu-J.json", "lscpu -J", "sizes", []string{"siblings: taken as 0,4", "assumed 10 to itself and 20"}},
		{"lscpu-J-tree.json", "lscpu -J", "sizes", []string{"siblings: taken as 0,4", "assumed 10 to itself and 20"}},
	} {
		t.Run(test.file, func(t *testing.T) {
			got, err := Import(filepath.Join("testdata", "import", test.file))
			if err != nil {
				t.Fatal(err)
			}
			want := smallMachine(t, got.Machine.Name)
			if !strings.Contains(test.tells, "sizes") {
				for i := range want.Caches {
					want.Caches[i].Size = 0
				}
			}
			if !strings.Contains(test.tells, "distances") {
				want.Nodes[0].Distance[1], want.Nodes[1].Distance[0] = 20, 20
			}
			if diff := cmp.Diff(want, got.Machine); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.Format != test.format {
				t.Errorf("taken for %q, want %q", got.Format, test.format)
			}
			checkNotes(t, got.Notes, test.notes)
			if diff := cmp.Diff(got.Machine, roundTrip(t, got.Machine)); diff != "" {
				t.Errorf("YAML does not give the same machine:\n%s", diff)
			}
		})
	}
}

func checkNotes(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("notes %q, want %d of them", got, len(want))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("note %q, want one with %q", got[i], want[i])
		}
	}
}

// sysTree makes a sysfs from file names under sys/devices/system.
func sysTree(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree["sys/devices/system/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return tree
}

func TestOldAndOddSysfs(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  Counts
		notes []string
		check func(*testing.T, *Machine)
	}{
		{
			// Linux 2.6.16: hex masks only, an offline CPU without topology.
			name: "hex masks",
			files: map[string]string{
				"cpu/cpu0/topology/thread_siblings": "00000000,00000005", "cpu/cpu0/topology/core_siblings": "00000000,00000005",
				"cpu/cpu2/topology/thread_siblings": "00000000,00000005", "cpu/cpu2/topology/core_siblings": "00000000,00000005",
				"cpu/cpu2/online": "1", "cpu/cpu1/online": "0",
				"cpu/cpu0/cache/index0/level": "2", "cpu/cpu0/cache/index0/shared_cpu_map": "5", "cpu/cpu0/cache/index0/size": "1024K",
				"cpu/cpu2/cache/index0/level": "2", "cpu/cpu2/cache/index0/shared_cpu_map": "5", "cpu/cpu2/cache/index0/size": "1024K",
				"node/node0/cpumap": "00000007", "node/node0/distance": "10",
			},
			want: Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 2},
			check: func(t *testing.T, m *Machine) {
				if m.CPUs[1] != offlineCPU || m.Nodes[0].CPUs.String() != "0,2" {
					t.Errorf("node 0 holds %s, want 0,2: CPU 1 is offline", m.Nodes[0].CPUs)
				}
			},
		},
		{
			name:  "one CPU and nothing known",
			files: map[string]string{"cpu/cpu0/crash_notes": "0"},
			want:  Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 1},
			notes: []string{"no NUMA nodes", "no thread siblings", "no package", "no caches"},
		},
		{
			// Capacities 200 and 800: the fastest gets 1024, the other 200*1024/800 = 256.
			name: "capacities",
			files: map[string]string{
				"cpu/online": "0-1", "cpu/cpu0/cpu_capacity": "200", "cpu/cpu1/cpu_capacity": "800",
				"cpu/cpu0/topology/core_cpus_list": "0", "cpu/cpu1/topology/core_cpus_list": "1",
				"cpu/cpu0/topology/package_cpus_list": "0-1", "cpu/cpu1/topology/package_cpus_list": "0-1",
				"node/node0/cpulist": "0-1", "node/node0/distance": "10",
			},
			want:  Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 2, CPUs: 2},
			notes: []string{"no caches"},
			check: func(t *testing.T, m *Machine) {
				if m.CPUs[0].Capacity != 256 || m.CPUs[1].Capacity != 1024 {
					t.Errorf("capacities %d and %d, want 256 and 1024", m.CPUs[0].Capacity, m.CPUs[1].Capacity)
				}
			},
		},
		{
			// Sub-NUMA clustering: one L3 and package over two nodes; Linux's MC level stays in the node.
			name: "sub-NUMA clustering",
			files: withCPUs(4, func(cpu int, set func(file, text string)) {
				set("topology/core_cpus_list", fmt.Sprint(cpu))
				set("topology/package_cpus_list", "0-3")
				set("cache/index3/level", "3")
				set("cache/index3/shared_cpu_list", "0-3")
			}, map[string]string{"node/node0/cpulist": "0-1", "node/node1/cpulist": "2-3", "node/node0/distance": "10 12", "node/node1/distance": "12 10"}),
			want:  Counts{Packages: 1, Nodes: 2, LLCs: 2, Cores: 4, CPUs: 4},
			notes: []string{"last-level caches span several nodes"},
			check: func(t *testing.T, m *Machine) {
				if got := m.Caches[0].CPUs.String(); got != "0-3" {
					t.Errorf("the L3 is of CPUs %s, want 0-3", got)
				}
			},
		},
		{
			// A firmware that puts siblings into two nodes: Linux ignores the sibling.
			name: "core over two nodes",
			files: withCPUs(2, func(_ int, set func(file, text string)) {
				set("topology/core_cpus_list", "0-1")
				set("topology/package_cpus_list", "0-1")
			}, map[string]string{"node/node0/cpulist": "0", "node/node1/cpulist": "1", "node/node0/distance": "10 20", "node/node1/distance": "20 10"}),
			want:  Counts{Packages: 1, Nodes: 2, LLCs: 2, Cores: 2, CPUs: 2},
			notes: []string{"1 core with threads in two nodes", "no caches", "span several nodes"},
		},
		{
			// Siblings with an L2 each as the last level: Linux widens MC to hold SMT.
			name: "core over two caches",
			files: withCPUs(2, func(cpu int, set func(file, text string)) {
				set("topology/core_cpus_list", "0-1")
				set("topology/package_cpus_list", "0-1")
				set("cache/index2/level", "2")
				set("cache/index2/shared_cpu_list", fmt.Sprint(cpu))
			}, map[string]string{"node/node0/cpulist": "0-1", "node/node0/distance": "10"}),
			want:  Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 2},
			notes: []string{"1 LLC joined to another"},
		},
		{
			// CPU 2 says it shares a core with 1, which says it does not.
			name: "siblings that disagree",
			files: withCPUs(3, func(cpu int, set func(file, text string)) {
				set("topology/core_cpus_list", []string{"0-1", "0-1", "1-2"}[cpu])
				set("topology/package_cpus_list", "0-2")
			}, map[string]string{"node/node0/cpulist": "0-2", "node/node0/distance": "10"}),
			want:  Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 2, CPUs: 3},
			notes: []string{"no caches"},
		},
		{
			name: "CPU in no node",
			files: withCPUs(2, func(cpu int, set func(file, text string)) {
				set("topology/core_cpus_list", fmt.Sprint(cpu))
				set("topology/physical_package_id", fmt.Sprint(cpu))
			}, map[string]string{"node/node3/cpulist": "1", "node/node3/distance": "10"}),
			want:  Counts{Packages: 2, Nodes: 1, LLCs: 2, Cores: 2, CPUs: 2},
			notes: []string{"CPUs 0 are in no node: they are put into node 3", "no caches"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ImportSysfs(sysTree(test.files), "odd")
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Machine.Counts(); c != test.want {
				t.Errorf("%+v, want %+v", c, test.want)
			}
			checkNotes(t, got.Notes, test.notes)
			if test.check != nil {
				test.check(t, got.Machine)
			}
			if diff := cmp.Diff(got.Machine, roundTrip(t, got.Machine)); diff != "" {
				t.Errorf("YAML does not give the same machine:\n%s", diff)
			}
		})
	}
}

// withCPUs adds the files of n CPUs to others.
func withCPUs(n int, each func(cpu int, set func(file, text string)), others map[string]string) map[string]string {
	for cpu := range n {
		each(cpu, func(file, text string) { others[fmt.Sprintf("cpu/cpu%d/%s", cpu, file)] = text })
	}
	return others
}

func TestSysfsErrors(t *testing.T) {
	cpu0 := map[string]string{"cpu/cpu0/topology/core_cpus_list": "0"}
	for _, test := range []struct {
		name, file, text, want string
	}{
		{"nobody online", "cpu/online", "7", "no CPU with a directory of its own is online"},
		{"bad list", "cpu/online", "0-x", `cpu/online: CPU list "0-x"`},
		{"bad level", "cpu/cpu0/cache/index0/level", "two", `cpu/cpu0/cache/index0/level: "two" is not a number`},
		{"level 99", "cpu/cpu0/cache/index0/level", "99", "99 is not a cache level"},
		{"bad distance", "node/node0/distance", "10 x", ""},
		{"distance 300", "node/node0/distance", "300", `"300" is not a distance`},
		{"bad capacity", "cpu/cpu0/cpu_capacity", "-5", "-5 is not a capacity"},
		{"CPU too high", "cpu/cpu4096/online", "1", "number 4096 is beyond the limit"},
		{"mask too high", "cpu/cpu0/topology/package_cpus_list", "0-5000", "CPU 5000 is beyond the limit"},
	} {
		files := map[string]string{test.file: test.text, "node/node0/cpulist": "0"}
		for name, text := range cpu0 {
			files[name] = text
		}
		_, err := ImportSysfs(sysTree(files), "bad")
		if test.want == "" {
			if err != nil { // a row of the wrong length is a note
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"empty", "x", "", "the file is empty"},
		{"prose", "x", "Hello.\n", "not a description of a machine"},
		{"other XML", "x.xml", "<html></html>", "not an hwloc export"},
		{"cut XML", "x.xml", "<topology>\n<object type=\"Machine\">\n", "line 3: XML syntax error"},
		{"PU twice", "x.xml", "<topology>\n<object type=\"PU\" os_index=\"1\"/>\n<object type=\"PU\" os_index=\"1\"/>\n</topology>", "line 3: PU 1 is there twice, first in line 2"},
		{"PU too high", "x.xml", "<topology>\n<object type=\"PU\" os_index=\"5000\"/></topology>", "line 2: PU with os_index 5000"},
		{"bad cpuset", "x.xml", "<topology>\n<object type=\"Core\" cpuset=\"0xzz\"/></topology>", "line 2: cpuset: CPU mask"},
		{"no PU", "x.xml", "<topology/>", "no PU object"},
		{"asymmetric XML", "x.xml", `<topology><object type="Machine" complete_nodeset="0x3"><object type="PU" os_index="0"/><object type="NUMANode" os_index="0" cpuset="0x1"/><object type="NUMANode" os_index="1"/></object><distances2 type="NUMANode" nbobjs="2" kind="5" indexing="os"><indexes>0 1</indexes><u64values>10 21 20 10</u64values></distances2></topology>`, "distance 20 from node 1 to node 0, but 21"},
		{"cut JSON", "x.json", "{\n\"lscpu\": [\n", "line 3: unexpected end of JSON"},
		{"other JSON", "x.json", `{"a": 1}`, `JSON without "lscpu" or "cpus"`},
		{"JSON caches", "x.json", `{"caches": [{}]}`, "give lscpu -J -e"},
		{"offline in summary", "x.json", `{"lscpu":[{"field":"On-line CPU(s) list:","data":"0-2"},{"field":"Thread(s) per core:","data":"2"},{"field":"Core(s) per socket:","data":"2"},{"field":"Socket(s):","data":"1"}]}`, "1 sockets of 2 cores of 2 threads are not the 3 online CPUs"},
		{"two models", "x.json", `{"lscpu":[{"field":"On-line CPU(s) list:","data":"0-2"},{"field":"Thread(s) per core:","data":"1"},{"field":"Thread(s) per core:","data":"1"}]}`, "several CPU models"},
		{"no CPU column", "x.json", `{"cpus":[{"core":0}]}`, `cpus[0] has no "cpu"`},
		{"lscpu cell", "x.txt", "# CPU,Core\n0,0\n1,-\n2,2-\n", "line 4: column 2"},
		{"lscpu cells", "x.txt", "# CPU,Core\n0,0,0\n", "line 2: 3 cells for the 2 columns"},
		{"lscpu twice", "x.txt", "# CPU,Core\n0,0\n0,1\n", "line 3: CPU 0 is there twice"},
		{"lscpu CPU too high", "x.txt", "# CPU,Core\n4096,0\n", "line 2: a CPU number of 0 to 4095"},
		{"machine.txt line", "machine.txt", "/sys/devices/system/cpu/online: 0\nfoo\n", `line 2: "foo" is not a line such as`},
		{"machine.txt colon", "machine.txt", "/sys/devices/system/cpu/online 0\n", "line 1:"},
		{"machine.txt without CPUs", "machine.txt", "/sys/devices/system/node/node0/cpulist: 0\n", "names a CPU"},
		{"cut gzip", "x.tar.gz", "\x1f\x8b\x08", "gzip"},
		{"not a tar", "x.tar.bz2", "BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00", "no sys/devices/system/cpu"},
		{"YAML", "x.yaml", "nodes: [{id: 0, cpus: x}]\n", "x.yaml:1:23: CPU list"},
	} {
		path := filepath.Join(t.TempDir(), test.file)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Import(path)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: error %v\n  want one that begins with the path and has %q", test.name, err, test.want)
		}
	}
}

func TestLscpuVariants(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Counts
		core0      string
		notes      int
	}{
		// No header: default columns. No caches: the package is the LLC.
		{"no header", "0,0,0,0\n1,0,0,0\n", Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 2}, "0-1", 3},
		// Strings, as before util-linux 2.34; CPU 2 offline with "-" cells.
		{"old -J -e", `{"cpus":[{"cpu":"0","core":"0","socket":"0","node":"0","online":"yes"},{"cpu":"1","core":"1","socket":"0","node":"0","online":"yes"},{"cpu":"2","core":"-","socket":"-","node":"-","online":"no"}]}`,
			Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 2, CPUs: 2}, "0", 1},
		// Nodes 0-3 and 4-7 with two threads: i and i+4 are in different nodes, so siblings are neighbours.
		{"neighbours", summary("0-7", 2, 2, 2, "0-3", "4-7"), Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 4, CPUs: 8}, "0-1", 3},
		// Interleaved nodes: 0 and 4 are both in node 0.
		{"interleaved", summary("0-7", 2, 2, 2, "0,2,4,6", "1,3,5,7"), Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 4, CPUs: 8}, "0,4", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			format, err := sniff([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := format.read("x", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Machine.Counts(); c != test.want {
				t.Errorf("%+v, want %+v", c, test.want)
			}
			if core := got.Machine.CoreMask(0).String(); core != test.core0 {
				t.Errorf("CPU 0 shares a core with %s, want %s", core, test.core0)
			}
			if len(got.Notes) != test.notes {
				t.Errorf("notes %q, want %d", got.Notes, test.notes)
			}
		})
	}
}

// summary makes the output of lscpu -J without caches.
func summary(online string, threads, cores, sockets int, nodes ...string) string {
	text := fmt.Sprintf(`{"lscpu":[{"field":"On-line CPU(s) list:","data":%q},{"field":"Thread(s) per core:","data":"%d"},{"field":"Core(s) per socket:","data":"%d"},{"field":"Socket(s):","data":"%d"}`, online, threads, cores, sockets)
	for i, list := range nodes {
		text += fmt.Sprintf(`,{"field":"NUMA node%d CPU(s):","data":%q}`, i, list)
	}
	return text + "]}"
}

// TestImportRunningMachine reads the machine the test runs on, where it has
// sysfs, and compares the online CPUs with what the kernel lists.
func TestImportRunningMachine(t *testing.T) {
	listed, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		t.Logf("left out: %v", err)
		return
	}
	got, err := Import("/")
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseMask(string(listed), MaxCPUs)
	if err != nil {
		t.Fatal(err)
	}
	if online := got.Machine.Online(); online.String() != want.String() {
		t.Errorf("online CPUs %s, the kernel lists %s", online, want)
	}
}

func TestMemFS(t *testing.T) {
	tree := newMemFS()
	tree.add("sys/devices/system/cpu/cpu0/online", []byte("1\n"))
	tree.add("sys/devices/system/cpu/online", []byte("0\n"))
	tree.add("../outside", nil)
	if err := fstest.TestFS(tree, "sys/devices/system/cpu/cpu0/online", "sys/devices/system/cpu/online"); err != nil {
		t.Error(err)
	}
	if _, err := tree.Open("outside"); err == nil {
		t.Error("a name with .. got in")
	}
}

// TestSharedCaptures reads the machine.txt of every capture: 8 CPUs are 2 nodes
// x 2 cores x 2 threads, the machine 2n4c2t has 16.
func TestSharedCaptures(t *testing.T) {
	shared := sharedFolder(t)
	if shared == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(shared, "captures", "*", "machine.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s: %v", shared, err)
	}
	for _, file := range files {
		got, err := Import(file)
		if err != nil {
			t.Error(err)
			continue
		}
		want := Counts{Packages: 2, Nodes: 2, LLCs: 2, Cores: 4, CPUs: 8}
		if strings.Contains(file, "2n4c2t") {
			want.Cores, want.CPUs = 8, 16
		}
		if c := got.Machine.Counts(); c != want {
			t.Errorf("%s: %+v, want %+v", file, c, want)
		}
		if core := got.Machine.CoreMask(0).String(); core != "0-1" {
			t.Errorf("%s: CPU 0 shares a core with %s, want 0-1", file, core)
		}
		if d := got.Machine.Distance(0, got.Machine.NumCPUs()-1); d != 20 {
			t.Errorf("%s: distance %d, want 20", file, d)
		}
	}
}
