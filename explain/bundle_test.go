package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
)

func TestOpenReadsWhatBelongsToACapture(t *testing.T) {
	dir := writeBundle(t, "NO_WA_IDLE WA_WEIGHT WA_BIAS SIS_UTIL\nmigration_cost_ns: 250000\n"+linux61,
		"== /be idle=1 weight=0 max=max 100000\nusage_usec 1\n== /ls/inner idle=0 weight=200 max=50000 100000\n== /ls idle=0 weight=100 max=max 100000\n", "")
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b.Kernel != "6.1" || b.Profile.Name != "v6.1" || b.Machine.NumCPUs() != 4 {
		t.Errorf("kernel %s, profile %s, %d CPUs", b.Kernel, b.Profile.Name, b.Machine.NumCPUs())
	}
	cfg := b.Config(250)
	if cfg.Features.Has(sched.WAIdle) || !cfg.Features.Has(sched.WAWeight) || cfg.Tunables.MigrationCost != 250_000 {
		t.Errorf("features %v, migration cost %d", cfg.Features.Names(), cfg.Tunables.MigrationCost)
	}
	want := []Group{{Path: "/be", Idle: true}, {Path: "/ls", Weight: 100}, {Path: "/ls/inner", Weight: 200, Quota: true}}
	if len(b.Groups) != len(want) {
		t.Fatalf("groups %v", b.Groups)
	}
	for i := range want {
		if b.Groups[i] != want[i] {
			t.Errorf("group %d is %v, want %v", i, b.Groups[i], want[i])
		}
	}
}

func TestKernelWithoutProfileTakesTheNearestOlderOne(t *testing.T) {
	b, err := Open(writeBundle(t, "Linux version 6.5.0-1 (x)\n", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if b.Kernel != "6.5" || b.Profile.Name != "v6.1" || !strings.Contains(strings.Join(b.Notes, "\n"), "judged by the rules of v6.1") {
		t.Errorf("kernel %s, profile %s, notes %v", b.Kernel, b.Profile.Name, b.Notes)
	}
}

func TestOpenRefusesWithTheReason(t *testing.T) {
	noMachine := writeBundle(t, linux61, "", "")
	if err := os.Remove(filepath.Join(noMachine, "machine.txt")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, want string }{
		"no trace":   {t.TempDir(), "no trace in it"},
		"no machine": {noMachine, "no machine.txt"},
		"no kernel":  {writeBundle(t, "WA_IDLE WA_WEIGHT WA_BIAS SIS_UTIL\n", "", ""), "which kernel was this?"},
		"too old":    {writeBundle(t, "Linux version 2.6.32 (x)\n", "", ""), "older than every profile"},
		"bad group":  {writeBundle(t, linux61, "== be weight=100\n", ""), "cgroups.txt:1: "},
		"bad weight": {writeBundle(t, linux61, "== / \n== /be weight=many\n", ""), "cgroups.txt:2: cpu.weight of /be"},
	} {
		if _, err := Open(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	if _, err := Find(filepath.Join(noMachine, "trace.txt")); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a file as a capture: %v", err)
	}
}

func TestParsePick(t *testing.T) {
	for text, want := range map[string]Pick{"406": {406, Anytime}, "406@17.985811": {406, 17_985_811_000}} {
		if got, err := ParsePick(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-3", "406@", "406@yesterday"} {
		if _, err := ParsePick(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
