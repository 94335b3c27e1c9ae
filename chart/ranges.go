package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Range is a figure with its interval. One that is not Known is not drawn.
type Range struct {
	Value, Low, High float64
	Known            bool
	Interval         bool // Low and High are known
	Strong           bool // a full mark, else a hollow one
}

// Series is what a variant has in each category.
type Series struct {
	Name   string
	Colour int // which of the series' colours and marks
	Ranges []Range
}

// Ranges are figures with intervals by category and series.
type Ranges struct {
	Name, Title, Alt string
	Categories       []string
	Axis             string // of the values
	Unit             string // after the numbers of the axis
	Signed           bool   // + before positive numbers
	FromZero         bool   // a stem from zero to each figure
	// Full and Hollow say what the two kinds of marks mean; "" when there is one
	// kind.
	Full, Hollow string
	Series       []Series
}

// Picture draws the figures, nil when there is none.
func (r *Ranges) Picture() *Picture {
	low, high, some := r.bounds()
	if !some {
		return nil
	}
	p := newPlot("", r.Axis)
	categories(p, r.Categories)
	p.Y.Min, p.Y.Max = span(low, high, 0.06)
	p.Y.Tick.Marker = ticks{wanted: 5, signed: r.Signed, unit: r.Unit}
	p.Add(grid{}, painter(r.paint))
	return &Picture{Name: r.Name, Title: r.Title, Alt: r.Alt, width: width, height: 230, paint: func(c draw.Canvas) { p.Draw(drawKey(c, r.key())) }}
}

func (r *Ranges) bounds() (low, high float64, some bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range r.Series {
		for _, v := range s.Ranges {
			if !v.Known {
				continue
			}
			some = true
			low, high = math.Min(low, v.Value), math.Max(high, v.Value)
			if v.Interval {
				low, high = math.Min(low, v.Low), math.Max(high, v.High)
			}
		}
	}
	if some && r.FromZero {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	return low, high, some
}

func (r *Ranges) key() []keyEntry {
	var entries []keyEntry
	for _, s := range r.Series {
		entries = append(entries, markEntry(s.Name, s.Colour, false))
	}
	if r.Full != "" {
		entries = append(entries, markEntry(r.Full, 0, false), markEntry(r.Hollow, 0, true))
	}
	return entries
}

// shift spreads series around their category.
func shift(series, of int) float64 {
	step := math.Min(0.8/float64(of), 0.22)
	return step * (float64(series) - float64(of-1)/2)
}

func (r *Ranges) paint(c draw.Canvas, x, y func(float64) vg.Length) {
	for i, s := range r.Series {
		for category, v := range s.Ranges {
			if v.Known {
				r.paintRange(&c, s.Colour, v, x(float64(category)+shift(i, len(r.Series))), y)
			}
		}
	}
}

func (r *Ranges) paintRange(c *draw.Canvas, colour int, v Range, x vg.Length, y func(float64) vg.Length) {
	if r.FromZero {
		c.StrokeLine2(line(colourOf(colour), 2*strong), tenth(x), tenth(y(0)), tenth(x), tenth(y(v.Value)))
	}
	if v.Interval {
		whisker(c, line(ink.colour(), thin), x, y(v.Low), y(v.High))
	}
	paintMark(c, colour, vg.Point{X: x, Y: y(v.Value)}, markSize, !v.Strong)
}

// Distribution are single measurements by category and series, with their
// median and the interval of their mean.
type Distribution struct {
	Name, Title, Alt string
	Categories       []string
	Axis, Unit       string
	Series           []Samples
}

// Samples are the measurements of one series: for each category any number.
type Samples struct {
	Name    string
	Colour  int
	Values  [][]float64
	Medians []Range // Value the median, the interval that of the mean
}

// Picture draws the measurements, nil when there is none.
func (d *Distribution) Picture() *Picture {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range d.Series {
		for i, values := range s.Values {
			for _, v := range values {
				low, high = math.Min(low, v), math.Max(high, v)
			}
			if m := s.Medians[i]; m.Known && m.Interval {
				low, high = math.Min(low, m.Low), math.Max(high, m.High)
			}
		}
	}
	if low > high {
		return nil
	}
	p := newPlot("", d.Axis)
	categories(p, d.Categories)
	p.Y.Min, p.Y.Max = span(low, high, 0.06)
	p.Y.Tick.Marker = ticks{wanted: 5, unit: d.Unit}
	p.Add(grid{}, painter(d.paint))
	var key []keyEntry
	for _, s := range d.Series {
		key = append(key, markEntry(s.Name, s.Colour, false))
	}
	return &Picture{Name: d.Name, Title: d.Title, Alt: d.Alt, width: width, height: 230, paint: func(c draw.Canvas) { p.Draw(drawKey(c, key)) }}
}

func (d *Distribution) paint(c draw.Canvas, x, y func(float64) vg.Length) {
	for i, s := range d.Series {
		var dots vg.Path // one path for all: a dot costs a few bytes
		for category, values := range s.Values {
			middle := x(float64(category) + shift(i, len(d.Series)))
			for repeat, v := range values {
				addMark(&dots, s.Colour, vg.Point{X: middle + swarm(repeat), Y: y(v)}, 1.5)
			}
		}
		if len(dots) > 0 {
			c.SetColor(colourOf(s.Colour))
			c.Fill(dots)
		}
		for category, m := range s.Medians {
			if m.Known {
				paintMedian(&c, s.Colour, m, x(float64(category)+shift(i, len(d.Series))), y)
			}
		}
	}
}

// swarm moves a repeat a little to the side, so that equal ones are seen.
func swarm(repeat int) vg.Length { return vg.Length([]float64{0, -1.5, 1.5, -3, 3}[repeat%5]) }

func paintMedian(c *draw.Canvas, colour int, m Range, x vg.Length, y func(float64) vg.Length) {
	const half = 5
	c.StrokeLine2(line(colourOf(colour), strong), tenth(x-half), tenth(y(m.Value)), tenth(x+half), tenth(y(m.Value)))
	if m.Interval {
		whisker(c, line(ink.colour(), thin), x+half, y(m.Low), y(m.High))
	}
}

// Percent is an axis' number as text.
func Percent(v float64) string { return fmt.Sprintf("%+.2f %%", v) }
