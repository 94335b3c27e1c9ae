package quota

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
)

// Measures of the picture, in SVG units.
const (
	cellWidth, cellHeight = 74, 26
	mapLeft, mapTop       = 190, 56
	legendHeight          = 64
)

// WriteSVG draws the 99th percentiles as a heat map: limits from left to right,
// periods, bursts and threads from top to bottom. Colours go by the logarithm of
// the latency; a frame marks what meets the target.
func (r *Report) WriteSVG(w io.Writer) error {
	var out bytes.Buffer
	series, limits := seriesOf(r.Points), r.limits()
	width, height := mapLeft+cellWidth*len(limits)+20, mapTop+cellHeight*len(series)+legendHeight
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	text(&out, 10, 18, "start", 13, "99th percentile of the latency by CPU limit")
	text(&out, 10, 34, "start", 11, r.Service)
	for i, cpus := range limits {
		text(&out, mapLeft+cellWidth*i+cellWidth/2, mapTop-6, "middle", 11, fmt.Sprintf("%.2f", cpus))
	}
	text(&out, mapLeft-8, mapTop-6, "end", 11, "CPUs")
	scale := r.scale()
	for row, points := range series {
		first := points[0]
		y := mapTop + cellHeight*row
		text(&out, mapLeft-8, y+17, "end", 11, fmt.Sprintf("%s, burst %d %%, %d thr.", ms(first.Limit.Period), first.burstPercent(), first.Threads))
		for _, p := range points {
			r.cell(&out, scale, p, mapLeft+cellWidth*columnOf(limits, p.CPUs()), y)
		}
	}
	r.legend(&out, scale, mapTop+cellHeight*len(series)+18)
	out.WriteString("</svg>\n")
	_, err := w.Write(out.Bytes())
	return err
}

func text(out *bytes.Buffer, x, y int, anchor string, size int, s string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, html.EscapeString(s))
}

func (r *Report) cell(out *bytes.Buffer, scale logScale, p *Point, x, y int) {
	part := scale.part(p.Percentile(99))
	frame := ""
	if r.Target > 0 && p.Meets(r.Target) {
		frame = ` stroke="#d55e00" stroke-width="2.5"`
	}
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"%s><title>%s</title></rect>`+"\n",
		x+1, y+1, cellWidth-3, cellHeight-3, heat(part), frame, html.EscapeString(r.hover(p)))
	ink := "#000000"
	if part < 0.35 {
		ink = "#ffffff"
	}
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n", x+cellWidth/2, y+17, ink, us(p.Percentile(99)))
}

// hover is what a viewer shows where the pointer rests.
func (r *Report) hover(p *Point) string {
	return fmt.Sprintf("%s: p50 %s, p99 %s, p99.9 %s; %.1f requests/s; throttled in %d of %d periods; used %.2f CPUs, wasted %.2f",
		p.describe(), us(p.Percentile(50)), us(p.Percentile(99)), us(p.Percentile(99.9)), p.Throughput, p.Stat.Throttled, p.Stat.Periods, p.Used, p.Wasted())
}

func (r *Report) legend(out *bytes.Buffer, scale logScale, y int) {
	const steps = 10
	for i := range steps + 1 {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="22" height="12" fill="%s"/>`+"\n", mapLeft+22*i, y, heat(float64(i)/steps))
	}
	text(out, mapLeft, y+26, "start", 10, us(scale.least))
	text(out, mapLeft+22*(steps+1), y+26, "end", 10, us(scale.most))
	if r.Target > 0 {
		text(out, 10, y+10, "start", 11, "framed: p99 within "+r.Target.String())
	}
}

// limits are the CPUs of all points, ascending.
func (r *Report) limits() []float64 {
	var limits []float64
	for i := range r.Points {
		if c := r.Points[i].CPUs(); columnOf(limits, c) < 0 {
			at := 0
			for at < len(limits) && limits[at] < c {
				at++
			}
			limits = append(limits[:at], append([]float64{c}, limits[at:]...)...)
		}
	}
	return limits
}

// columnOf finds a limit; short periods round it to whole microseconds.
func columnOf(limits []float64, cpus float64) int {
	for i, l := range limits {
		if math.Abs(l-cpus) < 0.005*l {
			return i
		}
	}
	return -1
}

// logScale maps latencies in us to 0 to 1.
type logScale struct{ least, most int64 }

func (r *Report) scale() logScale {
	s := logScale{least: math.MaxInt64, most: 1}
	for i := range r.Points {
		p99 := max(1, r.Points[i].Percentile(99))
		s.least, s.most = min(s.least, p99), max(s.most, p99)
	}
	return s
}

func (s logScale) part(us int64) float64 {
	if s.most <= s.least {
		return 0
	}
	return math.Log(float64(max(1, us))/float64(s.least)) / math.Log(float64(s.most)/float64(s.least))
}

// heatColours are eight colours of cividis from dark blue to yellow: they differ
// in brightness too, for colour-blind readers and grey prints.
var heatColours = [][3]float64{
	{0, 34, 78}, {35, 62, 108}, {87, 93, 109}, {112, 113, 115}, {138, 134, 120}, {165, 156, 116}, {195, 179, 105}, {254, 232, 56},
}

// heat is the colour of a part of the scale; slow is bright.
func heat(part float64) string {
	at := math.Max(0, math.Min(1, part)) * float64(len(heatColours)-1)
	low := min(int(at), len(heatColours)-2)
	f := at - float64(low)
	var rgb [3]int
	for i := range rgb {
		rgb[i] = int(math.Round(heatColours[low][i]*(1-f) + heatColours[low+1][i]*f))
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}
