package machine

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// textWidth is the widest line of the drawing, in columns.
	textWidth = 100
	// mostDrawnCores is where the drawing turns to one summary per LLC.
	mostDrawnCores = 128
)

// writeText draws the machine: a box per node, in it a box per LLC, in that a
// box per core with its threads; large machines get a line or two per LLC.
func (m *Machine) writeText(w io.Writer) error {
	counts := m.Counts()
	return flushed(w, func(out *bufio.Writer) {
		lines := []string{m.displayName() + ": " + counts.String()}
		lines = append(lines, m.legend()...)
		lines = append(lines, "")
		for i := range m.Nodes {
			lines = append(lines, m.drawNode(i, counts.Cores <= mostDrawnCores)...)
		}
		lines = append(lines, m.drawDistances()...)
		for _, line := range lines {
			_, _ = out.WriteString(clip(line, textWidth) + "\n") // Flush reports it
		}
	})
}

// clip shortens a line to a number of columns.
func clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-3]) + "..."
}

// legend is what does not fit the drawing: caches, capacities, offline CPUs.
func (m *Machine) legend() []string {
	var lines []string
	y := yamlWriter{m: m}
	for _, group := range cacheGroups(m.Caches) {
		line := "  " + cacheName(group[0]) + ": " + strconv.Itoa(len(group))
		if each := y.each(group); each != "" {
			line += ", one per " + strings.Replace(each, "llc", "LLC", 1)
		}
		lines = append(lines, line)
	}
	slow := m.maskWhere(func(c *CPU) bool { return c.Capacity != fullCapacity })
	if !slow.Empty() {
		lines = append(lines, fmt.Sprintf("  CPU@capacity where it is not %d: CPUs %s", fullCapacity, slow))
	}
	if off := m.offline(); !off.Empty() {
		lines = append(lines, "  offline: CPUs "+off.String())
	}
	return lines
}

func (m *Machine) drawNode(node int, whole bool) []string {
	const inner = textWidth - 4
	var body []string
	for _, part := range m.llcParts(node) {
		if whole {
			body = append(body, drawBox(part.title(), inner, m.drawCores(part, inner-4))...)
			continue
		}
		body = append(body, m.summarise(part, inner)...)
	}
	return drawBox(m.nodeTitle(node), textWidth, body)
}

// drawBox puts a frame of the given width around lines.
func drawBox(title string, width int, body []string) []string {
	title = clip(title, width-6)
	top := "┌─ " + title + " " + strings.Repeat("─", width-5-utf8.RuneCountInString(title)) + "┐"
	lines := []string{top}
	for _, line := range body {
		lines = append(lines, "│ "+pad(clip(line, width-4), width-4)+" │")
	}
	return append(lines, "└"+strings.Repeat("─", width-2)+"┘")
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// drawCores draws the cores of an LLC in rows, those of each cluster apart.
func (m *Machine) drawCores(part *llcPart, width int) []string {
	cell := 0
	for _, core := range part.cores {
		cell = max(cell, len(coreTitle(core)), len(m.threadList(core)))
	}
	var lines []string
	for _, cluster := range byCluster(part.cores) {
		if cluster[0].cluster >= 0 {
			lines = append(lines, "cluster "+strconv.Itoa(cluster[0].cluster))
		}
		perRow := max(1, (width+1)/(cell+3)) // a cell, two borders and a gap
		for row := range slices.Chunk(cluster, perRow) {
			lines = append(lines, m.drawRow(row, cell)...)
		}
	}
	return lines
}

// byCluster groups cores by cluster, in order of the first core of each.
func byCluster(cores []corePart) [][]corePart {
	var groups [][]corePart
	index := make(map[int]int)
	for _, core := range cores {
		i, ok := index[core.cluster]
		if !ok {
			i = len(groups)
			index[core.cluster] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], core)
	}
	return groups
}

func coreTitle(c corePart) string { return "core " + strconv.Itoa(c.id) }

func (m *Machine) threadList(c corePart) string {
	titles := make([]string, len(c.threads))
	for i, cpu := range c.threads {
		titles[i] = m.threadTitle(cpu)
	}
	return strings.Join(titles, " ")
}

