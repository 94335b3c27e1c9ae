package sim

import (
	"testing"
)

func TestHackbenchKeepsTheInvariants(t *testing.T) {
	m, bench := build(t, "2n2c2t", "v5.17", "hackbench", "-g", "1", "-f", "3", "-l", "20", "-P", "-p")
	r := run(t, m)
	if want := int64(3 * 3 * 20); r.Messages < want {
		t.Errorf("%d messages arrived, want at least %d", r.Messages, want)
	}
	t.Log(bench.Report(&r.Observation).Text, r.Switches, r.Migrations, r.Wakeups)
}
