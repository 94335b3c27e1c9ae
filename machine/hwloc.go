package machine

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// hwlocObject is one <object> on the way down to the processing units.
type hwlocObject struct {
	typ      string // as of version 2: "Package", never "Socket"
	osIndex  int    // -1 when not given
	cpus     CPUMask
	nodes    CPUMask // complete_nodeset: also nodes that a cpuset hides
	level    int     // of a cache
	cacheTyp string
	size     int64
	subtype  string
	line     int
}

// hwlocReader collects what an hwloc XML export says. hwloc's tree is about
// locality: a NUMANode object's cpuset are the CPUs near it, so a CPU may be in
// several; Linux has it in one.
type hwlocReader struct {
	dec       *xml.Decoder
	objects   []hwlocObject // open ones, outermost first
	puLine    map[int]int
	online    CPUMask // from version 1's online_cpuset, nil when not given
	nodes     []hwlocObject
	groups    map[string][]hwlocObject // Core, Package, Cluster
	caches    []hwlocObject
	homes     []hwlocObject // objects whose complete_nodeset names one node
	allNodes  CPUMask
	cpus      CPUMask
	complete  CPUMask
	distances []hwlocDistances
	kinds     []hwlocKind
}

// hwlocDistances is one matrix: of NUMA nodes, by os_index or in order of
// appearance.
type hwlocDistances struct {
	indexes []int // nil: in order of appearance
	values  []int
	line    int
}

// hwlocKind is a <cpukind>: CPUs alike, with the kernel's capacity if known.
type hwlocKind struct {
	cpus     CPUMask
	capacity int
}

// parseHwloc reads an export of hwloc 1, 2 or 3.
func parseHwloc(data []byte) (*draft, error) {
	r := &hwlocReader{
		dec:      xml.NewDecoder(bytes.NewReader(data)),
		puLine:   make(map[int]int),
		groups:   make(map[string][]hwlocObject),
		allNodes: NewCPUMask(MaxCPUs),
		cpus:     NewCPUMask(MaxCPUs),
	}
	r.dec.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		return in, nil // old exports say ISO-8859-1; names of boards are all it changes
	}
	if err := r.readAll(); err != nil {
		return nil, err
	}
	return r.draft()
}

func (r *hwlocReader) line() int {
	line, _ := r.dec.InputPos()
	return line
}

func (r *hwlocReader) readAll() error {
	sawTopology := false
	for {
		token, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return atLine(r.line(), "%w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "topology" {
				sawTopology = true
			}
			if err := r.start(t); err != nil {
				return err
			}
		case xml.EndElement:
			if t.Name.Local == "object" {
				r.objects = r.objects[:len(r.objects)-1]
			}
		}
	}
	if !sawTopology {
		return errors.New("XML without a <topology> element: not an hwloc export (lstopo --of xml)")
	}
	return nil
}

func (r *hwlocReader) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "object":
		return r.startObject(t)
	case "distances2":
		return r.readDistances2(t)
	case "distances":
		return r.readDistances1(t)
	case "cpukind":
		return r.readCPUKind(t)
	}
	return nil
}

func attribute(t xml.StartElement, name string) (string, bool) {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

func (r *hwlocReader) intAttribute(t xml.StartElement, name string, fallback int) (int, error) {
	text, ok := attribute(t, name)
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, atLine(r.line(), "%s=%q is not a number", name, abbreviate(text))
	}
	return n, nil
}

// setAttribute reads a cpuset or nodeset; nil when it is not given.
func (r *hwlocReader) setAttribute(t xml.StartElement, name string) (CPUMask, error) {
	text, ok := attribute(t, name)
	if !ok {
		return nil, nil
	}
	m, err := parseHexMask(text, MaxCPUs)
	if err != nil {
		return nil, atLine(r.line(), "%s: %w", name, err)
	}
	return m, nil
}

func (r *hwlocReader) startObject(t xml.StartElement) error {
	o, err := r.newObject(t)
	if err != nil {
		return err
	}
	r.objects = append(r.objects, o)
	if err := r.fileObject(t, o); err != nil {
		return err
	}
	if n := o.nodes; n != nil && o.cpus != nil && n.Count() == 1 {
		r.homes = append(r.homes, o)
	}
	return nil
}

func (r *hwlocReader) newObject(t xml.StartElement) (hwlocObject, error) {
	o := hwlocObject{line: r.line()}
	typ, _ := attribute(t, "type")
	o.subtype, _ = attribute(t, "subtype")
	o.typ = hwlocTypeToday(typ)
	var err error
	if o.osIndex, err = r.intAttribute(t, "os_index", unknown); err != nil {
		return o, err
	}
	if o.cpus, err = r.setAttribute(t, "cpuset"); err != nil {
		return o, err
	}
	if o.nodes, err = r.setAttribute(t, "complete_nodeset"); err != nil {
		return o, err
	}
	return o, nil
}

