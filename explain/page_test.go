package explain

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page's table has the figures of the CSV, and what the sentence on top says
// is the total.
func TestPageHoldsWhatCSVHolds(t *testing.T) {
	result := committed()
	var asPage, asCSV bytes.Buffer
	if err := errors.Join(result.Page().Write(&asPage), result.WriteCSV(&asCSV)); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text := asPage.String()
	for _, line := range lines[1:] {
		var attributes strings.Builder
		for i, name := range csvHeader {
			fmt.Fprintf(&attributes, ` data-%s="%s"`, strings.ReplaceAll(name, "_", "-"), html.EscapeString(line[i]))
		}
		if !strings.Contains(text, attributes.String()) {
			t.Errorf("no row with%s", attributes.String())
		}
	}
	all := result.total().all()
	if want := fmt.Sprintf("The rules explain %s %% of %d placements", percent(all), all.Decisions); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
	var names []string
	for _, p := range result.Page().Pictures() {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"agreement", "causes", "calibration", "hidden-state", "balance"}, names); diff != "" {
		t.Error(diff)
	}
}

// 100 rebuilt for 100 is exact, 101 too (a difference of one is none); 102 is
// within 2 %, 111 within 20 %, 200 in no class.
func TestDeviations(t *testing.T) {
	var d Deviations
	for _, have := range []int64{100, 101, 102, 98, 111, 200} {
		d.add(have, 100)
	}
	if want := (Deviations{0: 2, 2: 2, 5: 1, 7: 1}); d != want {
		t.Errorf("%v, want %v", d, want)
	}
	if d.total() != 6 {
		t.Errorf("%d in all", d.total())
	}
}

// The calibration counts what the agreement on hidden state counts: within 2 %
// are the first three classes.
func TestCalibrationAgreesWithHiddenState(t *testing.T) {
	for _, c := range committed().Captures {
		for name, pair := range map[string]struct {
			d *Deviations
			c Count
		}{"load": {&c.Calibration.Load, c.Hidden.Load}, "util": {&c.Calibration.Util, c.Hidden.Util}, "cpu load": {&c.Calibration.CPULoad, c.Hidden.CPULoad}} {
			if pair.d.total() != pair.c.Decisions || pair.d[0]+pair.d[1]+pair.d[2] != pair.c.Agree {
				t.Errorf("%s, %s: %v beside %+v", c.Bundle.Dir, name, *pair.d, pair.c)
			}
		}
	}
}
