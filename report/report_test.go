package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/schedlab/schedlab/stats"
)

// fromDocument is lines as a mail carries them, with blanks collapsed.
const fromDocument = `Amean 1 0.3077 ( 0.00%) 0.3340 ( -8.56%) 0.2523 ( 17.98%)
Amean 12 1.2397 ( 0.00%) 1.1197 * 9.68%* 1.0867 * 12.34%*
Amean 296 22.5817 ( 0.00%) 22.5307 ( 0.23%) 21.6657 * 4.06%*
Amean 1 0.6120 ( 0.00%) 0.6760 * -10.46%* 0.6037 ( 1.36%)
Lat 99.9th-qrtle-1 8.00 ( 0.00%) 12.00 ( -50.00%) 6.00 ( 25.00%)
`

var documentLine = regexp.MustCompile(`^(Amean|Hmean|Lat) \S+ [0-9]`)
var documentCell = regexp.MustCompile(`([0-9]+\.[0-9]+) ([(*]) *(-?[0-9]+\.[0-9]+)%([)*])`)

// Every cell of the published mmtests tables is printed as they print it.
func TestCellsOfDocuments(t *testing.T) {
	checked := 0
	for _, line := range strings.Split(documentText(t), "\n") {
		if !documentLine.MatchString(line) {
			continue
		}
		for _, cell := range documentCell.FindAllStringSubmatch(line, -1) {
			value, _ := strconv.ParseFloat(cell[1], 64)
			percent, _ := strconv.ParseFloat(cell[3], 64)
			unit := "seconds"
			if !strings.HasPrefix(line, "Amean") {
				unit = "MB/s"
			}
			got := Value(unit, value) + " " + Mark(percent, cell[2] == "*")
			if len(got) != columnWidth {
				t.Errorf("%q is %d wide", got, len(got))
			}
			if collapse(got) != collapse(cell[0]) {
				t.Errorf("%q, want %q", got, cell[0])
			}
			checked++
		}
	}
	if checked < 15 { // five lines of three at least
		t.Errorf("only %d cells", checked)
	}
	t.Logf("%d cells", checked)
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// documentText is the published document where the shared data are at hand,
// else some of its lines.
func documentText(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("SCHEDLAB_SHARED")
	if shared == "" {
		shared = "../../shared"
	}
	files, err := filepath.Glob(filepath.Join(shared, "sources", "000_*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Log("the published document is not at hand; five of its lines stand in")
		return fromDocument
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return fromDocument + string(data)
}

func spread(mean, s float64) []float64 { return []float64{mean - s, mean, mean + s} }

// documentTable has rows of section a) of the document, with spreads that give
// its marks.
func documentTable() stats.Table {
	t := stats.Table{Machine: "xeon-8260", Benchmark: "hackbench-process-pipes", Environment: "quiet",
		Columns: []stats.Column{{Variant: "vanilla", Kernel: "v5.17"}, {Variant: "filter", Kernel: "v5.17"}, {Variant: "balancer", Kernel: "v5.17"}}}
	for _, r := range []struct {
		label string
		means [3]float64
		s     float64
	}{{"1", [3]float64{0.3077, 0.3340, 0.2523}, 0.05}, {"12", [3]float64{1.2397, 1.1197, 1.0867}, 0.02},
		{"296", [3]float64{22.5817, 22.5307, 21.6657}, 0.2}} {
		t.Rows = append(t.Rows, stats.NewRow("Amean", r.label, "seconds", stats.Lower,
			[][]float64{spread(r.means[0], r.s), spread(r.means[1], r.s), spread(r.means[2], r.s)}))
	}
	t.Rows = append(t.Rows, stats.NewRow("Ops", "SIS Search Efficiency", "percent", stats.Neither,
		[][]float64{{16.51}, {27.35}, {}}))
	return t
}

func text(t *testing.T, o TextOptions, tables ...stats.Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, tables, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The layout is the one of mmtests' comparisons in mails to the kernel list:
// means' names padded to 9, labels to the longest, 23 columns a variant. The
// geometric means: 1.085473·0.903202·0.997742 = 0.978194, cube root 0.992678;
// 0.819955·0.876583·0.959436 = 0.689597, cube root 0.883483.
func TestText(t *testing.T) {
	want := `hackbench-process-pipes on xeon-8260 [quiet], kernel v5.17
                                         vanilla                 filter               balancer
Amean     1                    0.3077 (   0.00%)      0.3340 (  -8.55%)      0.2523 (  18.00%)
Amean     12                   1.2397 (   0.00%)      1.1197 *   9.68%*      1.0867 *  12.34%*
Amean     296                 22.5817 (   0.00%)     22.5307 (   0.23%)     21.6657 *   4.06%*
Ops SIS Search Efficiency       16.51                  27.35                      -
hackbench-process-pipes on xeon-8260 [quiet]: filter is better than vanilla: 2 of 3 rows, geometric mean +0.73 % (-8.55 to +9.68), 1 significant
hackbench-process-pipes on xeon-8260 [quiet]: balancer is better than vanilla: 3 of 3 rows, geometric mean +11.65 % (+4.06 to +18.00), 2 significant
`
	if diff := cmp.Diff(want, text(t, TextOptions{}, documentTable())); diff != "" {
		t.Error(diff)
	}
}

// Without the wide counter the columns are mmtests' to the character.
func TestTextMatchesMmtestsColumns(t *testing.T) {
	table := documentTable()
	table.Rows = table.Rows[:3]
	got := strings.Split(text(t, TextOptions{}, table), "\n")
	want := []string{
		"                             vanilla                 filter               balancer",
		"Amean     1        0.3077 (   0.00%)      0.3340 (  -8.55%)      0.2523 (  18.00%)",
		"Amean     12       1.2397 (   0.00%)      1.1197 *   9.68%*      1.0867 *  12.34%*",
		"Amean     296     22.5817 (   0.00%)     22.5307 (   0.23%)     21.6657 *   4.06%*",
	}
	if diff := cmp.Diff(want, got[1:5]); diff != "" {
		t.Error(diff)
	}
}

func TestColorsMarkSignificantDifferencesOnly(t *testing.T) {
	plain, colored := text(t, TextOptions{}, documentTable()), text(t, TextOptions{Color: true}, documentTable())
	if strings.Contains(plain, "\x1b") {
		t.Error("colour where none was asked for")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colored, ""); got != plain {
		t.Error("colour changes the text")
	}
	if !strings.Contains(colored, green+"*   9.68%*"+colorReset) || strings.Contains(colored, red) {
		t.Errorf("%q", colored)
	}
}

// Five variants are cut into tables that fit 100 columns, each with the baseline.
func TestWideTablesAreCut(t *testing.T) {
	table := documentTable()
	table.Rows = table.Rows[:3]
	for _, name := range []string{"d", "a-name-that-is-longer-than-the-column-of-mmtests"} {
		table.Columns = append(table.Columns, stats.Column{Variant: name, Kernel: "v5.17"})
		for i := range table.Rows {
			table.Rows[i].Entries = append(table.Rows[i].Entries, table.Rows[i].Entries[2])
		}
	}
	lines := strings.Split(text(t, TextOptions{}, table), "\n")
	baselines := 0
	for _, line := range lines[:9] {
		if len(line) > pageWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
		if strings.HasPrefix(line, "Amean     12 ") && strings.Contains(line, "1.2397 (   0.00%)") {
			baselines++
		}
	}
	if baselines != 2 {
		t.Errorf("%d tables:\n%s", baselines, strings.Join(lines, "\n"))
	}
	// 12 for the label, four columns of 23 and one of 49: 153.
	for width, tables := range map[int]int{160: 1, 152: 2} {
		wide := text(t, TextOptions{Width: width}, table)
		if n := strings.Count(wide, "Amean     12 "); n != tables {
			t.Errorf("%d tables in %d columns, want %d:\n%s", n, width, tables, wide)
		}
	}
}

func TestProseIsWrappedToThePage(t *testing.T) {
	table := documentTable()
	table.Notes = []string{strings.Repeat("word ", 30)}
	for _, width := range []int{0, 60, 1} {
		longest := 0
		for line := range strings.Lines(text(t, TextOptions{Width: width}, table)) {
			if strings.Contains(line, "word") {
				longest = max(longest, len(line)-1)
			}
		}
		// Words of 5 columns with their blank: no line stops more than 5 short.
		page := map[int]int{0: 100, 60: 60, 1: 40}[width]
		if longest > page || longest < page-5 {
			t.Errorf("width %d: lines of %d columns, want %d", width, longest, page)
		}
	}
}

func TestManyWarningsAreCut(t *testing.T) {
	table := documentTable()
	for range 25 {
		table.Warnings = append(table.Warnings, stats.Incident{Row: "1", Variant: "filter", Repeats: []int{1, 3}, Text: "w"})
	}
	got := text(t, TextOptions{}, table)
	if n := strings.Count(got, "warning: row 1, filter, repeats 1 3: w\n"); n != maxIncidents || !strings.Contains(got, "... and 15 more") {
		t.Errorf("%d warnings in\n%s", n, got)
	}
}

func TestParquetReadsBack(t *testing.T) {
	tables := []stats.Table{documentTable()}
	var first, second bytes.Buffer
	if err := errors.Join(Parquet(&first, tables), Parquet(&second, tables)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same tables give other bytes")
	}
	rows, err := parquet.Read[parquetRow](bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	records := Records(tables)
	if len(rows) != len(records) {
		t.Fatalf("%d rows of %d", len(rows), len(records))
	}
	for i, r := range records {
		want := parquetRow{r.Source, r.Benchmark, r.Environment, r.Statistic, r.Row, r.Variant, r.Unit, string(r.Better),
			r.Value, r.DeltaPct, r.Significant, int64(r.N), r.StdDev, r.CILow, r.CIHigh, r.Machine, r.Kernel}
		if diff := cmp.Diff(want, rows[i]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestJSONHoldsWhatCSVHolds(t *testing.T) {
	tables := []stats.Table{documentTable()}
	var asJSON, asCSV bytes.Buffer
	if err := errors.Join(JSON(&asJSON, tables), CSV(&asCSV, tables)); err != nil {
		t.Fatal(err)
	}
	var doc jsonDocument
	if err := json.Unmarshal(asJSON.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	records, err := stats.ReadRecords("csv", &asCSV)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		got := doc.Results[i]
		if got.DeltaPct != nil {
			got.DeltaPct = hundredths(*got.DeltaPct) // the CSV has two decimals
		}
		if diff := cmp.Diff(jsonRecord(&records[i]), got); diff != "" {
			t.Error(diff)
		}
	}
	if len(doc.Results) != len(records) || len(doc.Verdicts) != 2 {
		t.Errorf("%d results of %d, %d verdicts", len(doc.Results), len(records), len(doc.Verdicts))
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	table := documentTable()
	table.Benchmark = "<script>alert(1)</script>"
	table.Rows[0].Label = `"><b>`
	table.Rows[1].Entries[1] = stats.Entry{Failed: true}
	table.Warnings = []stats.Incident{{Row: "1", Variant: "filter", Repeats: []int{1}, Text: "a <b> doubt"}}
	var first, second bytes.Buffer
	if err := errors.Join(HTML(&first, "e.yaml", []stats.Table{table}), HTML(&second, "e.yaml", []stats.Table{table})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same tables give other bytes")
	}
	page := first.String()
	for _, bad := range []string{"<script>alert", "src=", "<b>\"", "url(", "NaN", "Inf", "http-equiv=\"refresh"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
	for _, address := range regexp.MustCompile(`(?:href|src|action)="[^"]*"`).FindAllString(page, -1) {
		if !strings.HasPrefix(address, `href="#`) && !strings.HasPrefix(address, `href="data:`) {
			t.Errorf("the page leads elsewhere: %s", address)
		}
	}
	if n := strings.Count(page, "<i class=\"sure\"") + strings.Count(page, "<i style"); n != 5 { // 3 rows x 2 variants, one failed
		t.Errorf("%d bars in cells", n)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("a chart is no XML: %v\n%s", err, svg)
			}
		}
	}
}

// dataAttribute is a data- attribute of a cell.
var dataAttribute = regexp.MustCompile(` data-([a-z-]+)="([^"]*)"`)

// Every line of the CSV is a cell of the page, field by field, in the same
// order.
func TestPageHoldsWhatCSVHolds(t *testing.T) {
	tables := []stats.Table{documentTable(), documentTable()}
	tables[1].Benchmark = `a "quoted" <name> & more`
	var asPage, asCSV bytes.Buffer
	if err := errors.Join(HTML(&asPage, "e.yaml", tables), CSV(&asCSV, tables)); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := regexp.MustCompile(`<td[^>]* data-source=[^>]*>`).FindAllString(asPage.String(), -1)
	if len(cells) != len(lines)-1 || len(cells) != 24 { // 4 rows x 3 variants x 2 tables
		t.Fatalf("%d cells, %d lines", len(cells), len(lines)-1)
	}
	for i, cell := range cells {
		var names, fields []string
		for _, m := range dataAttribute.FindAllStringSubmatch(cell, -1) {
			names, fields = append(names, strings.ReplaceAll(m[1], "-", "_")), append(fields, html.UnescapeString(m[2]))
		}
		if diff := cmp.Diff(lines[0], names); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(lines[i+1], fields); diff != "" {
			t.Error(diff)
		}
	}
}
