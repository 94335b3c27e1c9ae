package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Count prints a number of things.
func Count(n int) string { return strconv.Itoa(n) }

// Cell is one cell of a heat map.
type Cell struct {
	Row, Column int
	Value       float64 // ns; its logarithm gives the colour
	Framed      bool
}

// HeatMap is a grid of durations.
type HeatMap struct {
	Name, Title, Alt string
	Rows, Columns    []string
	ColumnAxis       string
	Framed           string // what a frame means, "" when there is none
	Cells            []Cell
}

// heatColours are eight colours of cividis from dark blue to yellow: they differ
// in brightness too, for colour-blind readers and grey prints.
var heatColours = [][3]float64{
	{0, 34, 78}, {35, 62, 108}, {87, 93, 109}, {112, 113, 115}, {138, 134, 120}, {165, 156, 116}, {195, 179, 105}, {254, 232, 56},
}

// heat is the colour of a part of the scale; slow is bright.
func heat(part float64) color.Color {
	at := math.Max(0, math.Min(1, part)) * float64(len(heatColours)-1)
	low := min(int(at), len(heatColours)-2)
	f := at - float64(low)
	var rgb [3]uint8
	for i := range rgb {
		rgb[i] = uint8(math.Round(heatColours[low][i]*(1-f) + heatColours[low+1][i]*f))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 255}
}

// Text on dark cells and on bright ones, whatever the page.
var (
	darkInk   = color.NRGBA{0, 0, 0, 255}
	brightInk = color.NRGBA{255, 255, 255, 255}
)

// part is where a value stands between least and most, by its logarithm.
func part(value, least, most float64) float64 {
	if most <= least {
		return 0
	}
	return math.Log(math.Max(value, 1)/least) / math.Log(most/least)
}

// Picture draws the grid, nil when it has no cell.
func (h *HeatMap) Picture() *Picture {
	if len(h.Cells) == 0 {
		return nil
	}
	least, most := math.Inf(1), 1.0
	for _, cell := range h.Cells {
		least, most = math.Min(least, math.Max(cell.Value, 1)), math.Max(most, cell.Value)
	}
	p := newPlot(h.ColumnAxis, "")
	categories(p, h.Columns)
	p.Y.Min, p.Y.Max, p.Y.Padding = -0.5, float64(len(h.Rows))-0.5, 0
	p.Y.Tick.LineStyle.Width = 0
	p.Y.Tick.Marker = h.rowTicks()
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, cell := range h.Cells {
			h.paintCell(&c, cell, part(cell.Value, least, most), x, y)
		}
	}))
	height := vg.Length(70 + 24*len(h.Rows))
	key := h.key(least, most)
	return &Picture{Name: h.Name, Title: h.Title, Alt: h.Alt, width: width, height: height, paint: func(c draw.Canvas) { p.Draw(drawKey(c, key)) }}
}

func (h *HeatMap) rowTicks() plot.ConstantTicks {
	list := make(plot.ConstantTicks, len(h.Rows))
	for i, label := range h.Rows {
		list[i] = plot.Tick{Value: h.place(i), Label: label}
	}
	return list
}

// place is the height of a row: the first one is at the top.
func (h *HeatMap) place(row int) float64 { return float64(len(h.Rows) - 1 - row) }

func (h *HeatMap) key(least, most float64) []keyEntry {
	var key []keyEntry
	for i := range 5 {
		f := float64(i) / 4
		value := least * math.Pow(most/least, f)
		key = append(key, keyEntry{Duration(value), func(c *draw.Canvas, at vg.Point) {
			fillBox(c, box(at, 7, 5), heat(f))
		}})
	}
	if h.Framed != "" {
		key = append(key, keyEntry{h.Framed, func(c *draw.Canvas, at vg.Point) { frame(c, box(at, 7, 5)) }})
	}
	return key
}

func (h *HeatMap) paintCell(c *draw.Canvas, cell Cell, part float64, x, y func(float64) vg.Length) {
	column, row := float64(cell.Column), h.place(cell.Row)
	area := vg.Rectangle{Min: vg.Point{X: tenth(x(column-0.5) + 1), Y: tenth(y(row-0.5) + 1)}, Max: vg.Point{X: tenth(x(column+0.5) - 1), Y: tenth(y(row+0.5) - 1)}}
	fillBox(c, area, heat(part))
	if cell.Framed {
		frame(c, area)
	}
	text := color.Color(darkInk)
	if part < 0.35 {
		text = brightInk
	}
	c.FillText(textStyle(fontSize, text, -0.5, -0.5), vg.Point{X: tenth(x(column)), Y: tenth(y(row))}, Duration(cell.Value))
}

func box(at vg.Point, halfWidth, halfHeight vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - halfWidth, Y: at.Y - halfHeight}, Max: vg.Point{X: at.X + halfWidth, Y: at.Y + halfHeight}}
}

func fillBox(c *draw.Canvas, area vg.Rectangle, fill color.Color) {
	c.SetColor(fill)
	c.Fill(area.Path())
}

// frame has two colours, so that it is seen on any.
func frame(c *draw.Canvas, area vg.Rectangle) {
	path := area.Path()
	c.SetLineStyle(line(ink.colour(), 3))
	c.Stroke(path)
	c.SetLineStyle(line(seriesColours[2].colour(), 1.8))
	c.Stroke(path)
}

// Bar is one of a list of counts.
type Bar struct {
	Name  string
	Value float64
}

// Bars are counts, longest bar first as given, from left to right.
type Bars struct {
	Name, Title, Alt string
	Axis             string
	Bars             []Bar
}

// Picture draws the bars, nil when there is none.
func (b *Bars) Picture() *Picture {
	if len(b.Bars) == 0 {
		return nil
	}
	most := 0.0
	for _, bar := range b.Bars {
		most = math.Max(most, bar.Value)
	}
	p := newPlot(b.Axis, "")
	rows := make(plot.ConstantTicks, len(b.Bars))
	for i, bar := range b.Bars {
		rows[i] = plot.Tick{Value: float64(len(b.Bars) - 1 - i), Label: bar.Name}
	}
	p.Y.Min, p.Y.Max, p.Y.Padding, p.Y.Tick.Marker, p.Y.Tick.LineStyle.Width = -0.5, float64(len(b.Bars))-0.5, 0, rows, 0
	p.X.Min, p.X.Max, p.X.Padding, p.X.Tick.Marker = 0, math.Max(most, 1)*1.12, 0, ticks{wanted: 6}
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for i, bar := range b.Bars {
			at := float64(len(b.Bars) - 1 - i)
			fillBox(&c, vg.Rectangle{Min: vg.Point{X: x(0), Y: tenth(y(at - 0.35))}, Max: vg.Point{X: tenth(x(bar.Value)), Y: tenth(y(at + 0.35))}}, colourOf(1))
			c.FillText(textStyle(fontSize, ink.colour(), 0, -0.5), vg.Point{X: tenth(x(bar.Value) + 4), Y: tenth(y(at))}, fmt.Sprintf("%.0f", bar.Value))
		}
	}))
	return &Picture{Name: b.Name, Title: b.Title, Alt: b.Alt, width: width, height: vg.Length(46 + 20*len(b.Bars)), paint: func(c draw.Canvas) { p.Draw(c) }}
}