// hwlocTypeToday maps the names of version 1.
func hwlocTypeToday(typ string) string {
	switch typ {
	case "Socket":
		return "Package"
	case "Node":
		return "NUMANode"
	}
	return typ
}

// fileObject remembers the objects that say something about scheduling.
func (r *hwlocReader) fileObject(t xml.StartElement, o hwlocObject) error {
	switch {
	case o.typ == "Machine" && len(r.objects) == 1:
		return r.fileMachine(t, o)
	case o.typ == "PU":
		return r.filePU(o)
	case o.typ == "NUMANode":
		return r.fileNode(o)
	case o.typ == "Core", o.typ == "Package":
		r.groups[o.typ] = append(r.groups[o.typ], o)
	case o.typ == "Group" && o.subtype == "Cluster":
		r.groups["Cluster"] = append(r.groups["Cluster"], o)
	case strings.HasSuffix(o.typ, "Cache"):
		return r.fileCache(t, o)
	}
	return nil
}

func (r *hwlocReader) fileMachine(t xml.StartElement, o hwlocObject) (err error) {
	if o.nodes != nil {
		r.allNodes.Or(o.nodes)
	}
	if r.complete, err = r.setAttribute(t, "complete_cpuset"); err != nil {
		return err
	}
	r.online, err = r.setAttribute(t, "online_cpuset")
	return err
}

func (r *hwlocReader) filePU(o hwlocObject) error {
	if o.osIndex < 0 || o.osIndex >= MaxCPUs {
		return atLine(o.line, "PU with os_index %d: a CPU number of 0 to %d is needed", o.osIndex, MaxCPUs-1)
	}
	if before, twice := r.puLine[o.osIndex]; twice {
		return atLine(o.line, "PU %d is there twice, first in line %d", o.osIndex, before)
	}
	r.puLine[o.osIndex] = o.line
	r.cpus.Set(o.osIndex)
	return nil
}

func (r *hwlocReader) fileNode(o hwlocObject) error {
	if o.osIndex < 0 || o.osIndex >= maxNodes {
		return atLine(o.line, "NUMANode with os_index %d: a node number of 0 to %d is needed", o.osIndex, maxNodes-1)
	}
	for _, other := range r.nodes {
		if other.osIndex == o.osIndex {
			return atLine(o.line, "NUMANode %d is there twice, first in line %d", o.osIndex, other.line)
		}
	}
	r.nodes = append(r.nodes, o)
	return nil
}

// hwlocCacheTypes are the values of cache_type.
var hwlocCacheTypes = []string{cacheUnified, cacheData, cacheInstruction}

func (r *hwlocReader) fileCache(t xml.StartElement, o hwlocObject) error {
	level, err := r.intAttribute(t, "depth", 0)
	if err != nil {
		return err
	}
	if level < 1 || level > maxCacheLevel {
		return atLine(o.line, "%s of depth %d: a cache level of 1 to %d is needed", o.typ, level, maxCacheLevel)
	}
	typ, err := r.intAttribute(t, "cache_type", 0)
	if err != nil {
		return err
	}
	if typ < 0 || typ >= len(hwlocCacheTypes) {
		return atLine(o.line, "cache_type %d is not 0 (unified), 1 (data) or 2 (instruction)", typ)
	}
	size, err := r.intAttribute(t, "cache_size", 0)
	if err != nil {
		return err
	}
	if size < 0 || size > maxCacheSize {
		return atLine(o.line, "cache_size %d is not the size of a cache", size)
	}
	o.level, o.cacheTyp, o.size = level, hwlocCacheTypes[typ], int64(size)
	r.caches = append(r.caches, o)
	return nil
}

// Bits of the kind of a distance matrix (hwloc/distances.h).
const (
	hwlocFromOS       = 1 << 0
	hwlocMeansLatency = 1 << 2
)

// readDistances2 reads a matrix of version 2 or 3. Only the kernel's latencies
// between NUMA nodes count, not bandwidths nor what a benchmark measured.
func (r *hwlocReader) readDistances2(t xml.StartElement) error {
	var body struct {
		Indexes []string `xml:"indexes"`
		Values  []string `xml:"u64values"`
	}
	line := r.line()
	if err := r.dec.DecodeElement(&body, &t); err != nil {
		return atLine(r.line(), "%w", err)
	}
	const wanted = hwlocFromOS | hwlocMeansLatency
	kind, err := r.intAttribute(t, "kind", wanted)
	if err != nil {
		return err
	}
	typ, _ := attribute(t, "type")
	indexing, _ := attribute(t, "indexing")
	if hwlocTypeToday(typ) != "NUMANode" || kind&wanted != wanted || indexing != "os" {
		return nil
	}
	d := hwlocDistances{line: line}
	if d.indexes, err = decimals(body.Indexes, maxNodes-1); err != nil {
		return atLine(line, "distances: indexes: %w", err)
	}
	if d.values, err = decimals(body.Values, maxDistance); err != nil {
		return atLine(line, "distances: %w", err)
	}
	r.distances = append(r.distances, d)
	return nil
}

