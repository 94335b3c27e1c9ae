package browsertests

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// smallExperiment has two variants that differ, so that compare records both.
const smallExperiment = `
machine: 2n4c2t
kernel: v4.14
variants: [{name: WA_WEIGHT}, {name: NO_WA_IDLE, features: [NO_WA_IDLE]}]
benchmarks: [{name: hackbench-pipes, run: hackbench -g 2 -f 4 -P -p, rows: {-l: [30, 60]}}]
repeats: 3
`

// smallResult runs the experiment and returns the folder of its result.
func smallResult(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "small.yaml")
	if err := os.WriteFile(file, []byte(smallExperiment), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "result")
	run(t, "compare", "--quiet", "--out", out, file)
	return out
}

// line is a line of results.csv by column.
type line map[string]string

// resultLines reads the results.csv of a folder.
func resultLines(t *testing.T, dir string) []line {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // read only
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("results.csv: %d lines, %v", len(rows), err)
	}
	var lines []line
	for _, row := range rows[1:] {
		l := line{}
		for i, name := range rows[0] {
			l[name] = row[i]
		}
		lines = append(lines, l)
	}
	return lines
}

// cell is a cell of a table in the page.
type cell struct{ Statistic, Row, Variant, Value, Text string }

const cellsOfTable = `[...document.querySelectorAll("td[data-value]")].map((td) =>
	({Statistic: td.dataset.statistic, Row: td.dataset.row, Variant: td.dataset.variant, Value: td.dataset.value, Text: td.textContent}))`

func TestTableEqualsTheCSV(t *testing.T) {
	dir := smallResult(t)
	b := open(t)
	b.do(chromedp.Navigate(serve(t, dir)))
	b.until(`document.querySelector("ul.found") !== null`)
	b.shoot("list")
	b.do(chromedp.Click(chromedp.CSS(`a[href^="#/result"]`)))
	b.until(`document.querySelector("td[data-value]") !== null`)
	b.shoot("result")
	wanted := resultLines(t, dir)
	cells := value[[]cell](b, cellsOfTable)
	if len(cells) != len(wanted) {
		t.Errorf("%d cells, the CSV has %d lines", len(cells), len(wanted))
	}
	for _, l := range wanted {
		checkCell(t, l, cells)
	}
	b.dark(true)
	b.shoot("result-dark")
}

// checkCell looks for the cell of a line: it has the very value, and shows it
// with six digits and the difference from the baseline.
func checkCell(t *testing.T, l line, cells []cell) {
	t.Helper()
	for _, c := range cells {
		if c.Statistic != l["statistic"] || c.Row != l["row"] || c.Variant != l["variant"] {
			continue
		}
		shown, _, _ := strings.Cut(c.Text, "(")
		got, err := strconv.ParseFloat(shown, 64)
		want, wantErr := strconv.ParseFloat(l["value"], 64)
		if c.Value != l["value"] || err != nil || wantErr != nil || got < want*(1-5e-6) || got > want*(1+5e-6) {
			t.Errorf("%v shows %q with value %q, the CSV has %q", c, c.Text, c.Value, l["value"])
		}
		if delta := l["delta_pct"]; delta != "" && !strings.Contains(c.Text, strings.TrimPrefix(delta, "+")) {
			t.Errorf("%q does not show the difference %s of the CSV", c.Text, delta)
		}
		return
	}
	t.Errorf("no cell for %s %s %s", l["statistic"], l["row"], l["variant"])
}

func TestVariantsAreChosen(t *testing.T) {
	b := open(t)
	b.do(chromedp.Navigate(serve(t, smallResult(t)) + "#/result?path=."))
	b.until(`document.querySelector("td[data-value]") !== null`)
	all := len(value[[]cell](b, cellsOfTable))
	b.do(chromedp.Click(chromedp.CSS(`input[value="NO_WA_IDLE"]`)))
	left := value[[]cell](b, cellsOfTable)
	if len(left)*2 != all {
		t.Errorf("%d of %d cells are left of one of two variants, want half", len(left), all)
	}
	for _, c := range left {
		if c.Variant != "WA_WEIGHT" {
			t.Errorf("%v is shown, its variant was switched off", c)
		}
	}
	b.do(chromedp.Click(chromedp.CSS(`input[value="NO_WA_IDLE"]`)))
	if again := len(value[[]cell](b, cellsOfTable)); again != all {
		t.Errorf("%d cells after switching it on again, want %d", again, all)
	}
}

