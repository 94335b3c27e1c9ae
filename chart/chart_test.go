package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// examples has every kind of picture. Values are v, so that a caller can make
// them all equal.
func examples(v func(i int) float64) []*Picture {
	known := func(i int) Range {
		return Range{Value: v(i), Low: v(i) - v(1), High: v(i) + v(1), Known: true, Interval: true, Strong: i%2 == 0}
	}
	points := func() []Point {
		var list []Point
		for i := range 6 {
			list = append(list, Point{float64(i) * 10, v(i)})
		}
		return list
	}
	categories := []string{"1", "2 <&>", "3"}
	curves := []Curve{{"a", 0, points()}, {"b", 1, points()}}
	return []*Picture{
		(&Ranges{Name: "ranges", Title: "t <1>", Alt: `a "quoted" & more`, Categories: categories, Axis: "y", Unit: " %", Signed: true, FromZero: true, Full: "sure", Hollow: "not",
			Series: []Series{{"a", 0, []Range{known(1), known(2), {}}}, {"b", 1, []Range{known(2), known(3), known(4)}}}}).Picture(),
		(&Distribution{Name: "distribution", Categories: categories, Axis: "y", Series: []Samples{{"a", 0, [][]float64{{v(1), v(2)}, nil, {v(3)}}, []Range{known(1), {}, known(3)}}}}).Picture(),
		(&Percentiles{Name: "percentiles", Axis: "latency", Curves: curves}).Picture(),
		(&Lines{Name: "lines", XAxis: "x", YAxis: "y", Durations: true, Level: 5, Curves: curves}).Picture(),
		(&OverTime{Name: "time", Panels: []Panel{{"p", " %", 0, 100, curves}, {Axis: "q", Curves: curves}}}).Picture(),
		(&Scatter{Name: "scatter", XAxis: "x", YAxis: "y", Unit: " %", Series: []ScatterSeries{{"a", 1, points(), make([]bool, 6)}}}).Picture(),
		(&HeatMap{Name: "heat", Rows: []string{"r"}, Columns: categories, ColumnAxis: "x", Framed: "good", Cells: []Cell{{0, 0, v(1), true}, {0, 2, v(3), false}}}).Picture(),
		(&Bars{Name: "bars", Axis: "n", Bars: []Bar{{"a", v(5)}, {"b", v(1)}}}).Picture(),
		(&CPUStates{Name: "cpus", States: []string{"idle", "sched-idle", "one", "more"}, Marked: "m", Below: Panel{Axis: "n", Curves: curves},
			Variants: []StateMap{{"a", 2, [][]uint8{{0, 1, 2, 3}, {3, 2, 1, 0}}, [][]bool{{true, false, false, false}, {false, false, false, false}}}}}).Picture(),
	}
}

func rising(i int) float64 { return float64(i)*7.3 + 1 }

func well(t *testing.T, name, svg string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s is no XML: %v", name, err)
		}
	}
}

// Both files and the page's element are well-formed, the PNG is of the picture's
// size at 144 dots an inch (2 a point), nothing is infinite or not a number.
func TestEveryFormIsWellFormed(t *testing.T) {
	for _, p := range examples(rising) {
		file, err := p.SVG()
		inline, err2 := p.Inline()
		pixels, err3 := p.PNG()
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		well(t, p.Name, string(file))
		well(t, p.Name, inline)
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(string(file), bad) {
				t.Errorf("%s: %q in the picture", p.Name, bad)
			}
		}
		config, err := png.DecodeConfig(bytes.NewReader(pixels))
		if err != nil || config.Width != int(2*p.width.Points()) || config.Height != int(2*p.height.Points()) {
			t.Errorf("%s: %d x %d pixels for %v x %v points, %v", p.Name, config.Width, config.Height, p.width, p.height, err)
		}
	}
}

func TestBytesAreTheSameEveryTime(t *testing.T) {
	draw := func() string {
		var all strings.Builder
		for _, p := range examples(rising) {
			svg, err := p.SVG()
			pixels, err2 := p.PNG()
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			all.Write(svg)
			all.Write(pixels)
		}
		return all.String()
	}
	first := draw()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if draw() != first {
		t.Error("with one processor the bytes are others")
	}
}

// A page chooses every colour but those of the heat map's cells: what is left in
// the element's style are colours that no variable stands for.
func TestPagesChooseTheColours(t *testing.T) {
	hex := regexp.MustCompile(`(?:fill|stroke):#[0-9A-F]{6}`)
	for _, p := range examples(rising) {
		inline, err := p.Inline()
		if err != nil {
			t.Fatal(err)
		}
		if left := hex.FindString(inline); left != "" && p.Name != "heat" {
			t.Errorf("%s: %s is fixed", p.Name, left)
		}
		if !strings.Contains(inline, `role="img" tabindex="0" aria-label="`) {
			t.Errorf("%s cannot be read or reached: %.200s", p.Name, inline)
		}
	}
	inline, _ := examples(rising)[0].Inline()
	if !strings.Contains(inline, `aria-label="t &lt;1&gt;. a &#34;quoted&#34; &amp; more"`) {
		t.Errorf("the text alternative is not the title and what it shows: %.300s", inline)
	}
}

