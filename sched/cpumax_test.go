package sched

import (
	"strings"
	"testing"
)

func TestWriteMax(t *testing.T) {
	for _, c := range []struct {
		text, want, refused string
	}{
		{text: "50000 100000", want: "50000 100000"},
		{text: " 50000\t20000\n", want: "50000 20000"},
		{text: "50000", want: "50000 30000"}, // keeps the period
		{text: "max", want: "max 30000"},
		{text: "max 100000", want: "max 100000"},
		{text: "17592186044415 1000000", want: "17592186044415 1000000"},
		{text: "", refused: "must be a quota and a period"},
		{text: "1 2 3", refused: "must be a quota and a period"},
		{text: "50ms", refused: `whole number of microseconds, not "50ms", or max`},
		{text: "50000 max", refused: `the period of cpu.max must be a whole number of microseconds, not "max"`},
		{text: "-1", refused: "negative"},
		{text: "17592186044416", refused: "more than 17592186044415"},
		{text: "9223372036854775808", refused: "whole number"},
	} {
		l := Limit{Quota: 10 * millisecond, Period: 30 * millisecond, Burst: 7}
		before := l
		err := l.WriteMax(c.text)
		switch {
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || l != before):
			t.Errorf("%q: %v, limit %+v; want an error with %q and no change", c.text, err, l, c.refused)
		case c.refused == "" && (err != nil || l.Max() != c.want || l.Burst != 7):
			t.Errorf("%q: %v, %q with burst %d; want %q with burst 7", c.text, err, l.Max(), l.Burst, c.want)
		}
	}
	l := NoLimit()
	if err := l.WriteBurst("20000\n"); err != nil || l.Burst != 20*millisecond {
		t.Errorf("burst 20000: %v, %d", err, l.Burst)
	}
	if err := l.WriteBurst("max"); err == nil {
		t.Error("burst max was accepted")
	}
}

// What is accepted reads back, and nothing is accepted that overflows.
func FuzzWriteMax(f *testing.F) {
	for _, seed := range []string{"50000 100000", "max", "max 1", "0", "17592186044415 9", "1\x002", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := NoLimit()
		if l.WriteMax(text) != nil {
			if l != NoLimit() {
				t.Fatalf("%q was refused but changed the limit to %+v", text, l)
			}
			return
		}
		again := NoLimit()
		if err := again.WriteMax(l.Max()); err != nil || again != l {
			t.Fatalf("%q is %+v, shown as %q, read back as %+v (%v)", text, l, l.Max(), again, err)
		}
		if l.Quota < 0 || l.Period < 0 {
			t.Fatalf("%q overflows: %+v", text, l)
		}
	})
}
