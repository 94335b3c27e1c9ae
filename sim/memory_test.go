package sim

import (
	"testing"

	"github.com/schedlab/schedlab/workload"
)

// What a walk through a buffer costs on a core with 1 MiB of its own and 32 MiB
// shared, a line from there taking 40 ns and one from memory 80 more.
func TestTouchCosts(t *testing.T) {
	m := &Sim{costs: &Costs{CopyPerKiB: 64, LineLLC: 40, LineMemory: 80}}
	m.periodic.memory = memory{private: 1 << 20, last: 32 << 20}
	for _, c := range []struct {
		what        string
		access      workload.Access
		count, size int64
		want        int64
	}{
		{"own cache, block: 64 ns a KiB", workload.AccessBlock, 10 << 10, 1 << 20, 640},
		{"shared cache, block: and 160 lines of 40 ns, ten at once", workload.AccessBlock, 10 << 10, 2 << 20, 640 + 160*40/10},
		{"memory, block: half of 64 MiB is in no cache", workload.AccessBlock, 10 << 10, 64 << 20, 640 + 160*(40+40)/10},
		{"own cache, bytes: three a ns", workload.AccessBytes, 3000, 4096, 1000},
		{"shared cache, bytes", workload.AccessBytes, 6400, 2 << 20, 2133 + 100*40/10},
		{"own cache, chase: 4 ns each", workload.AccessChase, 1000, 4096, 4000},
		{"shared cache, chase", workload.AccessChase, 1000, 32 << 20, 44_000},
		{"memory, chase: three quarters of 128 MiB", workload.AccessChase, 1000, 128 << 20, 1000 * (4 + 40 + 60)},
		{"memory, stride", workload.AccessStride, 1000, 128 << 20, 1000 * (4 + 10)},
	} {
		in := &workload.Instr{Op: workload.OpTouch, N: c.count, M: c.size, Slot: uint8(c.access)}
		if got := m.touchCost(in); got != c.want {
			t.Errorf("%s: %d ns, want %d", c.what, got, c.want)
		}
	}
	m.periodic.memory = memory{}
	if got := m.touchCost(&workload.Instr{Op: workload.OpTouch, N: 1000, M: 1 << 40, Slot: uint8(workload.AccessChase)}); got != 4000 {
		t.Errorf("caches that are not known: %d ns, want 4000", got)
	}
}
