package chart

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ticks of a linear axis: 1, 2 or 5 times a power of ten apart.
type ticks struct {
	wanted int
	signed bool // + before what is positive
	unit   string
}

// Ticks implements plot.Ticker.
func (t ticks) Ticks(low, high float64) []plot.Tick {
	step := niceStep(high-low, t.wanted)
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var list []plot.Tick
	first := math.Ceil(low/step - 1e-9)
	for i := range int((high-low)/step+1e-9) + 2 {
		at := (first + float64(i)) * step
		if at > high+step*1e-9 {
			break
		}
		list = append(list, plot.Tick{Value: at, Label: t.label(at, step, decimals)})
	}
	return list
}

func (t ticks) label(value, step float64, decimals int) string {
	switch {
	case math.Abs(value) < step/2:
		return "0" + t.unit
	case t.signed:
		return fmt.Sprintf("%+.*f", decimals, value) + t.unit
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + t.unit
}

// niceStep is 1, 2 or 5 times a power of ten with about so many steps in span.
func niceStep(span float64, wanted int) float64 {
	if span <= 0 || math.IsInf(span, 0) || math.IsNaN(span) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(span/float64(wanted))))
	for _, factor := range []float64{1, 2, 5} {
		if unit*factor*float64(wanted) >= span*(1-1e-9) {
			return unit * factor
		}
	}
	return unit * 10
}

// constant ticks of categories.
func categoryTicks(labels []string) plot.ConstantTicks {
	list := make(plot.ConstantTicks, len(labels))
	for i, l := range labels {
		list[i] = plot.Tick{Value: float64(i), Label: l}
	}
	return list
}

// decades ticks an axis of logarithms (base 10) of ns: 1, 2 and 5 of each power
// of ten while there is room for their labels, else the powers alone.
//
// The axis is a linear one over logarithms: the library's logarithmic axis
// leaves room for its name as if that stood near the upper end.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var list []plot.Tick
	few := high-low < 2.5
	for power := math.Floor(low); power <= high; power++ {
		for _, factor := range []float64{1, 2, 5} {
			at := power + math.Log10(factor)
			if at < low-1e-9 || at > high+1e-9 {
				continue
			}
			label := ""
			if factor == 1 || few {
				label = Duration(math.Pow(10, power) * factor)
			}
			list = append(list, plot.Tick{Value: at, Label: label})
		}
	}
	return list
}

// logOf is where a duration stands on such an axis; less than 1 ns is 1 ns.
func logOf(ns float64) float64 { return math.Log10(math.Max(ns, 1)) }

// Duration prints nanoseconds with three digits at most and a unit.
func Duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size*(1-1e-9) {
			return strconv.FormatFloat(ns/u.size, 'g', 3, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(ns, 'g', 3, 64) + " ns"
}

// categories spreads labels over the lower axis, turned when they are too long
// to stand side by side.
func categories(p *plot.Plot, labels []string) {
	p.X.Min, p.X.Max = -0.5, float64(len(labels))-0.5
	p.X.Tick.Marker = categoryTicks(labels)
	p.X.Tick.LineStyle.Width = 0
	p.X.Padding, p.Y.Padding = 0, 0
	longest := 0
	for _, l := range labels {
		longest = max(longest, len(l))
	}
	if float64(longest)*5*float64(len(labels)) > float64(width)-80 {
		p.X.Tick.Label.Rotation = math.Pi / 4
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// grid draws lines at the ticks of the left axis, a stronger one at zero.
type grid struct{}

// Plot implements plot.Plotter.
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Label == "" {
			continue
		}
		style := line(faint.colour(), thin)
		if t.Value == 0 {
			style = line(ink.colour(), thin)
		}
		c.StrokeLine2(style, c.Min.X, tenth(y(t.Value)), c.Max.X, tenth(y(t.Value)))
	}
}

// painter is a function that draws into a plot.
type painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// span widens an interval of values by a part, so that nothing is on the edge. It
// is never so narrow that neighbouring ticks would be the same number.
func span(low, high, part float64) (float64, float64) {
	if low > high {
		return 0, 1
	}
	const least = 1e-3
	room := math.Max((high-low)*part, least*math.Max(math.Abs(low), math.Abs(high)))
	if room == 0 {
		room = least
	}
	return low - room, high + room
}