// drawRow draws cores side by side: a border with the core's number, and its
// threads.
func (m *Machine) drawRow(row []corePart, cell int) []string {
	var top, middle, bottom []string
	for _, core := range row {
		title := coreTitle(core)
		top = append(top, "┌"+title+strings.Repeat("─", cell-len(title))+"┐")
		middle = append(middle, "│"+pad(m.threadList(core), cell)+"│")
		bottom = append(bottom, "└"+strings.Repeat("─", cell)+"┘")
	}
	return []string{strings.Join(top, " "), strings.Join(middle, " "), strings.Join(bottom, " ")}
}

// summarise tells an LLC in one or two lines.
func (m *Machine) summarise(part *llcPart, width int) []string {
	cores := NewCPUMask(MaxCPUs)
	clusters := make(map[int]bool)
	threads := 0
	for _, core := range part.cores {
		cores.Set(core.id)
		threads = max(threads, len(core.threads))
		if core.cluster >= 0 {
			clusters[core.cluster] = true
		}
	}
	head := part.title() + titleSeparator + "cores " + cores.String()
	if len(clusters) > 0 {
		head += titleSeparator + plural(len(clusters), "cluster")
	}
	if threads == 1 {
		return []string{clip(head+titleSeparator+"CPUs "+part.cpus.String(), width)}
	}
	return []string{clip(head, width), "  threads " + siblings(part.cores, width-len("  threads "))}
}

// siblings lists "(0,48) (1,49) ... (23,71)" within a width.
func siblings(cores []corePart, width int) string {
	groups := make([]string, len(cores))
	for i, core := range cores {
		numbers := make([]string, len(core.threads))
		for k, cpu := range core.threads {
			numbers[k] = strconv.Itoa(cpu)
		}
		groups[i] = "(" + strings.Join(numbers, ",") + ")"
	}
	if whole := strings.Join(groups, " "); len(whole) <= width {
		return whole
	}
	last := groups[len(groups)-1]
	text := groups[0]
	for _, g := range groups[1:] {
		if len(text)+1+len(g)+len(" ... ")+len(last) > width {
			break
		}
		text += " " + g
	}
	return text + " ... " + last
}

// drawDistances prints the matrix, or where it is too wide for a line, the
// nodes at each distance.
func (m *Machine) drawDistances() []string {
	lines := []string{"", "distances"}
	cell := 2
	for i := range m.Nodes {
		cell = max(cell, len(strconv.Itoa(m.Nodes[i].ID)), len(strconv.Itoa(slices.Max(m.Nodes[i].Distance))))
	}
	const label = len("node 1023")
	if label+len(m.Nodes)*(cell+1) > textWidth {
		for i := range m.Nodes {
			lines = append(lines, m.distanceSummary(i))
		}
		return lines
	}
	head := strings.Repeat(" ", label)
	for i := range m.Nodes {
		head += fmt.Sprintf(" %*d", cell, m.Nodes[i].ID)
	}
	lines = append(lines, head)
	for i := range m.Nodes {
		line := pad("node "+strconv.Itoa(m.Nodes[i].ID), label)
		for _, d := range m.Nodes[i].Distance {
			line += fmt.Sprintf(" %*d", cell, d)
		}
		lines = append(lines, line)
	}
	return lines
}

// distanceSummary is "node 0: 10 to 0, 16 to 1-3, 32 to 4-63".
func (m *Machine) distanceSummary(node int) string {
	at := make(map[int]CPUMask)
	var distances []int
	for j, d := range m.Nodes[node].Distance {
		if at[d] == nil {
			at[d] = NewCPUMask(maxNodes)
			distances = append(distances, d)
		}
		at[d].Set(m.Nodes[j].ID)
	}
	slices.Sort(distances)
	parts := make([]string, len(distances))
	for i, d := range distances {
		parts[i] = fmt.Sprintf("%d to %s", d, at[d])
	}
	return fmt.Sprintf("node %d: %s", m.Nodes[node].ID, strings.Join(parts, ", "))
}
