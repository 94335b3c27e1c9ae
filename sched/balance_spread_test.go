package sched

import (
	"strings"
	"testing"
)

var balanceKernels = []string{"v4.14", "v5.10", "v5.17", "v5.17-tip", "v6.1", "v6.12", "v7.2"}

// As many spinners as CPUs, all put on CPU 0, end one per CPU within a second
// and stay so.
func TestSpinnersSpreadOnePerCPU(t *testing.T) {
	for _, kernel := range balanceKernels {
		for _, m := range [][3]int{{1, 2, 1}, {1, 8, 1}, {1, 4, 2}, {2, 4, 1}, {2, 4, 2}, {4, 2, 2}} {
			l := newBalanceLab(t, kernel, balanceMachine(m[0], m[1], m[2]))
			n := m[0] * m[1] * m[2]
			l.spin(0, n)
			l.run(1000)
			want := strings.TrimSpace(strings.Repeat("1 ", n))
			if got := l.counts(); got != want {
				t.Errorf("%s, %dn%dc%dt: after 1 s the CPUs run %s", kernel, m[0], m[1], m[2], got)
			}
			moved := l.work.TasksMoved
			l.run(1000)
			if got := l.work.TasksMoved; got != moved || l.counts() != want {
				t.Errorf("%s, %dn%dc%dt: %d moves after it was balanced, CPUs run %s", kernel, m[0], m[1], m[2], got-moved, l.counts())
			}
		}
	}
}

// One spinner per core: no core is shared while another one idles.
func TestSpinnersTakeWholeCores(t *testing.T) {
	for _, kernel := range balanceKernels {
		for _, m := range [][3]int{{1, 2, 2}, {1, 4, 2}, {2, 4, 2}} {
			l := newBalanceLab(t, kernel, balanceMachine(m[0], m[1], m[2]))
			l.spin(0, m[0]*m[1])
			l.run(1000)
			if l.sharedBesideIdle() {
				t.Errorf("%s, %dn%dc%dt: after 1 s the CPUs run %s", kernel, m[0], m[1], m[2], l.counts())
			}
			l.run(1000)
			if l.sharedBesideIdle() {
				t.Errorf("%s, %dn%dc%dt: after 2 s the CPUs run %s", kernel, m[0], m[1], m[2], l.counts())
			}
		}
	}
}
