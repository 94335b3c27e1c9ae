package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CPUStates are the states of CPUs over time, one panel per variant on one axis
// of time, and below them curves.
type CPUStates struct {
	Name, Title, Alt string
	States           []string // names; those of cells are indices
	Marked           string   // what a marked cell means
	Variants         []StateMap
	Below            Panel
}

// StateMap is one variant's panel. Cells are by CPU and slice of time.
type StateMap struct {
	Name   string
	Length float64 // seconds
	States [][]uint8
	Marks  [][]bool
}

// stateColours are those of the states: the first shows the page. Marked cells
// are hatched besides.
var (
	stateColours = []color.NRGBA{{}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}}
	markColour   = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
)

// Picture draws the panels, nil when there is none.
func (s *CPUStates) Picture() *Picture {
	right := 0.0
	for i := range s.Variants {
		right = math.Max(right, s.Variants[i].Length)
	}
	if right == 0 {
		return nil
	}
	var plots []*plot.Plot
	height := vg.Length(48)
	for i := range s.Variants {
		plots = append(plots, s.Variants[i].plot(right))
		height += 120
	}
	plots = append(plots, s.Below.plot(right, true))
	key := append(s.key(), curveKey(s.Below.Curves)...)
	return &Picture{Name: s.Name, Title: s.Title, Alt: s.Alt, width: width, height: height + 100, paint: func(c draw.Canvas) { stack(drawKey(c, key), plots) }}
}

func (s *CPUStates) key() []keyEntry {
	var key []keyEntry
	for i, name := range s.States {
		key = append(key, keyEntry{name, func(c *draw.Canvas, at vg.Point) { paintSwatch(c, at, uint8(i), false) }})
	}
	return append(key, keyEntry{s.Marked, func(c *draw.Canvas, at vg.Point) { paintSwatch(c, at, 0, true) }})
}

// paintSwatch draws a piece of a panel with a frame.
func paintSwatch(c *draw.Canvas, at vg.Point, state uint8, marked bool) {
	row := make([]uint8, 12)
	marks := make([]bool, len(row))
	for i := range row {
		row[i], marks[i] = state, marked
	}
	box := vg.Rectangle{Min: vg.Point{X: at.X - 6, Y: at.Y - 4}, Max: vg.Point{X: at.X + 6, Y: at.Y + 4}}
	c.DrawImage(box, raster([][]uint8{row}, [][]bool{marks}, 8))
	c.StrokeLines(line(ink.colour(), thin), []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min})
}

// rowsOfPixels is how high the raster of a panel is at least.
const rowsOfPixels = 120

func (m *StateMap) plot(right float64) *plot.Plot {
	p := newPlot("", "CPU")
	p.Title.Text = m.Name
	p.Title.TextStyle = textStyle(fontSize+1, ink.colour(), -0.5, -1)
	timeAxis(p, right, false)
	cpus := len(m.States)
	p.Y.Min, p.Y.Max, p.Y.Padding = 0, float64(cpus), 0
	p.Y.Tick.Marker = cpuTicks(cpus)
	img := raster(m.States, m.Marks, (rowsOfPixels+cpus-1)/cpus)
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(0), Y: y(0)}, Max: vg.Point{X: x(m.Length), Y: y(float64(cpus))}}, img)
	}))
	return p
}

// cpuTicks numbers the rows, CPU 0 at the top.
func cpuTicks(cpus int) plot.ConstantTicks {
	step := max(1, (cpus+7)/8)
	var list plot.ConstantTicks
	for cpu := 0; cpu < cpus; cpu += step {
		list = append(list, plot.Tick{Value: float64(cpus-cpu) - 0.5, Label: Count(cpu)})
	}
	return list
}

// raster paints cells one pixel wide and rows pixels high. A marked cell has
// the mark's colour in stripes.
func raster(states [][]uint8, marks [][]bool, rows int) image.Image {
	slices := 0
	for _, row := range states {
		slices = max(slices, len(row))
	}
	palette := color.Palette{}
	for _, c := range stateColours {
		palette = append(palette, c)
	}
	mark := uint8(len(palette))
	palette = append(palette, markColour)
	img := image.NewPaletted(image.Rect(0, 0, slices, rows*len(states)), palette)
	for cpu, row := range states {
		for slice, state := range row {
			for y := cpu * rows; y < (cpu+1)*rows; y++ {
				pixel := state
				if marks[cpu][slice] && (slice+y)%3 != 0 {
					pixel = mark
				}
				img.SetColorIndex(slice, y, pixel)
			}
		}
	}
	return img
}
