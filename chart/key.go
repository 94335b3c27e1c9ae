package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// keyEntry is a name of the key with what it looks like.
type keyEntry struct {
	name  string
	paint func(c *draw.Canvas, at vg.Point)
}

const (
	keyLine   vg.Length = 15 // height of a line of the key
	keySample vg.Length = 20 // width of what stands before a name
)

// drawKey writes the key at the upper edge, in as many lines as it takes, and
// returns what is left of the canvas.
func drawKey(c draw.Canvas, entries []keyEntry) draw.Canvas {
	style := textStyle(fontSize, ink.colour(), 0, -0.5)
	x, y := c.Min.X+4, c.Max.Y-keyLine/2
	for _, e := range entries {
		room := keySample + style.Width(e.name) + 12
		if x+room > c.Max.X && x > c.Min.X+4 {
			x, y = c.Min.X+4, y-keyLine
		}
		e.paint(&c, vg.Point{X: x + keySample/2 - 2, Y: y})
		c.FillText(style, vg.Point{X: tenth(x + keySample), Y: tenth(y)}, e.name)
		x += room
	}
	if len(entries) == 0 {
		y = c.Max.Y
	}
	return draw.Crop(c, 2, -12, 2, y-keyLine/2-2-c.Max.Y)
}

func markEntry(name string, series int, hollow bool) keyEntry {
	return keyEntry{name, func(c *draw.Canvas, at vg.Point) { paintMark(c, series, at, markSize, hollow) }}
}

func lineEntry(name string, series int) keyEntry {
	return keyEntry{name, func(c *draw.Canvas, at vg.Point) {
		c.StrokeLine2(seriesLine(series), at.X-keySample/2+2, at.Y, at.X+keySample/2-2, at.Y)
	}}
}

func seriesLine(series int) draw.LineStyle {
	style := line(colourOf(series), strong)
	style.Dashes = dashes[series%len(dashes)]
	return style
}
