package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharedFolder returns the folder of large inputs that lies beside the
// checkout, or "" when it is not there.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCHEDLAB_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Logf("left out: no shared inputs at %s; set SCHEDLAB_SHARED", dir)
		return ""
	}
	return dir
}

// promise is what a file of inputs/topology says by its name, in hwloc's
// notation, and where the name says nothing, what its content plainly shows.
type promise struct {
	file                                               string
	packages, nodes, llcs, clusters, cores, cpus, slot int
	refused                                            string // part of the error of a file that no Linux machine can be
}

// topologyPromises has one line per file. "pa" or "p" is package, "n", "no" or
// "nu" node, "s" socket, "ca" cache, "c" or "co" core, "t" or "pu" thread, "g"
// or "gr" group. cpus are the online ones, slot the CPU numbers.
var topologyPromises = []promise{
	// 2 packages x 2 nodes x 8 clusters x 4 cores = 128; the L3 is one per node.
	{file: "sysfs/128arm-2pa2n8cluster4co.tar.bz2", packages: 2, nodes: 4, llcs: 4, clusters: 32, cores: 128, cpus: 128, slot: 128},
	// 8 nodes x 2 cores = 16, one socket a node, private L2 the last level.
	{file: "sysfs/16amd64-8n2c.tar.bz2", packages: 8, nodes: 8, llcs: 16, cores: 16, cpus: 16, slot: 16},
	// 4 sockets x 2 cores x 2 threads = 16; siblings are (0,8) ... (7,15). Offline are 2, 5, 13 and 14: core (5,13) is
	// gone, (2,10) and (6,14) are halved, so 7 cores and 12 CPUs are left. One node, one L3 per socket.
	{file: "sysfs/16em64t-4s2c2t-offlines.tar.bz2", packages: 4, nodes: 1, llcs: 4, cores: 7, cpus: 12, slot: 16},
	// 1 package: 6 cores x 2 threads + 2 caches (L2) x 4 cores x 1 thread = 20.
	{file: "sysfs/20em64t-hybrid-1p6c2t+2ca4co1t.tar.bz2", packages: 1, nodes: 1, llcs: 1, clusters: 2, cores: 14, cpus: 20, slot: 20},
	// 20 CPUs; the folder inside is called 2g2g2s4co: 2 drawers x 2 books x 2 sockets of up to 4 cores = 8 sockets (the
	// "6s" of the file name fits neither that nor the content). No caches: the socket is the MC level.
	{file: "sysfs/20s390-2g6s4c.tar.bz2", packages: 8, nodes: 1, llcs: 8, cores: 20, cpus: 20, slot: 20},
	{file: "sysfs/2arm-2c.tar.bz2", packages: 1, nodes: 1, llcs: 1, cores: 2, cpus: 2, slot: 2},
	{file: "sysfs/2ps3-2t.tar.bz2", packages: 1, nodes: 1, llcs: 1, cores: 1, cpus: 2, slot: 2},
	// 4 packages x 2 nodes x 6 cores = 48, node numbers with gaps, an L3 a node.
	{file: "sysfs/48amd64-4pa2n6c-sparse.tar.bz2", packages: 4, nodes: 8, llcs: 8, cores: 48, cpus: 48, slot: 48},
	// 4 groups x 1 node x 1 thread; one package over all nodes, no caches: LLC = package inside the node.
	{file: "sysfs/4fake-4gr1nu1pu.tar.bz2", packages: 1, nodes: 4, llcs: 4, cores: 4, cpus: 4, slot: 4},
	// 2 sockets x 2 caches (L2) x 2 cores = 8; its 8 emulated nodes are one.
	{file: "sysfs/8em64t-2s2ca2c-buggynuma.tar.bz2", packages: 2, nodes: 1, llcs: 4, cores: 8, cpus: 8, slot: 8},
	// 4 nodes x 4 packages x 3 caches (L2) x 2 cores = 96; the L3 is one per package.
	{file: "sysfs/96em64t-4no4pa3ca2co.tar.bz2", packages: 16, nodes: 4, llcs: 16, clusters: 48, cores: 96, cpus: 96, slot: 96},
	// CPUs 12-23 are in two or three nodes at once, and distances are not symmetric.
	{file: "sysfs/fakeheterocpunuma.tar.bz2", refused: "node4 lists CPU 20, which node3 lists too"},
	// POWER9 cut down to CPUs 0-15 and 88-103: 2 packages, SMT4, L3 of 8 threads; nodes 250-255 are GPU memory.
	{file: "sysfs/nvidiagpunumanodes.tar.bz2", packages: 2, nodes: 8, llcs: 4, cores: 8, cpus: 32, slot: 104},
	// CPUs 4-20 of 24 online, no SMT, 2 sockets; node 0 is offline but its CPUs run.
	{file: "sysfs/offline-cpu0-node0.tar.bz2", packages: 2, nodes: 2, llcs: 2, cores: 17, cpus: 17, slot: 24},
	// The 16amd64 machine in a cpuset of 0-3, 5, 6, 12-15; node 2's and 3's other CPUs and nodes 4, 5 are hidden.
	{file: "hwloc-xml/16amd64-8n2c-cpusets.xml", packages: 6, nodes: 8, llcs: 10, cores: 10, cpus: 10, slot: 16},
	// As the sysfs of the same name; this export shows 0, 1, 3, 4, 6, 12, 15.
	{file: "hwloc-xml/16em64t-4s2c2t-offlines.xml", packages: 4, nodes: 1, llcs: 4, cores: 6, cpus: 7, slot: 16},
	{file: "hwloc-xml/24em64t-2n6c2t-pci.xml", packages: 2, nodes: 2, llcs: 2, cores: 12, cpus: 24, slot: 24},
	// 8 nodes with a PU and an L3 each, in 4 packages; CPUs 0, 6, ... 42.
	{file: "hwloc-xml/fakeheterodistances.xml", packages: 4, nodes: 8, llcs: 8, cores: 8, cpus: 8, slot: 43},
	// 8 packages and nodes of 8 cores; "disallowed" CPUs are online all the same.
	{file: "hwloc-xml/irregulargroups-disallowed.xml", packages: 8, nodes: 8, llcs: 8, cores: 64, cpus: 64, slot: 64},
}

