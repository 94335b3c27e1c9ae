package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// outlines of the series' marks: the corners of each, on a circle around it.
var outlines = []struct {
	corners int
	turn    float64 // of the first corner, in parts of a circle
	size    float64 // so that all look equally large
}{
	{12, 0, 0.92},     // round
	{4, 0.125, 1.1},   // square
	{3, 0.25, 1.25},   // triangle, point up
	{4, 0, 1.15},      // diamond
	{3, 0.75, 1.25},   // triangle, point down
	{6, 0.25, 1},      // hexagon
	{4, 0.0625, 1.15}, // tilted square
	{3, 0, 1.25},      // triangle, point right
}

// coarse is the size below which nobody sees more than six corners.
const coarse = 2

// addMark adds the outline of a series' mark to a path.
func addMark(path *vg.Path, series int, at vg.Point, size vg.Length) {
	o := outlines[series%len(outlines)]
	if size < coarse {
		o.corners = min(o.corners, 6)
	}
	radius := float64(size) * o.size
	for i := range o.corners {
		angle := 2 * math.Pi * (o.turn + float64(i)/float64(o.corners))
		corner := vg.Point{X: tenth(at.X + vg.Length(radius*math.Cos(angle))), Y: tenth(at.Y + vg.Length(radius*math.Sin(angle)))}
		if i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
}

// tenth rounds to a tenth of a point, which is finer than a pixel: fewer digits.
func tenth(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l)*10) / 10) }

// paintMark draws one mark; hollow ones are filled with paper.
func paintMark(c *draw.Canvas, series int, at vg.Point, size vg.Length, hollow bool) {
	var path vg.Path
	addMark(&path, series, at, size)
	if hollow {
		c.SetColor(paper.colour())
	} else {
		c.SetColor(colourOf(series))
	}
	c.Fill(path)
	c.SetLineStyle(line(colourOf(series), strong))
	c.Stroke(path)
}

// whisker draws an interval with its ends.
func whisker(c *draw.Canvas, style draw.LineStyle, x, low, high vg.Length) {
	const end = 2.5
	c.SetLineStyle(style)
	var path vg.Path
	path.Move(vg.Point{X: tenth(x), Y: tenth(low)})
	path.Line(vg.Point{X: tenth(x), Y: tenth(high)})
	for _, y := range []vg.Length{low, high} {
		path.Move(vg.Point{X: tenth(x - end), Y: tenth(y)})
		path.Line(vg.Point{X: tenth(x + end), Y: tenth(y)})
	}
	c.Stroke(path)
}