// decimals reads white-space separated numbers of 0 to most.
func decimals(texts []string, most int) ([]int, error) {
	out := []int{}
	for _, text := range texts {
		for field := range strings.FieldsSeq(text) {
			n, err := parseDecimal(field)
			if err != nil || n > most {
				return nil, fmt.Errorf("%q is not a number of 0 to %d", abbreviate(field), most)
			}
			out = append(out, n)
		}
	}
	return out, nil
}

// readDistances1 reads a matrix of version 1: values relative to latency_base,
// for the objects of one depth in order of appearance.
func (r *hwlocReader) readDistances1(t xml.StartElement) error {
	var body struct {
		Latency []struct {
			Value float64 `xml:"value,attr"`
		} `xml:"latency"`
	}
	line := r.line()
	if err := r.dec.DecodeElement(&body, &t); err != nil {
		return atLine(r.line(), "%w", err)
	}
	baseText, ok := attribute(t, "latency_base")
	if !ok {
		baseText = "1"
	}
	base, err := strconv.ParseFloat(baseText, 64)
	if err != nil {
		return atLine(line, "latency_base=%q is not a number", abbreviate(baseText))
	}
	d := hwlocDistances{line: line}
	for _, l := range body.Latency {
		v := l.Value*base + 0.5
		if !(v >= 1 && v < maxDistance+1) {
			return atLine(line, "latency %g times %g is not a distance of 1 to %d", l.Value, base, maxDistance)
		}
		d.values = append(d.values, int(v))
	}
	r.distances = append(r.distances, d)
	return nil
}

