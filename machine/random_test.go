package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawDraft says anything that a source may say, consistent or not: random
// CPUs online, random siblings, packages, nodes, caches and capacities.
func drawDraft(t *rapid.T) *draft {
	slots := rapid.IntRange(1, 70).Draw(t, "slots")
	d := newDraft("random", slots)
	nodes := rapid.IntRange(0, 4).Draw(t, "nodes")
	for i := range nodes {
		d.nodeIDs = append(d.nodeIDs, 3*i)
	}
	label := rapid.IntRange(unknown, 9)
	for cpu := range slots {
		if rapid.IntRange(0, 9).Draw(t, "online") > 0 {
			d.online.Set(cpu)
		}
		d.core[cpu], d.cluster[cpu], d.pkg[cpu] = label.Draw(t, "core"), label.Draw(t, "cluster"), label.Draw(t, "package")
		d.node[cpu] = rapid.IntRange(unknown, nodes-1).Draw(t, "node")
		d.capacity[cpu] = rapid.IntRange(0, 2000).Draw(t, "capacity")
	}
	for range rapid.IntRange(0, 6).Draw(t, "caches") {
		c := Cache{
			Level: rapid.IntRange(1, 4).Draw(t, "level"),
			Type:  rapid.SampledFrom([]string{"", cacheData, cacheInstruction, cacheUnified}).Draw(t, "type"),
			Size:  int64(rapid.IntRange(0, 1<<20).Draw(t, "size")),
			CPUs:  NewCPUMask(slots),
		}
		for _, cpu := range rapid.SliceOfN(rapid.IntRange(0, slots-1), 0, 20).Draw(t, "cpus") {
			c.CPUs.Set(cpu)
		}
		d.caches = append(d.caches, c)
	}
	return d
}

// TestAnySourceMakesAMachine: whatever a source says about who shares what, the
// kernel's repairs make a machine of it that validates, keeps every online CPU,
// and survives YAML unchanged.
func TestAnySourceMakesAMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDraft(rt)
		online := d.online.Clone()
		m, _, err := d.assemble()
		if online.Empty() {
			if err == nil {
				rt.Fatal("a machine without online CPUs was accepted")
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if !m.Online().Equal(online) {
			rt.Fatalf("online %s, want %s", m.Online(), online)
		}
		if diff := cmp.Diff(m, roundTrip(t, m)); diff != "" {
			rt.Fatalf("YAML does not give the same machine:\n%s", diff)
		}
	})
}