// pixels is how many pixels of a rectangle of the page differ from the first one
// there.
func pixels(b *browser, x, y, width, height int) int {
	b.t.Helper()
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	n := 0
	for py := y; py < y+height; py++ {
		for px := x; px < x+width; px++ {
			if picture.At(px, py) != picture.At(x, y) {
				n++
			}
		}
	}
	return n
}

// shown is the stretch of time in view, in ns since the start.
func shown(b *browser) (from, to float64) {
	b.t.Helper()
	view := value[[]float64](b, `["from", "to"].map((n) => Number(document.querySelector(".stretch").dataset[n]))`)
	return view[0], view[1]
}

// timeline opens recordings and waits until they are drawn.
func timeline(b *browser, address, query string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address + "#/timeline?" + query))
	b.until(`document.querySelector("canvas") !== null`)
	b.settled()
}

func TestVariantsLieAboveEachOther(t *testing.T) {
	dir := smallResult(t)
	b := open(t)
	b.do(chromedp.Navigate(serve(t, dir) + "#/result?path=."))
	b.until(`document.querySelector("a[href*='timeline']") !== null`)
	b.do(chromedp.Click(chromedp.CSS(`a[href*="timeline"]`)))
	b.until(`document.querySelector("canvas") !== null`)
	b.settled()
	b.shoot("above-each-other")
	names := value[string](b, `document.getElementById("where").textContent`)
	if !regexp.MustCompile(`/WA_WEIGHT above .*/NO_WA_IDLE$`).MatchString(names) {
		t.Errorf("the page shows %q, want the baseline above the variant", names)
	}
	top, height := int(canvasTop(b)), value[int](b, `document.querySelector("canvas").clientHeight`)
	if a, b := pixels(b, 70, top+50, 1000, height/2-80), pixels(b, 70, top+height/2+40, 1000, height/2-80); a < 1000 || b < 1000 {
		t.Errorf("%d and %d pixels are drawn in the two halves, want some thousands each", a, b)
	}
	_, before := shown(b)
	b.key("+")
	from, to := shown(b)
	if to-from < before*0.49 || to-from > before*0.51 {
		t.Errorf("after + there are %v ns in view, want half of %v", to-from, before)
	}
	// Another one is chosen in the list: the first recording alone.
	b.do(chromedp.SetValue(chromedp.CSS("select.other"), ""))
	b.until(`!document.getElementById("where").textContent.includes("above")`)
	b.settled()
	b.shoot("alone")
}

// captures is a recording of a real kernel 6.1 that is committed.
var captures = filepath.Join("..", "explain", "testdata", "6.1")

func TestWakeupTellsItsStory(t *testing.T) {
	b := open(t)
	timeline(b, serve(t, captures), "a=hb-pipe")
	b.shoot("capture")
	if n := pixels(b, 70, int(canvasTop(b))+45, 1000, 300); n < 10_000 {
		t.Errorf("%d pixels are drawn, want some ten thousand", n)
	}
	b.key("n") // puts a wakeup into the middle and says where it is drawn
	b.until(`document.querySelector("canvas").dataset.wake !== undefined`)
	for range 14 { // 0.2 ms in view: no other wakeup is near
		b.key("+")
	}
	wake := value[string](b, `document.querySelector("canvas").dataset.wake`)
	x, y := place(b)
	b.key(kb.Escape)
	b.settled()
	b.do(chromedp.MouseClickXY(x, y))
	b.until(`document.querySelector(".story:not([hidden]):not([aria-busy])") !== null`)
	b.shoot("story")
	if clicked := value[string](b, `document.querySelector("canvas").dataset.wake`); clicked != wake {
		t.Errorf("the click found %s, want %s", clicked, wake)
	}
	got := value[string](b, `document.querySelector(".story pre").textContent`)
	if want := run(t, "explain", "--why", wake, filepath.Join(captures, "hb-pipe")); got != want {
		t.Errorf("the page tells\n%s\nexplain --why %s tells\n%s", got, wake, want)
	}
	if !strings.Contains(got, "Decided by:") {
		t.Errorf("%q is no story", got)
	}
	b.dark(true)
	b.settled()
	b.shoot("story-dark")
	b.resize(390, 800)
	b.settled()
	b.shoot("story-phone")
}

