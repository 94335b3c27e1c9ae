package machine

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCPUList(t *testing.T) {
	for _, test := range []struct {
		list  string
		limit int
		want  []int
		err   string
	}{
		{"0-3,8", 16, []int{0, 1, 2, 3, 8}, ""},
		{" 5 , 1-2\n", 16, []int{1, 2, 5}, ""},
		{"2,2,1-3", 16, []int{1, 2, 3}, ""},
		{"", 16, nil, ""},
		{"15", 16, []int{15}, ""},
		{"16", 16, nil, "CPU 16 is beyond the limit of 16"},
		{"0-4294967295", MaxCPUs, nil, "not a CPU or a range"},
		{"0-2147483647", MaxCPUs, nil, "beyond the limit of 4096"},
		{"3-1", 16, nil, `"3-1" is not a CPU or a range`},
		{"-1", 16, nil, "not a CPU"},
		{"+1", 16, nil, "not a CPU"},
		{"1,", 16, nil, "not a CPU"},
		{"a", 16, nil, "not a CPU"},
		{strings.Repeat("0-4095,", 10000), MaxCPUs, nil, "at most 32768 make sense"},
	} {
		got, err := ParseCPUList(test.list, test.limit)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%.20q: error %v, want one with %q", test.list, err, test.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, %v, want %v", test.list, got, err, test.want)
		}
	}
}

func TestParseHexMask(t *testing.T) {
	for _, test := range []struct{ mask, want, err string }{
		{"00000000,00000202", "1,9", ""},
		{"0x00000410,0x41041041", "0,6,12,18,24,30,36,42", ""},
		{"3", "0-1", ""},
		{"1,00000000,00000000", "64", ""},
		{"0x0", "", ""},
		{"", "", "not a word"},
		{"0xf...f", "", "not a word"},
		{"100000000", "", "not a word"},
		{"80000000,00000000,00000000,00000000", "", "CPU 127 is beyond the limit of 100"},
	} {
		got, err := parseHexMask(test.mask, 100)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: error %v, want one with %q", test.mask, err, test.err)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("%q: %s, %v, want %s", test.mask, got, err, test.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"32K": 32 << 10, "36608K": 36608 << 10, "35.75 MiB": 36608 << 10, "1M": 1 << 20, "512": 512, "2 GiB": 2 << 30, "64 B": 64,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
		if again, err := parseSize(formatSize(want)); err != nil || again != want {
			t.Errorf("formatSize(%d) = %s reads as %d, %v", want, formatSize(want), again, err)
		}
	}
	for _, text := range []string{"", "K", "-1K", "NaN", "1e30", "32 apples"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is taken for %d bytes", text, got)
		}
	}
}
