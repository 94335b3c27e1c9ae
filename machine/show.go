package machine

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Formats are the names that [Machine.Write] knows.
func Formats() []string { return []string{"text", "json", "csv", "yaml", "svg"} }

// Write writes m as text (a drawing of at most 100 columns), json, csv (a line
// per CPU), yaml (see [Load]) or svg. The bytes depend on m alone. Errors are
// an unknown format and those of w.
func (m *Machine) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return m.writeText(w)
	case "json":
		return m.writeJSON(w)
	case "csv":
		return m.writeCSV(w)
	case "yaml":
		return m.WriteYAML(w)
	case "svg":
		return m.writeSVG(w)
	}
	return fmt.Errorf("format %q: use one of %s", abbreviate(format), strings.Join(Formats(), ", "))
}

// The JSON form spells CPU sets as lists and leaves out what is unknown.
type (
	jsonMachine struct {
		Name   string      `json:"name"`
		Counts jsonCounts  `json:"counts"`
		Nodes  []jsonNode  `json:"nodes"`
		CPUs   []jsonCPU   `json:"cpus"`
		Caches []jsonCache `json:"caches"`
	}
	jsonCounts struct {
		Packages int `json:"packages"`
		Nodes    int `json:"nodes"`
		LLCs     int `json:"llcs"`
		Clusters int `json:"clusters"`
		Cores    int `json:"cores"`
		CPUs     int `json:"cpus"`
	}
	jsonNode struct {
		ID       int    `json:"id"`
		CPUs     string `json:"cpus"`
		Distance []int  `json:"distance"`
	}
	jsonCPU struct {
		CPU      int  `json:"cpu"`
		Online   bool `json:"online"`
		Core     *int `json:"core,omitempty"`
		Cluster  *int `json:"cluster,omitempty"`
		LLC      *int `json:"llc,omitempty"`
		Package  *int `json:"package,omitempty"`
		Node     *int `json:"node,omitempty"` // the node's ID
		Capacity int  `json:"capacity,omitempty"`
	}
	jsonCache struct {
		Level int    `json:"level"`
		Type  string `json:"type,omitempty"`
		Size  int64  `json:"size,omitempty"` // bytes
		CPUs  string `json:"cpus"`
	}
)

func (m *Machine) writeJSON(w io.Writer) error {
	out := jsonMachine{Name: m.Name, Counts: jsonCounts(m.Counts()), CPUs: []jsonCPU{}, Caches: []jsonCache{}}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		out.Nodes = append(out.Nodes, jsonNode{n.ID, n.CPUs.String(), n.Distance})
	}
	for i := range m.CPUs {
		out.CPUs = append(out.CPUs, m.jsonCPU(i))
	}
	for _, c := range m.Caches {
		out.Caches = append(out.Caches, jsonCache{c.Level, c.Type, c.Size, c.CPUs.String()})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(out)
}

func (m *Machine) jsonCPU(cpu int) jsonCPU {
	c := &m.CPUs[cpu]
	out := jsonCPU{
		CPU: cpu, Online: c.Online, Core: known(c.Core), Cluster: known(c.Cluster),
		LLC: known(c.LLC), Package: known(c.Package), Capacity: c.Capacity,
	}
	if c.Online {
		out.Node = known(m.Nodes[c.Node].ID)
	}
	return out
}

// known returns nil for an index that is not there.
func known(index int) *int {
	if index < 0 {
		return nil
	}
	return &index
}

func (m *Machine) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"cpu", "online", "core", "cluster", "llc", "package", "node", "capacity"}}
	for i := range m.CPUs {
		records = append(records, m.csvRecord(i))
	}
	return out.WriteAll(records)
}

func (m *Machine) csvRecord(cpu int) []string {
	c := &m.CPUs[cpu]
	if !c.Online {
		return []string{strconv.Itoa(cpu), "0", "", "", "", "", "", ""}
	}
	record := []string{strconv.Itoa(cpu), "1"}
	for _, index := range []int{c.Core, c.Cluster, c.LLC, c.Package, m.Nodes[c.Node].ID, c.Capacity} {
		if index < 0 {
			record = append(record, "")
			continue
		}
		record = append(record, strconv.Itoa(index))
	}
	return record
}

// offline returns the CPU numbers that are not online.
func (m *Machine) offline() CPUMask {
	mask := NewCPUMask(len(m.CPUs))
	for i := range m.CPUs {
		if !m.CPUs[i].Online {
			mask.Set(i)
		}
	}
	return mask
}