// place is where the selected wakeup is drawn, in the page's pixels.
func place(b *browser) (x, y float64) {
	b.t.Helper()
	at := value[[]float64](b, `(() => {
		const c = document.querySelector("canvas"), box = c.getBoundingClientRect();
		return [Number(c.dataset.wakeX) + box.x, Number(c.dataset.wakeY) + box.y];
	})()`)
	return at[0], at[1]
}

func TestTimelineMoves(t *testing.T) {
	b := open(t)
	timeline(b, serve(t, captures), "a=hb-pipe")
	from, to := shown(b)
	all := to - from
	check := func(what string, wantFrom, wantSpan float64) {
		t.Helper()
		b.settled()
		from, to := shown(b)
		if abs(from-wantFrom) > all/500 || abs(to-from-wantSpan) > all/500 {
			t.Errorf("%s: %.0f to %.0f is in view, want %.0f to %.0f", what, from, to, wantFrom, wantFrom+wantSpan)
		}
	}
	b.key("+")
	check("zoomed in", all/4, all/2)
	b.key(kb.ArrowRight)
	check("a tenth to the right", all*0.30, all/2)
	b.key(kb.ArrowLeft)
	check("and back", all/4, all/2)
	width := value[float64](b, `document.querySelector("canvas").clientWidth - 66`)
	drag(b, 600, 300, 600-width/4, 300)
	check("dragged by a quarter of the width", all/4+all/8, all/2)
	b.key("-")
	b.key("0")
	check("everything", 0, all)
	wheelAt := 66 + width/2
	wheel(b, wheelAt, 300, -100)
	check("wheel towards the middle", all/2-all/2*0.7408, all*0.7408) // exp(-0.3)
	b.do(chromedp.Click(chromedp.CSS(`button[title="show everything"]`)))
	check("the button all", 0, all)
}

func abs(v float64) float64 { return max(v, -v) }

func TestTasksAreRows(t *testing.T) {
	b := open(t)
	address := serve(t, captures)
	timeline(b, address, "a=hb-pipe")
	b.do(chromedp.Click(chromedp.CSS(`button[data-mode="task"]`)))
	b.settled()
	b.shoot("tasks")
	if n := pixels(b, 70, int(canvasTop(b))+45, 1000, 500); n < 10_000 {
		t.Errorf("%d pixels are drawn, want some ten thousand", n)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), "hackbench"))
	b.settled()
	b.shoot("tasks-found")
	matches := value[string](b, `document.querySelector(".matches").textContent`)
	if n, err := strconv.Atoi(strings.TrimSuffix(matches, " tasks")); err != nil || n < 13 {
		t.Errorf("%q match hackbench, want 13 tasks at least (-g 1 -f 6 has 12 and their parent)", matches)
	}
	b.key(kb.Enter) // where the first of them runs next
	b.until(`document.querySelector(".status [role=status]").textContent.includes("begins to run on CPU")`)
	b.key(kb.Escape)
	hover(b, 600, 300)
	b.until(`!document.querySelector(".tip").hidden`)
	if text := value[string](b, `document.querySelector(".tip").textContent`); !strings.Contains(text, " at ") {
		t.Errorf("hovering tells %q, want a time", text)
	}
	b.shoot("tasks-hover")
}

func TestSearchKeepsOneTaskInColour(t *testing.T) {
	b := open(t)
	timeline(b, serve(t, captures), "a=hb-pipe")
	b.key("/")
	b.until(`document.activeElement.type === "search"`)
	value[string](b, `document.activeElement.value = ""`) // the protocol types the / besides, which keys of a keyboard do not
	b.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), "401"))
	b.settled()
	b.shoot("search")
	if got := value[string](b, `document.querySelector(".matches").textContent`); got != "1 task" {
		t.Errorf("PID 401 matches %q", got)
	}
	hover(b, 640, 200)
	b.until(`!document.querySelector(".tip").hidden`)
	b.shoot("hover")
}

func TestErrorsAreShown(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"broken/results.csv": "a,b\n1,2\n",
		"empty/trace.txt":    "# tracer: nop\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t)
	// The browser itself reports a refused request in the console.
	b.expect("Failed to load resource")
	address := serve(t, dir)
	for query, want := range map[string]string{
		"result?path=broken":  `no column "benchmark"`,
		"timeline?a=empty":    "no event of the scheduler",
		"timeline?a=nowhere":  "no recording there",
		"timeline?a=../other": "not the path of a folder inside",
	} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/"+query))
		b.until(`document.querySelector(".error") !== null`)
		if got := value[string](b, `document.querySelector(".error").textContent`); !strings.Contains(got, want) {
			t.Errorf("%s: the page says %q, want %q in it", query, got, want)
		}
	}
	b.shoot("error")
}

