package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panel is one of several plots above each other on one axis of time.
type Panel struct {
	Axis   string
	Unit   string
	Low    float64 // the axis reaches from Low to High, when they differ
	High   float64
	Curves []Curve // X in seconds
}

// OverTime are panels of lines.
type OverTime struct {
	Name, Title, Alt string
	Panels           []Panel
}

// Picture draws the panels, nil when there is nothing in any.
func (o *OverTime) Picture() *Picture {
	right := 0.0
	for _, panel := range o.Panels {
		for _, curve := range panel.Curves {
			for _, at := range curve.Points {
				right = math.Max(right, at.X)
			}
		}
	}
	if right == 0 {
		return nil
	}
	var plots []*plot.Plot
	for i := range o.Panels {
		plots = append(plots, o.Panels[i].plot(right, i == len(o.Panels)-1))
	}
	height := vg.Length(30 + 82*len(plots))
	key := curveKey(o.Panels[0].Curves)
	return &Picture{Name: o.Name, Title: o.Title, Alt: o.Alt, width: width, height: height, paint: func(c draw.Canvas) { stack(drawKey(c, key), plots) }}
}

func (panel *Panel) plot(right float64, last bool) *plot.Plot {
	p := newPlot("", panel.Axis)
	timeAxis(p, right, last)
	low, high := panel.Low, panel.High
	if low == high {
		low, high = math.Inf(1), math.Inf(-1)
		for _, curve := range panel.Curves {
			for _, at := range curve.Points {
				low, high = math.Min(low, at.Y), math.Max(high, at.Y)
			}
		}
		low, high = span(low, high, 0.06)
	}
	p.Y.Min, p.Y.Max, p.Y.Padding = low, high, 0
	p.Y.Tick.Marker = ticks{wanted: 4, unit: panel.Unit}
	p.Add(grid{}, curves(panel.Curves))
	return p
}

func timeAxis(p *plot.Plot, right float64, last bool) {
	p.X.Min, p.X.Max, p.X.Padding = 0, right, 0
	p.X.Tick.Marker = ticks{wanted: 8}
	if last {
		p.X.Label.Text = "seconds of virtual time"
		return
	}
	p.X.Tick.Marker = unlabelled{ticks{wanted: 8}}
}

// unlabelled are ticks without their numbers.
type unlabelled struct{ of plot.Ticker }

// Ticks implements plot.Ticker.
func (u unlabelled) Ticks(low, high float64) []plot.Tick {
	list := u.of.Ticks(low, high)
	for i := range list {
		list[i].Label = ""
	}
	return list
}

// stack draws plots above each other, their data areas aligned.
func stack(c draw.Canvas, plots []*plot.Plot) {
	rows := make([][]*plot.Plot, len(plots))
	for i := range plots {
		rows[i] = []*plot.Plot{plots[i]}
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: 4}
	canvases := plot.Align(rows, tiles, c)
	for i := range plots {
		plots[i].Draw(canvases[i][0])
	}
}