func TestSharedTopologies(t *testing.T) {
	shared := sharedFolder(t)
	if shared == "" {
		return
	}
	right := 0
	for _, p := range topologyPromises {
		if t.Run(filepath.Base(p.file), func(t *testing.T) { p.check(t, filepath.Join(shared, "inputs", "topology", p.file)) }) {
			right++
		}
	}
	t.Logf("%d of %d load right (fakeheterocpunuma: by being refused, no Linux has a CPU in two nodes)", right, len(topologyPromises))
}

func (p promise) check(t *testing.T, path string) {
	got, err := Import(path)
	if p.refused != "" {
		if err == nil || !strings.Contains(err.Error(), p.refused) {
			t.Errorf("error %v, want one that says %q", err, p.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m := got.Machine
	c := m.Counts()
	want := Counts{p.packages, p.nodes, p.llcs, p.clusters, p.cores, p.cpus}
	if c != want || m.NumCPUs() != p.slot {
		t.Errorf("got %+v in %d slots, want %+v in %d", c, m.NumCPUs(), want, p.slot)
	}
	if diff := cmp.Diff(m, roundTrip(t, m)); diff != "" {
		t.Errorf("YAML does not give the same machine:\n%s", diff)
	}
	for _, n := range got.Notes {
		t.Log(n)
	}
}

// roundTrip writes m and loads it again.
func roundTrip(t testing.TB, m *Machine) *Machine {
	t.Helper()
	var text bytes.Buffer
	if err := m.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	again, err := parseYAML("round-trip.yaml", text.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	return again
}