func (r *hwlocReader) readCPUKind(t xml.StartElement) error {
	var body struct {
		Info []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"info"`
	}
	line := r.line()
	if err := r.dec.DecodeElement(&body, &t); err != nil {
		return atLine(r.line(), "%w", err)
	}
	k := hwlocKind{}
	var err error
	if k.cpus, err = r.setAttribute(t, "cpuset"); err != nil {
		return err
	}
	for _, info := range body.Info {
		if info.Name != "LinuxCapacity" {
			continue
		}
		k.capacity, err = parseDecimal(info.Value)
		if err != nil || k.capacity < 1 || k.capacity > maxRawCapacity {
			return atLine(line, "LinuxCapacity %q is not a capacity", abbreviate(info.Value))
		}
	}
	if k.cpus != nil {
		r.kinds = append(r.kinds, k)
	}
	return nil
}

// draft turns the collected objects into a machine.
func (r *hwlocReader) draft() (*draft, error) {
	if r.cpus.Empty() {
		return nil, errors.New("no PU object: the export names no CPU")
	}
	slots := 0
	for cpu := r.cpus.First(); cpu >= 0; cpu = r.cpus.Next(cpu + 1) {
		slots = cpu + 1
	}
	d := newDraft("", slots)
	d.online.CopyFrom(r.cpus)
	if r.online != nil {
		d.online.And(r.online[:len(d.online)])
	}
	r.noteAbsent(d)
	r.label(d.core, "Core")
	r.label(d.pkg, "Package")
	r.label(d.cluster, "Cluster")
	for _, c := range r.caches {
		if c.cpus != nil {
			d.caches = append(d.caches, Cache{c.level, c.cacheTyp, c.size, c.cpus[:len(d.online)]})
		}
	}
	r.placeInNodes(d)
	if err := r.fillDistances(d); err != nil {
		return nil, err
	}
	r.fillCapacities(d)
	return d, nil
}

// noteAbsent names CPUs that the machine has but the export leaves out; hwloc
// does that with offline CPUs and with those outside the caller's cpuset.
func (r *hwlocReader) noteAbsent(d *draft) {
	if r.complete == nil {
		return
	}
	absent := r.complete.Clone()
	absent[:len(d.online)].AndNot(d.online)
	if !absent.Empty() {
		d.note("CPUs %s are offline or outside the cpuset of the export, which does not say which: taken as offline", absent)
	}
}

// label gives the CPUs of each object of a type a label, the objects found
// first winning.
func (r *hwlocReader) label(labels []int, typ string) {
	for i, o := range r.groups[typ] {
		for cpu := o.cpus.First(); cpu >= 0 && cpu < len(labels); cpu = o.cpus.Next(cpu + 1) {
			if labels[cpu] == unknown {
				labels[cpu] = i
			}
		}
	}
}

// placeInNodes puts a CPU into the node object with the fewest CPUs around it,
// of equal ones the lowest: hwloc attaches memory without CPUs (HBM, CXL) to
// the CPUs near it, while Linux keeps the CPUs in the node of their DRAM, the
// lower number. Where a cpuset hides a node's object, its number is still in
// the complete_nodeset of the objects inside it.
func (r *hwlocReader) placeInNodes(d *draft) {
	d.nodeIDs = r.nodeNumbers()
	nodes := slices.Clone(r.nodes)
	slices.SortStableFunc(nodes, func(a, b hwlocObject) int {
		if n := a.cpus.Count() - b.cpus.Count(); n != 0 {
			return n
		}
		return a.osIndex - b.osIndex
	})
	shared := NewCPUMask(d.slots())
	for _, n := range nodes {
		index, _ := slices.BinarySearch(d.nodeIDs, n.osIndex)
		for cpu := n.cpus.First(); cpu >= 0 && cpu < d.slots(); cpu = n.cpus.Next(cpu + 1) {
			if !d.online.Has(cpu) {
				continue
			}
			if d.node[cpu] == unknown {
				d.node[cpu] = index
			} else {
				shared.Set(cpu)
			}
		}
	}
	if !shared.Empty() {
		d.note("several nodes are local to CPUs %s: each is put into the one with the fewest CPUs, of equal ones the lowest; the others are memory", shared)
	}
	r.placeByNodeset(d)
}

func (r *hwlocReader) placeByNodeset(d *draft) {
	byNodeset := NewCPUMask(d.slots())
	for _, o := range r.homes {
		index, ok := slices.BinarySearch(d.nodeIDs, o.nodes.First())
		for cpu := o.cpus.First(); ok && cpu >= 0 && cpu < d.slots(); cpu = o.cpus.Next(cpu + 1) {
			if d.online.Has(cpu) && d.node[cpu] == unknown {
				d.node[cpu] = index
				byNodeset.Set(cpu)
			}
		}
	}
	if !byNodeset.Empty() && len(d.nodeIDs) > 1 {
		d.note("the nodes of CPUs %s have no object in the export: taken from complete_nodeset", byNodeset)
	}
}

// nodeNumbers lists the nodes of objects and of the machine's
// complete_nodeset.
func (r *hwlocReader) nodeNumbers() []int {
	all := r.allNodes.Clone()
	for _, n := range r.nodes {
		all.Set(n.osIndex)
	}
	ids := all.CPUs()
	return ids[:min(len(ids), maxNodes)]
}

func (r *hwlocReader) fillDistances(d *draft) error {
	for _, m := range r.distances {
		indexes := m.indexes
		if indexes == nil {
			indexes = r.nodeOrder()
		}
		if len(m.values) != len(indexes)*len(indexes) {
			if m.indexes == nil {
				continue // of version 1, for objects of another depth
			}
			return atLine(m.line, "%d distances for %d nodes: %d are needed", len(m.values), len(indexes), len(indexes)*len(indexes))
		}
		d.distance = matrixFor(d.nodeIDs, indexes, m.values)
		return nil
	}
	return nil
}

func (r *hwlocReader) nodeOrder() []int {
	order := make([]int, len(r.nodes))
	for i, n := range r.nodes {
		order[i] = n.osIndex
	}
	return order
}

// matrixFor spreads a matrix over nodes ids; entries of other nodes stay 0.
func matrixFor(ids, indexes, values []int) [][]int {
	rows := make([][]int, len(ids))
	for i := range rows {
		rows[i] = make([]int, len(ids))
	}
	for a, from := range indexes {
		i, okFrom := slices.BinarySearch(ids, from)
		for b, to := range indexes {
			if j, okTo := slices.BinarySearch(ids, to); okFrom && okTo {
				rows[i][j] = values[a*len(indexes)+b]
			}
		}
	}
	return rows
}

func (r *hwlocReader) fillCapacities(d *draft) {
	told := 0
	for _, k := range r.kinds {
		if k.capacity == 0 {
			continue
		}
		told++
		for cpu := k.cpus.First(); cpu >= 0 && cpu < d.slots(); cpu = k.cpus.Next(cpu + 1) {
			d.capacity[cpu] = k.capacity
		}
	}
	if len(r.kinds) > 1 && told == 0 {
		d.note("%d kinds of CPU are named but no capacity (LinuxCapacity): all taken as %d", len(r.kinds), fullCapacity)
	}
}