// Equal values, zeros and tiny differences once made ticks without end.
func TestFlatDataIsDrawn(t *testing.T) {
	for _, v := range []float64{0, 100, 1e-12, 1e12} {
		for _, p := range examples(func(i int) float64 { return v + v*float64(i)*1e-15 }) {
			if p == nil {
				continue
			}
			if _, err := p.SVG(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNothingToDrawIsNoPicture(t *testing.T) {
	for i, p := range []*Picture{(&Ranges{}).Picture(), (&Distribution{}).Picture(), (&Percentiles{}).Picture(), (&Lines{}).Picture(), (&OverTime{}).Picture(),
		(&Scatter{}).Picture(), (&HeatMap{}).Picture(), (&Bars{}).Picture(), (&CPUStates{}).Picture()} {
		if p != nil {
			t.Errorf("picture %d of nothing", i)
		}
	}
}

func TestNiceStep(t *testing.T) {
	for span, want := range map[float64]float64{0: 1, 1: 0.2, 12: 5, 9: 2, 26: 10, 250: 50, 0.03: 0.01} {
		if got := niceStep(span, 5); got < want*0.999 || got > want*1.001 {
			t.Errorf("niceStep(%v) = %v, want %v", span, got, want)
		}
	}
}

func labelsOf(list []plot.Tick) string {
	var labels []string
	for _, t := range list {
		labels = append(labels, t.Label)
	}
	return strings.Join(labels, "|")
}

func TestTicks(t *testing.T) {
	if got := labelsOf(ticks{wanted: 5, signed: true, unit: " %"}.Ticks(-12, 21)); got != "-10 %|0 %|+10 %|+20 %" {
		t.Errorf("%s", got)
	}
	if got := labelsOf(ticks{wanted: 5}.Ticks(0, 0.04)); got != "0|0.01|0.02|0.03|0.04" {
		t.Errorf("%s", got)
	}
	// Logarithms of 1 µs and 20 µs: 1000 ns is 3, 20,000 ns is 4.3.
	if got := labelsOf(decades{}.Ticks(3, math.Log10(20000))); got != "1 µs|2 µs|5 µs|10 µs|20 µs" {
		t.Errorf("%s", got)
	}
	if got := labelsOf(decades{}.Ticks(3, 6)); got != "1 µs|||10 µs|||100 µs|||1 ms" {
		t.Errorf("%s", got)
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{5: "5 ns", 1500: "1.5 µs", 2e6: "2 ms", 12_340_000: "12.3 ms", 3e9: "3 s"} {
		if got := Duration(ns); got != want {
			t.Errorf("%v ns is %q, want %q", ns, got, want)
		}
	}
}

// 90 % leave a tenth, 99.9 % a thousandth.
func TestNines(t *testing.T) {
	for percent, want := range map[float64]float64{0: 0, 90: 1, 99: 2, 99.9: 3} {
		if got := nines(percent); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v percent stands at %v, want %v", percent, got, want)
		}
	}
}

// CPU 0 is the upper row; a marked cell is striped in the mark's colour over its
// own.
func TestRaster(t *testing.T) {
	img := raster([][]uint8{{2, 3}, {0, 1}}, [][]bool{{false, false}, {true, false}}, 3)
	if b := img.Bounds(); b.Dx() != 2 || b.Dy() != 6 {
		t.Fatalf("%v pixels", b)
	}
	at := func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) }
	if at(0, 0) != stateColours[2] || at(1, 2) != stateColours[3] || at(1, 5) != stateColours[1] {
		t.Error("cells have other colours than their states")
	}
	seen := map[color.NRGBA]int{}
	for y := 3; y < 6; y++ {
		seen[at(0, y)]++
	}
	if seen[markColour] != 2 || seen[stateColours[0]] != 1 {
		t.Errorf("a marked cell of an idle CPU is %v", seen)
	}
}

// The scale goes from dark blue to yellow, and series differ in colour, mark
// and dashes.
func TestColours(t *testing.T) {
	if got := fmt.Sprint(heat(0), heat(1)); got != "{0 34 78 255} {254 232 56 255}" {
		t.Errorf("the ends of the scale are %s", got)
	}
	light, dark := map[string]bool{}, map[string]bool{}
	for _, n := range everyColour() {
		if light[n.light] || dark[n.dark] {
			t.Errorf("%s has another's colour", n.variable)
		}
		light[n.light], dark[n.dark] = true, true
	}
	if len(outlines) != len(seriesColours) || len(dashes) != len(seriesColours) {
		t.Errorf("%d colours, %d marks, %d dashes", len(seriesColours), len(outlines), len(dashes))
	}
}
