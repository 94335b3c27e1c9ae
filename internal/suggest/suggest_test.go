package suggest

import "testing"

func TestDidYouMean(t *testing.T) {
	features := []string{"WA_IDLE", "WA_WEIGHT", "WA_BIAS"}
	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"WA_IDEL", features, `did you mean "WA_IDLE"?`},                             // two letters swapped: 2 edits
		{"wa_bias", features, `did you mean "WA_BIAS"?`},                             // case does not count
		{"SIS_UTIL", features, `choose WA_IDLE, WA_WEIGHT or WA_BIAS`},               // 5 edits to the nearest, more than 8/3
		{"variant", []string{"variants"}, `did you mean "variants"?`},                // 1 edit
		{"x", []string{"text", "csv"}, `choose text or csv`},                         // 3 edits to both
		{"ab", []string{"cb", "ac"}, `did you mean "cb"?`},                           // equals: the first
		{"anything", []string{"only"}, `choose only`},                                //
		{"anything", nil, `choose nothing`},                                          //
		{string(make([]byte, 65)), features, `choose WA_IDLE, WA_WEIGHT or WA_BIAS`}, // longer than any slip
	}
	for _, tt := range tests {
		if got := DidYouMean(tt.name, tt.candidates); got != tt.want {
			t.Errorf("DidYouMean(%q) is %q, want %q", tt.name, got, tt.want)
		}
	}
}
