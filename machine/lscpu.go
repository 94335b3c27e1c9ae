package machine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuRow is one CPU as a table of lscpu gives it. A cell that the table does
// not have, or that is empty or "-", is unknown.
type cpuRow struct {
	cpu, core, socket, node int
	caches                  []int // by column of cacheColumns, unknown where empty
	offline                 bool
	line                    int // in the input, 0 when not known
}

// lscpuTable is a table of CPUs: lscpu -p, or lscpu -J -e.
type lscpuTable struct {
	rows   []cpuRow
	caches []cacheColumn
	notes  []string
}

// cacheColumn is one cache of the CACHE column: "L1d", "L1i", "L2", "L3".
type cacheColumn struct {
	level int
	typ   string
}

// parseCacheColumn reads the name of a cache in a header.
func parseCacheColumn(name string) (cacheColumn, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(name), "l")
	if !ok || rest == "" || rest[0] < '1' || rest[0] > '0'+maxCacheLevel {
		return cacheColumn{}, false
	}
	c := cacheColumn{level: int(rest[0] - '0')}
	switch rest[1:] {
	case "":
		c.typ = cacheUnified
	case "d":
		c.typ = cacheData
	case "i":
		c.typ = cacheInstruction
	default:
		return cacheColumn{}, false
	}
	return c, true
}

// cell reads a number of a table; an empty cell or "-" is unknown.
func cell(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "-" {
		return unknown, nil
	}
	n, err := parseDecimal(text)
	if err != nil {
		return unknown, fmt.Errorf("%q is not a number", abbreviate(text))
	}
	return n, nil
}

// set puts one cell into a row.
func (r *cpuRow) set(column, text string) (err error) {
	switch column {
	case "cpu":
		r.cpu, err = cell(text)
	case "core":
		r.core, err = cell(text)
	case "socket":
		r.socket, err = cell(text)
	case "node":
		r.node, err = cell(text)
	case "online":
		r.offline = slices.Contains([]string{"n", "no", "false", "0"}, strings.ToLower(text))
	}
	return err
}

func newCPURow(caches int) cpuRow {
	return cpuRow{cpu: unknown, core: unknown, socket: unknown, node: unknown, caches: unknownLabels(caches)}
}

// draft makes a machine of a table.
func (t *lscpuTable) draft() (*draft, error) {
	slots := 0
	for _, r := range t.rows {
		if r.cpu < 0 || r.cpu >= MaxCPUs {
			return nil, t.rowError(r, "a CPU number of 0 to %d is needed in column CPU", MaxCPUs-1)
		}
		slots = max(slots, r.cpu+1)
	}
	if slots == 0 {
		return nil, errors.New("no CPU in the table")
	}
	d := newDraft("", slots)
	d.notes = t.notes
	if err := t.fill(d); err != nil {
		return nil, err
	}
	t.addCaches(d)
	return d, nil
}

func (t *lscpuTable) rowError(r cpuRow, format string, args ...any) error {
	if r.line > 0 {
		return atLine(r.line, format, args...)
	}
	return fmt.Errorf(format, args...)
}

func (t *lscpuTable) fill(d *draft) error {
	seen := NewCPUMask(d.slots())
	nodes := NewCPUMask(maxNodes)
	for _, r := range t.rows {
		if seen.Has(r.cpu) {
			return t.rowError(r, "CPU %d is there twice", r.cpu)
		}
		seen.Set(r.cpu)
		if r.node >= maxNodes {
			return t.rowError(r, "node %d is beyond the limit of %d", r.node, maxNodes)
		}
		if r.offline {
			continue
		}
		d.online.Set(r.cpu)
		d.core[r.cpu], d.pkg[r.cpu] = r.core, r.socket
		if r.node >= 0 {
			nodes.Set(r.node)
		}
	}
	d.nodeIDs = nodes.CPUs()
	for _, r := range t.rows {
		if index, ok := slices.BinarySearch(d.nodeIDs, r.node); ok && !r.offline {
			d.node[r.cpu] = index
		}
	}
	return nil
}

// addCaches makes an instance of every number in a cache column; lscpu numbers
// the instances of each level and type over the whole machine.
func (t *lscpuTable) addCaches(d *draft) {
	for k, column := range t.caches {
		labels := unknownLabels(d.slots())
		for _, r := range t.rows {
			labels[r.cpu] = r.caches[k]
		}
		d.addCachePer(labels, Cache{Level: column.level, Type: column.typ})
	}
	if len(t.caches) > 0 {
		d.note("lscpu's table does not tell the sizes of caches")
	}
}

// isLscpuParsable recognises lscpu -p by its header line, or without one by
// lines of numbers and commas.
func isLscpuParsable(data []byte) bool {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			if new(lscpuTable).parseHeader(comment) != nil {
				return true
			}
			continue
		}
		if text != "" {
			return text[0] >= '0' && text[0] <= '9' && strings.Trim(text, "0123456789,:-") == ""
		}
	}
	return false
}

// lscpuDefaultColumns are what lscpu -p prints when not asked for others.
const lscpuDefaultColumns = "CPU,Core,Socket,Node,,L1d,L1i,L2,L3"

