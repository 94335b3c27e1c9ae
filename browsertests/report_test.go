package browsertests

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// maxReport is how large the report of a full run may be; that of a small one
// must be far from it.
const maxReport = 5 << 20

// reportRow is a row of a table of the report: all its cells as text.
type reportRow struct {
	Heads []string // of the columns
	Cells []string
}

const rowsOfReport = `[...document.querySelectorAll("table")].flatMap((table) => {
	const text = (cells) => [...cells].map((c) => c.textContent.trim());
	const heads = text(table.querySelector("thead tr")?.cells ?? []);
	return [...table.querySelectorAll("tbody tr")].map((tr) => ({Heads: heads, Cells: text(tr.cells)}));
})`

// cellsOfReport are the values that the report's cells carry for programs.
const cellsOfReport = `[...document.querySelectorAll("td[data-value]")].map((td) =>
	({Statistic: td.dataset.statistic, Row: td.dataset.row, Variant: td.dataset.variant, Value: td.dataset.value}))`

func TestReportEqualsTheCSV(t *testing.T) {
	dir := smallResult(t)
	path := filepath.Join(dir, "report.html")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxReport/5 {
		t.Errorf("the report of a small run has %d bytes, want less than a fifth of %d", info.Size(), maxReport)
	}
	b := open(t)
	b.do(chromedp.Navigate("file://" + path))
	b.until(`document.readyState === "complete"`)
	t.Logf("%d bytes; first paint after %.0f ms", info.Size(), value[float64](b, `performance.getEntriesByType("paint")[0]?.startTime ?? 0`))
	if foreign := value[[]string](b, `performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith("data:"))`); len(foreign) > 0 {
		t.Errorf("the report loads %v, it must be whole by itself", foreign)
	}
	rows := value[[]reportRow](b, rowsOfReport)
	wanted := resultLines(t, dir)
	for _, l := range wanted {
		checkReportRow(t, l, rows)
	}
	cells := map[cell]bool{}
	for _, c := range value[[]cell](b, cellsOfReport) {
		cells[c] = true
	}
	for _, l := range wanted {
		c := cell{Statistic: l["statistic"], Row: l["row"], Variant: l["variant"], Value: l["value"]}
		if !cells[c] && len(cells) > 0 {
			t.Errorf("no cell carries %+v", c)
		}
	}
	b.shoot("report")
	b.resize(390, 800)
	b.shoot("report-phone")
}

var numberAtStart = regexp.MustCompile(`^-?[0-9.]+`)

// names reports whether the head of a column is about a variant: there may be a
// mark before its name and the kernel behind it.
func names(head, variant string) bool {
	return slices.ContainsFunc(strings.Fields(head), func(word string) bool { return strings.HasPrefix(word, variant) })
}

// checkReportRow looks for a line of the CSV in the report's tables: the row of
// its statistic, the column of its variant, and there its value as far as the
// printed digits go.
func checkReportRow(t *testing.T, l line, rows []reportRow) {
	t.Helper()
	for _, r := range rows {
		if len(r.Cells) == 0 || r.Cells[0] != l["statistic"]+" "+l["row"] {
			continue
		}
		for i, head := range r.Heads {
			if i >= len(r.Cells) || !names(head, l["variant"]) {
				continue
			}
			printed := numberAtStart.FindString(r.Cells[i])
			got, err := strconv.ParseFloat(printed, 64)
			want, wantErr := strconv.ParseFloat(l["value"], 64)
			_, decimals, _ := strings.Cut(printed, ".")
			if half := 0.501 * math.Pow10(-len(decimals)); err != nil || wantErr != nil || math.Abs(got-want) > half {
				t.Errorf("%s %s of %s is printed as %q, the CSV has %s", l["statistic"], l["row"], l["variant"], r.Cells[i], l["value"])
			}
			if delta := l["delta_pct"]; delta != "" && !strings.Contains(r.Cells[i], delta) {
				t.Errorf("%q does not show the difference %s of the CSV", r.Cells[i], delta)
			}
			return
		}
	}
	t.Errorf("the report has no cell for %s %s of %s", l["statistic"], l["row"], l["variant"])
}
