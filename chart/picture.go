package chart

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is a chart that can be written in several forms.
type Picture struct {
	Name  string // of its files, without extension
	Title string // one line
	Alt   string // what it shows, for those who cannot see it

	width, height vg.Length
	paint         func(c draw.Canvas)
}

// pngResolution is in dots per inch, twice what screens had for long.
const pngResolution = 144

// SVG returns the picture as a file of its own.
func (p *Picture) SVG() ([]byte, error) {
	raw, err := p.svg()
	if err != nil {
		return nil, err
	}
	title := "<title>" + html.EscapeString(p.Title) + "</title>\n<desc>" + html.EscapeString(p.Alt) + "</desc>\n" + p.background()
	return []byte(strings.Replace(compact(raw), ">\n", ">\n"+title, 1)), nil
}

func (p *Picture) background() string {
	return fmt.Sprintf(`<rect width="%g" height="%g" fill="#ffffff"/>`+"\n", p.width.Points(), p.height.Points())
}

// PNG returns the picture as pixels on white.
func (p *Picture) PNG() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(pngResolution))
	p.paint(draw.New(canvas))
	var out bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&out)
	return out.Bytes(), err
}

// Inline returns the picture as an svg element of a page. Its colours are the
// variables of [Variables].
func (p *Picture) Inline() (string, error) {
	raw, err := p.svg()
	if err != nil {
		return "", err
	}
	element := fmt.Sprintf(`<svg class="chart" role="img" tabindex="0" aria-label="%s" viewBox="0 0 %g %g" style="width:%.0fpx">`+"\n",
		html.EscapeString(p.Title+". "+p.Alt), p.width.Points(), p.height.Points(), p.width.Points()*4/3)
	return svgHead.ReplaceAllLiteralString(variableColours(compact(raw)), element), nil
}

func (p *Picture) svg() (string, error) {
	canvas := vgsvg.New(p.width, p.height)
	p.paint(draw.New(canvas))
	var out bytes.Buffer
	_, err := canvas.WriteTo(&out)
	return out.String(), err
}

var (
	svgHead   = regexp.MustCompile(`<svg [^>]*>\n`)
	preamble  = regexp.MustCompile(`(?s)^.*?<svg `)
	fontStyle = regexp.MustCompile(`\n\tstyle="font-family:[^;"]*;font-variant:[^;"]*;font-weight:([^;"]*);font-style:[^;"]*;font-size:([^;"]*)(;fill:#[0-9A-Fa-f]{6})?"`)
)

// compact says in fewer bytes what the library says at length.
func compact(svg string) string {
	svg = preamble.ReplaceAllLiteralString(svg, `<svg font-family="Liberation Sans, Arial, Helvetica, sans-serif" `)
	svg = fontStyle.ReplaceAllString(svg, ` style="font-size:$2;font-weight:$1$3"`)
	svg = strings.ReplaceAll(svg, ";font-weight:normal", "")
	svg = strings.ReplaceAll(svg, "\n\tstyle=", " style=")
	svg = strings.ReplaceAll(svg, "\n\txmlns", " xmlns")
	svg = strings.ReplaceAll(svg, "<image ", `<image preserveAspectRatio="none" `)
	return strings.ReplaceAll(svg, "data:image/jpg;", "data:image/png;")
}
