package explain

import (
	"strings"
	"testing"
)

const simulated = "WA_IDLE WA_WEIGHT WA_BIAS SIS_UTIL\nprice_probe: 77\nLinux version v6.1-schedlab profile=v5.17-tip hz=1000\n"

func TestSimulationIsKnownByItsVersion(t *testing.T) {
	b, err := Open(writeBundle(t, simulated, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if !b.Simulated || b.Profile.Name != "v5.17-tip" || b.HZ != 1000 {
		t.Errorf("simulated %v, profile %s, %d Hz, want v5.17-tip and 1000", b.Simulated, b.Profile.Name, b.HZ)
	}
	if got := b.Config(b.HZ).Prices.Probe; got != 77 {
		t.Errorf("a probe costs %d, want 77", got)
	}
	// A real kernel has no prices, whatever its file says.
	b, err = Open(writeBundle(t, "price_probe: 77\n"+linux61, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if b.Simulated || b.Config(250).Prices.Probe == 77 {
		t.Errorf("a real kernel was taken for a simulation: %v, %d", b.Simulated, b.Config(250).Prices.Probe)
	}
}

func TestVersionOfASimulationIsChecked(t *testing.T) {
	for line, want := range map[string]string{
		"Linux version v6.1-schedlab profile=v99 hz=250\n":   `tunables.txt: the version line says "profile=v99"`,
		"Linux version v6.1-schedlab profile=v6.1 hz=fast\n": `the version line says "hz=fast"`,
		"Linux version v6.1-schedlab hz=250\n":               "must name its profile",
	} {
		if _, err := Open(writeBundle(t, line, "", "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", line, err, want)
		}
	}
}
