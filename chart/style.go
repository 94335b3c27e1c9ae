package chart

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// named is a colour with the variable that stands for it in a page.
type named struct {
	variable string
	light    string // "#rrggbb", lower case, no two alike
	dark     string
}

// What is not data. Paper fills marks that are hollow.
var (
	ink   = named{"--ink", "#222222", "#e8e8e8"}
	faint = named{"--grid", "#dcdcdc", "#3c4045"}
	paper = named{"--paper", "#fefefe", "#16191d"}
)

// seriesColours are Okabe and Ito's after a dark grey for the baseline, and
// lighter ones of the same hues for dark pages.
var seriesColours = []named{
	{"--s0", "#555555", "#b8b8b8"},
	{"--s1", "#0072b2", "#4fb0e8"},
	{"--s2", "#d55e00", "#ff8c3b"},
	{"--s3", "#009e73", "#2fc99c"},
	{"--s4", "#cc79a7", "#e3a3c6"},
	{"--s5", "#56b4e9", "#8ed0f5"},
	{"--s6", "#e69f00", "#f5bd45"},
	{"--s7", "#8a7f00", "#f0e442"},
}

// dashes of the series' lines, in points. Where two lines are one above the
// other, the baseline is seen through the gaps.
var dashes = [][]vg.Length{nil, {5, 2}, {2, 2}, {8, 2, 2, 2}, {9, 4}, {4, 4}, {1, 2}, {3, 1}}

func colourOf(series int) color.Color { return seriesColours[series%len(seriesColours)].colour() }

// Variable is the CSS variable that holds a series' colour.
func Variable(series int) string { return seriesColours[series%len(seriesColours)].variable }

func (n named) colour() color.Color {
	digit := func(i int) uint8 {
		return uint8(strings.IndexByte("0123456789abcdef", n.light[i])<<4 | strings.IndexByte("0123456789abcdef", n.light[i+1]))
	}
	return color.NRGBA{digit(1), digit(3), digit(5), 255}
}

func everyColour() []named {
	return append([]named{ink, faint, paper}, seriesColours...)
}

// Variables lists the style sheet's declarations of every colour that a picture
// in a page has, for light pages and for dark ones.
func Variables() (light, dark string) {
	for _, n := range everyColour() {
		light += n.variable + ":" + n.light + ";"
		dark += n.variable + ":" + n.dark + ";"
	}
	return light, dark
}

// variableColours replaces colours by variables.
func variableColours(svg string) string {
	var pairs []string
	for _, n := range everyColour() {
		for _, property := range []string{"fill:", "stroke:"} {
			pairs = append(pairs, property+strings.ToUpper(n.light), property+"var("+n.variable+")")
		}
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// Sizes in points.
const (
	width    vg.Length = 600
	fontSize vg.Length = 9
	markSize vg.Length = 3.2
	thin     vg.Length = 0.6
	strong   vg.Length = 1.3
)

func textFont(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = ink.colour()
		axis.LineStyle.Width = thin
		axis.Tick.LineStyle = draw.LineStyle{Color: ink.colour(), Width: thin}
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = textFont(fontSize), ink.colour()
		axis.Tick.Label.Font, axis.Tick.Label.Color = textFont(fontSize), ink.colour()
	}
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = textFont(fontSize), ink.colour()
	return p
}

func textStyle(size vg.Length, c color.Color, x, y float64) draw.TextStyle {
	return draw.TextStyle{Color: c, Font: textFont(size), XAlign: draw.XAlignment(x), YAlign: draw.YAlignment(y), Handler: plot.DefaultTextHandler}
}

func line(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}
