package machine

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Sizes in the drawing, in SVG user units.
const (
	svgGap       = 6
	svgTitle     = 16
	svgCharWidth = 7 // of the 11-unit monospace font, rounded up
	svgThread    = 20
)

// svgBox is a rectangle with a title and, inside, others in rows.
type svgBox struct {
	class         string
	title         string
	inside        []*svgBox
	perRow        int
	width, height int
}

// measure sets the sizes of a box and of all inside it.
func (b *svgBox) measure() {
	titleWidth := len(b.title)*svgCharWidth + 2*svgGap
	if len(b.inside) == 0 {
		b.width, b.height = titleWidth, svgThread
		return
	}
	b.height = svgTitle
	for start := 0; start < len(b.inside); start += b.perRow {
		width, height := svgGap, 0
		for _, child := range b.row(start) {
			child.measure()
			width += child.width + svgGap
			height = max(height, child.height)
		}
		b.width = max(b.width, width)
		b.height += svgGap + height
	}
	b.height += svgGap
	b.width = max(b.width, titleWidth)
}

func (b *svgBox) row(start int) []*svgBox {
	return b.inside[start:min(start+b.perRow, len(b.inside))]
}

// draw writes a measured box with its upper left corner at x, y.
func (b *svgBox) draw(out io.Writer, x, y int) {
	svgf(out, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, b.class, x, y, b.width, b.height)
	svgf(out, `<text x="%d" y="%d">%s</text>`, x+svgGap, y+svgTitle-3, escapeXML(b.title))
	top := y + svgTitle
	for start := 0; start < len(b.inside); start += b.perRow {
		left, height := x+svgGap, 0
		for _, child := range b.row(start) {
			child.draw(out, left, top+svgGap)
			left += child.width + svgGap
			height = max(height, child.height)
		}
		top += svgGap + height
	}
}

func svgf(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(out, format+"\n", args...) // the buffer reports it at the end
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}

// writeSVG draws the machine without colour: nodes, LLCs, cores and threads as
// nested boxes, then the distance matrix.
func (m *Machine) writeSVG(w io.Writer) error {
	whole := m.svgMachine()
	whole.measure()
	table := m.svgDistances()
	width := max(whole.width, longest(table)*svgCharWidth) + 2*svgGap
	height := whole.height + 3*svgGap + len(table)*svgTitle
	return flushed(w, func(out *bufio.Writer) {
		svgf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`, width, height, width, height)
		svgf(out, `<style>text{font:11px monospace;white-space:pre}rect{stroke:#000;fill:#fff}.node{fill:#eee}.llc{fill:#fff}.core{fill:#ddd}</style>`)
		whole.draw(out, svgGap, svgGap)
		for i, line := range table {
			svgf(out, `<text x="%d" y="%d">%s</text>`, svgGap, whole.height+2*svgGap+(i+1)*svgTitle, escapeXML(line))
		}
		svgf(out, `</svg>`)
	})
}

func longest(lines []string) int {
	n := 0
	for _, line := range lines {
		n = max(n, len(line))
	}
	return n
}

func (m *Machine) svgMachine() *svgBox {
	whole := &svgBox{class: "machine", title: m.displayName() + ": " + m.Counts().String(), perRow: squareRow(len(m.Nodes))}
	if off := m.offline(); !off.Empty() {
		whole.title += "; offline: " + off.String()
	}
	for i := range m.Nodes {
		parts := m.llcParts(i)
		node := &svgBox{class: "node", title: m.nodeTitle(i), perRow: squareRow(len(parts))}
		for _, part := range parts {
			node.inside = append(node.inside, m.svgLLC(part))
		}
		whole.inside = append(whole.inside, node)
	}
	return whole
}

// squareRow is the length of a row that makes n things about a square.
func squareRow(n int) int {
	row := 1
	for row*row < n {
		row++
	}
	return row
}

func (m *Machine) svgLLC(part *llcPart) *svgBox {
	llc := &svgBox{class: "llc", title: part.title(), perRow: squareRow(len(part.cores))}
	for _, cluster := range byCluster(part.cores) {
		into := llc
		if id := cluster[0].cluster; id >= 0 {
			into = &svgBox{class: "cluster", title: "cluster " + strconv.Itoa(id), perRow: squareRow(len(cluster))}
			llc.inside = append(llc.inside, into)
		}
		for _, core := range cluster {
			into.inside = append(into.inside, m.svgCore(core))
		}
	}
	return llc
}

func (m *Machine) svgCore(c corePart) *svgBox {
	core := &svgBox{class: "core", title: coreTitle(c), perRow: len(c.threads)}
	for _, cpu := range c.threads {
		core.inside = append(core.inside, &svgBox{class: "thread", title: m.threadTitle(cpu)})
	}
	return core
}

// svgDistances is the matrix as lines of text, of any width.
func (m *Machine) svgDistances() []string {
	head := "distances"
	for i := range m.Nodes {
		head += fmt.Sprintf(" %4d", m.Nodes[i].ID)
	}
	lines := []string{head}
	for i := range m.Nodes {
		line := fmt.Sprintf("node %-4d", m.Nodes[i].ID)
		for _, d := range m.Nodes[i].Distance {
			line += fmt.Sprintf(" %4d", d)
		}
		lines = append(lines, line)
	}
	return lines
}