// parseLscpuParsable reads lscpu -p, with the columns that its last comment
// line names.
func parseLscpuParsable(data []byte) (*draft, error) {
	t := &lscpuTable{}
	var columns []lscpuColumn
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxCPUListLen)
	number := 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			if named := t.parseHeader(comment); named != nil {
				columns = named
			}
			continue
		}
		if columns == nil {
			columns = t.parseHeader(lscpuDefaultColumns)
			t.notes = append(t.notes, "no header line names the columns: taken as "+lscpuDefaultColumns)
		}
		row, err := t.parseRow(columns, text)
		if err != nil {
			return nil, atLine(number, "%w", err)
		}
		row.line = number
		t.rows = append(t.rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, atLine(number+1, "%w", err)
	}
	return t.draft()
}

// lscpuColumn is one comma-separated column: a name, or the caches it lists.
type lscpuColumn struct {
	name   string
	caches []int // indices into lscpuTable.caches, for a CACHE column
}

// parseHeader reads "CPU,Core,Socket,Node,,L1d,L1i,L2,L3" or the form of a
// custom list, "CPU,L1d:L1i:L2:L3"; nil for any other comment.
func (t *lscpuTable) parseHeader(comment string) []lscpuColumn {
	names := strings.Split(strings.TrimSpace(comment), ",")
	if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, "CPU") }) {
		return nil
	}
	t.caches = nil
	columns := make([]lscpuColumn, len(names))
	for i, name := range names {
		columns[i] = t.parseColumn(name)
	}
	return columns
}

func (t *lscpuTable) parseColumn(name string) lscpuColumn {
	column := lscpuColumn{name: strings.ToLower(name)}
	for part := range strings.SplitSeq(name, ":") {
		if c, ok := parseCacheColumn(part); ok {
			column.caches = append(column.caches, len(t.caches))
			t.caches = append(t.caches, c)
		}
	}
	return column
}

func (t *lscpuTable) parseRow(columns []lscpuColumn, text string) (cpuRow, error) {
	row := newCPURow(len(t.caches))
	cells := strings.Split(text, ",")
	if len(cells) > len(columns) {
		return row, fmt.Errorf("%d cells for the %d columns of the header line", len(cells), len(columns))
	}
	for i, text := range cells {
		if err := t.setCell(&row, columns[i], text); err != nil {
			return row, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return row, nil
}

func (t *lscpuTable) setCell(row *cpuRow, column lscpuColumn, text string) error {
	if column.caches == nil {
		return row.set(column.name, text)
	}
	parts := strings.Split(text, ":")
	if len(parts) > len(column.caches) {
		return fmt.Errorf("%q has more caches than the header line names", abbreviate(text))
	}
	for k, part := range parts {
		n, err := cell(part)
		if err != nil {
			return err
		}
		row.caches[column.caches[k]] = n
	}
	return nil
}

// parseLscpuJSON reads lscpu -J: the summary, or with -e the table of CPUs.
func parseLscpuJSON(data []byte) (*draft, error) {
	var doc struct {
		Summary []lscpuField                 `json:"lscpu"`
		CPUs    []map[string]json.RawMessage `json:"cpus"`
		Caches  []json.RawMessage            `json:"caches"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, jsonError(data, err)
	}
	switch {
	case doc.CPUs != nil:
		return parseLscpuRows(doc.CPUs)
	case doc.Summary != nil:
		return parseLscpuSummary(doc.Summary)
	case doc.Caches != nil:
		return nil, errors.New("lscpu -J -C lists caches only: give lscpu -J -e")
	}
	return nil, errors.New(`JSON without "lscpu" or "cpus": give the output of lscpu -J or lscpu -J -e`)
}

// jsonError adds the line to an error of encoding/json.
func jsonError(data []byte, err error) error {
	var offset int64 = unknown
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return atLine(1+bytes.Count(data[:offset], []byte("\n")), "%w", err)
}

// parseLscpuRows reads the rows of lscpu -J -e; the names are lower case, the
// values numbers, or strings before util-linux 2.34.
func parseLscpuRows(rows []map[string]json.RawMessage) (*draft, error) {
	t := &lscpuTable{}
	columns := t.jsonColumns(rows)
	for i, cells := range rows {
		row := newCPURow(len(t.caches))
		for _, column := range columns {
			raw, ok := cells[column.name]
			if !ok {
				continue
			}
			if err := t.setCell(&row, column, jsonCell(raw)); err != nil {
				return nil, fmt.Errorf("cpus[%d].%s: %w", i, abbreviate(column.name), err)
			}
		}
		if row.cpu == unknown {
			return nil, fmt.Errorf(`cpus[%d] has no "cpu": ask lscpu for that column too`, i)
		}
		t.rows = append(t.rows, row)
	}
	return t.draft()
}

// jsonColumns lists the columns of all rows in a fixed order.
func (t *lscpuTable) jsonColumns(rows []map[string]json.RawMessage) []lscpuColumn {
	names := make(map[string]bool)
	for _, cells := range rows {
		for name := range cells {
			names[name] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	columns := make([]lscpuColumn, len(sorted))
	for i, name := range sorted {
		columns[i] = t.parseColumn(name)
	}
	return columns
}

// jsonCell returns a cell as the text table would print it.
func jsonCell(raw json.RawMessage) string {
	if text, err := strconv.Unquote(string(raw)); err == nil {
		return text
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
