package sched

import (
	"slices"
	"testing"
)

func TestCaveats(t *testing.T) {
	cfg := NewConfig(uniprocessor(), &v38)
	if got := cfg.Caveats(); got != nil {
		t.Errorf("v3.8 as it is: %q", got)
	}
	for _, word := range []string{"SCHED_BALANCE_MAP", "NO_SBM_WAKE_AFFINE"} {
		if err := cfg.SetFeature(word); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"SCHED_BALANCE_MAP (NO_SBM_WAKE_AFFINE) is a reconstruction: the text of the patches is not at hand"}
	if got := cfg.Caveats(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	cfg = NewConfig(uniprocessor(), &v32)
	if err := cfg.SetFeature("NOHZ_IDLE_FIX"); err != nil {
		t.Fatal(err)
	}
	want = []string{"NOHZ_IDLE_FIX is our model of an improved tickless balancer, not the patch of 2011, whose text is not at hand"}
	if got := cfg.Caveats(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if FeatureCaveat("WA_IDLE") != "" || FeatureCaveat("SCHED_BALANCE_MAP_V1") == "" {
		t.Error("WA_IDLE is a kernel's, the map is not")
	}
}