// displayName is the name without anything that would move a cursor.
func (m *Machine) displayName() string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(m.Name, "?"))
}

// humanSize writes bytes for people: "32 KiB", "35.75 MiB".
func humanSize(n int64) string {
	switch {
	case n >= mib:
		return trimZeros(float64(n)/mib) + " MiB"
	case n >= kib:
		return trimZeros(float64(n)/kib) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

func trimZeros(v float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// cacheName is "L3 25 MiB" or "L1 Data 32 KiB".
func cacheName(c Cache) string {
	name := "L" + strconv.Itoa(c.Level)
	if c.Type != "" && c.Type != cacheUnified {
		name += " " + c.Type
	}
	if c.Size > 0 {
		name += " " + humanSize(c.Size)
	}
	return name
}

// llcPart is one LLC inside a node, as it is drawn: in the order of cores.
type llcPart struct {
	id       int // -1: CPUs with no LLC known
	cache    string
	packages []int
	cores    []corePart
	cpus     CPUMask
}

// corePart is one core: its number, cluster (-1: none) and threads.
type corePart struct {
	id, cluster int
	threads     []int
}

// llcParts returns the LLCs of a node by lowest CPU.
func (m *Machine) llcParts(node int) []*llcPart {
	var parts []*llcPart
	byLLC := make(map[int]*llcPart)
	coreAt := make(map[int]int)
	cpus := m.Nodes[node].CPUs
	for cpu := cpus.First(); cpu >= 0; cpu = cpus.Next(cpu + 1) {
		c := &m.CPUs[cpu]
		part, ok := byLLC[c.LLC]
		if !ok {
			part = &llcPart{id: c.LLC, cpus: NewCPUMask(len(m.CPUs))}
			byLLC[c.LLC] = part
			parts = append(parts, part)
		}
		part.add(cpu, c, coreAt)
	}
	for _, part := range parts {
		part.cache = m.llcCache(part.cpus.First())
	}
	return parts
}

func (p *llcPart) add(cpu int, c *CPU, coreAt map[int]int) {
	p.cpus.Set(cpu)
	if n := len(p.packages); n == 0 || p.packages[n-1] != c.Package {
		p.packages = append(p.packages, c.Package)
	}
	at, ok := coreAt[c.Core]
	if !ok {
		at = len(p.cores)
		coreAt[c.Core] = at
		p.cores = append(p.cores, corePart{id: c.Core, cluster: c.Cluster})
	}
	p.cores[at].threads = append(p.cores[at].threads, cpu)
}

// llcCache names the highest cache of a CPU, "" when none is known.
func (m *Machine) llcCache(cpu int) string {
	for i := len(m.Caches) - 1; i >= 0; i-- {
		if c := m.Caches[i]; c.Type != cacheInstruction && c.CPUs.Has(cpu) {
			return cacheName(c)
		}
	}
	return ""
}

// title is "LLC 0 · L3 25 MiB · package 0".
func (p *llcPart) title() string {
	parts := []string{"no LLC known"}
	if p.id >= 0 {
		parts = []string{"LLC " + strconv.Itoa(p.id)}
	}
	if p.cache != "" {
		parts = append(parts, p.cache)
	}
	return strings.Join(append(parts, packageTitle(p.packages)), titleSeparator)
}

func packageTitle(ids []int) string {
	if len(ids) == 1 {
		return "package " + strconv.Itoa(ids[0])
	}
	set := NewCPUMask(MaxCPUs)
	for _, id := range ids {
		set.Set(id)
	}
	return "packages " + set.String()
}

const titleSeparator = " · "

// nodeTitle is "node 0 · CPUs 0-9,20-29".
func (m *Machine) nodeTitle(node int) string {
	n := &m.Nodes[node]
	title := "node " + strconv.Itoa(n.ID)
	if n.CPUs.Empty() {
		return title + titleSeparator + "memory only"
	}
	return title + titleSeparator + "CPUs " + n.CPUs.String()
}

// threadTitle is a CPU's number, with its capacity when that is not full.
func (m *Machine) threadTitle(cpu int) string {
	if c := m.CPUs[cpu].Capacity; c != fullCapacity {
		return fmt.Sprintf("%d@%d", cpu, c)
	}
	return strconv.Itoa(cpu)
}

// flushed runs a writer that cannot fail before the end.
func flushed(w io.Writer, write func(*bufio.Writer)) error {
	out := bufio.NewWriter(w)
	write(out)
	return out.Flush()
}
