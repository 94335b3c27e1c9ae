package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is a place on a curve.
type Point struct{ X, Y float64 }

// Curve is one series' line.
type Curve struct {
	Name   string
	Colour int
	Points []Point
}

// Percentiles are latencies by percentile: X percent (less than 100), Y ns. The
// axis gives each nine the same room, so that tails are seen.
type Percentiles struct {
	Name, Title, Alt string
	Axis             string
	Curves           []Curve
}

// nines is where a percentile stands: 90 at 1, 99 at 2, 99.9 at 3.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

// Picture draws the curves, nil when there is none.
func (l *Percentiles) Picture() *Picture {
	var scaled []Curve
	low, high, right := math.Inf(1), math.Inf(-1), 0.0
	for _, curve := range l.Curves {
		s := Curve{Name: curve.Name, Colour: curve.Colour}
		for _, at := range curve.Points {
			y := logOf(at.Y)
			s.Points = append(s.Points, Point{nines(at.X), y})
			low, high, right = math.Min(low, y), math.Max(high, y), math.Max(right, nines(at.X))
		}
		scaled = append(scaled, s)
	}
	if low > high {
		return nil
	}
	p := newPlot("percentile of all wakeups", l.Axis)
	p.X.Min, p.X.Max, p.X.Padding, p.Y.Padding = 0, math.Max(right, 1), 0, 0
	p.X.Tick.Marker = percentileTicks(right)
	p.Y.Tick.Marker = decades{}
	p.Y.Min, p.Y.Max = span(low, high, 0.04)
	p.Add(grid{}, curves(scaled))
	return &Picture{Name: l.Name, Title: l.Title, Alt: l.Alt, width: width, height: 230, paint: func(c draw.Canvas) { p.Draw(drawKey(c, curveKey(scaled))) }}
}

func percentileTicks(right float64) plot.ConstantTicks {
	var list plot.ConstantTicks
	for _, t := range []struct {
		percent float64
		label   string
	}{{0, "0"}, {50, "50"}, {75, "75"}, {90, "90"}, {99, "99"}, {99.9, "99.9"}, {99.99, "99.99"}, {99.999, "99.999"}, {99.9999, "99.9999"}} {
		if at := nines(t.percent); at <= right {
			list = append(list, plot.Tick{Value: at, Label: t.label})
		}
	}
	return list
}

func curveKey(list []Curve) []keyEntry {
	var key []keyEntry
	for _, curve := range list {
		key = append(key, lineEntry(curve.Name, curve.Colour))
	}
	return key
}

// curves draws lines.
func curves(list []Curve) painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, curve := range list {
			points := make([]vg.Point, len(curve.Points))
			for i, at := range curve.Points {
				points[i] = vg.Point{X: tenth(x(at.X)), Y: tenth(y(at.Y))}
			}
			if len(points) > 1 {
				c.StrokeLines(seriesLine(curve.Colour), points)
			} else if len(points) == 1 {
				paintMark(&c, curve.Colour, points[0], markSize, false)
			}
		}
	}
}

// Lines are series over a number, marked at each point.
type Lines struct {
	Name, Title, Alt string
	XAxis, YAxis     string
	Durations        bool    // Y is in ns, on a logarithmic axis
	Level            float64 // a line across, 0 for none
	Curves           []Curve
}

// Picture draws the lines, nil when there is none.
func (l *Lines) Picture() *Picture {
	left, right, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	shown := l.scaled()
	for _, curve := range shown.Curves {
		for _, at := range curve.Points {
			left, right = math.Min(left, at.X), math.Max(right, at.X)
			low, high = math.Min(low, at.Y), math.Max(high, at.Y)
		}
	}
	if left > right {
		return nil
	}
	p := newPlot(l.XAxis, l.YAxis)
	p.X.Min, p.X.Max = span(left, right, 0.04)
	p.X.Tick.Marker = ticks{wanted: 6}
	p.X.Padding, p.Y.Padding = 0, 0
	if l.Level > 0 {
		low, high = math.Min(low, shown.Level), math.Max(high, shown.Level)
	}
	p.Y.Min, p.Y.Max = span(low, high, 0.06)
	p.Y.Tick.Marker = ticks{wanted: 5}
	if l.Durations {
		p.Y.Tick.Marker = decades{}
	}
	p.Add(grid{}, painter(shown.paint))
	return &Picture{Name: l.Name, Title: l.Title, Alt: l.Alt, width: width, height: 260, paint: func(c draw.Canvas) { p.Draw(drawKey(c, l.key())) }}
}

// scaled is the chart with logarithms in the place of durations.
func (l *Lines) scaled() *Lines {
	if !l.Durations {
		return l
	}
	s := *l
	s.Level, s.Curves = logOf(l.Level), nil
	for _, curve := range l.Curves {
		logs := Curve{Name: curve.Name, Colour: curve.Colour}
		for _, at := range curve.Points {
			logs.Points = append(logs.Points, Point{at.X, logOf(at.Y)})
		}
		s.Curves = append(s.Curves, logs)
	}
	return &s
}

func (l *Lines) key() []keyEntry {
	var key []keyEntry
	for _, curve := range l.Curves {
		key = append(key, keyEntry{curve.Name, func(c *draw.Canvas, at vg.Point) {
			lineEntry("", curve.Colour).paint(c, at)
			paintMark(c, curve.Colour, at, markSize*0.8, false)
		}})
	}
	return key
}

func (l *Lines) paint(c draw.Canvas, x, y func(float64) vg.Length) {
	if l.Level > 0 {
		style := line(ink.colour(), strong)
		style.Dashes = []vg.Length{3, 3}
		c.StrokeLine2(style, c.Min.X, tenth(y(l.Level)), c.Max.X, tenth(y(l.Level)))
	}
	curves(l.Curves)(c, x, y)
	for _, curve := range l.Curves {
		for _, at := range curve.Points {
			paintMark(&c, curve.Colour, vg.Point{X: x(at.X), Y: y(at.Y)}, markSize*0.8, false)
		}
	}
}
