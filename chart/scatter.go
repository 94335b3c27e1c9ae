package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScatterSeries are the points of one variant; Strong ones have full marks.
type ScatterSeries struct {
	Name   string
	Colour int
	Points []Point
	Strong []bool
}

// Scatter compares two figures of the same things, with the line on which they
// are equal.
type Scatter struct {
	Name, Title, Alt string
	XAxis, YAxis     string
	Unit             string
	Full, Hollow     string // what the two kinds of marks mean
	Series           []ScatterSeries
}

// Picture draws the points, nil when there is none.
func (s *Scatter) Picture() *Picture {
	low, high, some := 0.0, 0.0, false
	for _, series := range s.Series {
		for _, at := range series.Points {
			some = true
			low, high = math.Min(low, math.Min(at.X, at.Y)), math.Max(high, math.Max(at.X, at.Y))
		}
	}
	if !some {
		return nil
	}
	p := newPlot(s.XAxis, s.YAxis)
	p.X.Min, p.X.Max = span(low, high, 0.04)
	p.Y.Min, p.Y.Max = p.X.Min, p.X.Max
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Marker = ticks{wanted: 6, signed: true, unit: s.Unit}
	p.Y.Tick.Marker = ticks{wanted: 6, signed: true, unit: s.Unit}
	low, high = p.X.Min, p.X.Max
	p.Add(grid{}, painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		c.StrokeLine2(line(ink.colour(), thin), tenth(x(0)), c.Min.Y, tenth(x(0)), c.Max.Y)
		diagonal := line(ink.colour(), thin)
		diagonal.Dashes = []vg.Length{3, 3}
		c.StrokeLine2(diagonal, x(low), y(low), x(high), y(high))
		for _, series := range s.Series {
			for i, at := range series.Points {
				paintMark(&c, series.Colour, vg.Point{X: x(at.X), Y: y(at.Y)}, markSize*0.8, !series.Strong[i])
			}
		}
	}))
	var key []keyEntry
	for _, series := range s.Series {
		key = append(key, markEntry(series.Name, series.Colour, false))
	}
	if s.Full != "" {
		key = append(key, markEntry(s.Full, 0, false), markEntry(s.Hollow, 0, true))
	}
	return &Picture{Name: s.Name, Title: s.Title, Alt: s.Alt, width: 440, height: 400, paint: func(c draw.Canvas) { p.Draw(drawKey(c, key)) }}
}