func TestPhone(t *testing.T) {
	b := open(t)
	b.resize(390, 800)
	address := serve(t, smallResult(t))
	for name, query := range map[string]string{"list": "", "result": "result?path=."} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/"+query))
		b.until(`document.querySelector("h1") !== null`)
		if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 390 {
			t.Errorf("%s: the page is %d pixels wide on a phone of 390", name, wide)
		}
		b.shoot("phone-" + name)
	}
	b.do(chromedp.Click(chromedp.CSS(`a[href*="timeline"]`)))
	b.until(`document.querySelector("canvas") !== null`)
	b.settled()
	if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the timeline is %d pixels wide on a phone of 390", wide)
	}
	b.shoot("phone-timeline")
}

// fakePerfetto stands for the tab of Perfetto's page, which the tests do not
// need the network for: it answers the third PING and keeps what it is sent.
const fakePerfetto = `(() => {
	window.pings = 0;
	window.open = (url) => {
		window.opened = url;
		return { postMessage(message, origin) {
			if (message === "PING") {
				if (++window.pings >= 3) window.dispatchEvent(new MessageEvent("message", { data: "PONG", origin }));
			} else window.sent = { origin, title: message.perfetto.title, bytes: message.perfetto.buffer.byteLength };
		} };
	};
	return true;
})()`

func TestPerfettoIsHandedTheRecording(t *testing.T) {
	b := open(t)
	timeline(b, serve(t, captures), "a=hb-pipe")
	value[bool](b, fakePerfetto)
	b.do(chromedp.Click(chromedp.CSS("button.wide")))
	b.until(`window.sent !== undefined`)
	sent := value[struct {
		Origin, Title string
		Bytes         int
	}](b, `window.sent`)
	// Away from its machine.txt, whose caches the page does not hand over.
	alone := filepath.Join(t.TempDir(), "trace.txt.gz")
	content, err := os.ReadFile(filepath.Join(captures, "hb-pipe", "trace.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, content, 0o600); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(filepath.Dir(alone), "trace.pftrace")
	run(t, "convert", alone, packed)
	info, err := os.Stat(packed)
	if err != nil {
		t.Fatal(err)
	}
	if sent.Origin != "https://ui.perfetto.dev" || sent.Title != "schedlab hb-pipe" || int64(sent.Bytes) != info.Size() {
		t.Errorf("sent %+v, want what convert writes, %d bytes, to Perfetto alone", sent, info.Size())
	}
	if pings := value[int](b, `window.pings`); pings < 3 {
		t.Errorf("%d pings before the recording, want to wait for the answer", pings)
	}
}

// What a file says is text, whatever it looks like.
func TestHostileTextStaysText(t *testing.T) {
	const evil = `<img src=x onerror=alert(1)>`
	dir := t.TempDir()
	csvText := "benchmark,statistic,row,variant,value\n" + strings.Repeat(evil+",", 4) + evil + "\n"
	traceText := "  a-1 [000] d.... 1.000001: sched_wakeup: comm=" + evil + " pid=2 prio=120 target_cpu=000\n" +
		"  a-1 [000] d.... 1.000002: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=" + evil + " next_pid=2 next_prio=120\n" +
		"  a-2 [000] d.... 1.000900: sched_wakeup: comm=a pid=1 prio=120 target_cpu=000\n"
	for name, content := range map[string]string{evil + "/results.csv": csvText, evil + "/trace.txt": traceText} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t)
	address := serve(t, dir)
	path := url.QueryEscape(evil)
	for query, shows := range map[string]string{"": "li .path", "result?path=" + path: "thead", "timeline?a=" + path: "#where"} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/"+query))
		b.until(`document.querySelector("` + shows + `")?.textContent.includes("` + evil + `")`)
		b.until(`!document.getElementById("main").hasAttribute("aria-busy")`)
		if n := value[int](b, `document.querySelectorAll("img").length`); n != 0 {
			t.Errorf("%q: %d images came out of the text", query, n)
		}
	}
	b.settled()
	b.shoot("hostile")
}
