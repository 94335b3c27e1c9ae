package machine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxYAMLBytes bounds a machine file; the matrix of 1,024 nodes takes half of it.
const maxYAMLBytes = 8 << 20

// yamlMachine is a machine file; docs/machine.md explains the keys.
type yamlMachine struct {
	Name       string         `yaml:"name"`
	CPUs       *yamlInt       `yaml:"cpus"`
	Nodes      []yamlNode     `yaml:"nodes"`
	Distances  *yamlDistances `yaml:"distances"`
	Packages   *yamlSets      `yaml:"packages"`
	LLCs       *yamlSets      `yaml:"llcs"`
	Clusters   *yamlSets      `yaml:"clusters"`
	Cores      *yamlSets      `yaml:"cores"`
	Capacities []yamlCapacity `yaml:"capacities"`
	Caches     []yamlCache    `yaml:"caches"`
}

type yamlNode struct {
	ID   *yamlInt `yaml:"id"`
	CPUs yamlSet  `yaml:"cpus"`
}

type yamlCapacity struct {
	CPUs     yamlSet `yaml:"cpus"`
	Capacity yamlInt `yaml:"capacity"`
}

// yamlCache is one kind of cache: its instances are listed in CPUs, or there is
// one for each thing that Each names.
type yamlCache struct {
	Level yamlInt   `yaml:"level"`
	Type  yamlText  `yaml:"type"`
	Size  yamlText  `yaml:"size"`
	CPUs  *yamlSets `yaml:"cpus"`
	Each  yamlText  `yaml:"each"`
}

// position is where a value stands in the file; line 0 is a value that is not
// there.
type position struct{ line, column int }

// positionError is an error at a place of a YAML file.
type positionError struct {
	at  position
	msg string
}

func (e *positionError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.at.line, e.at.column, e.msg)
}

func (p position) errorf(format string, args ...any) error {
	return &positionError{p, fmt.Sprintf(format, args...)}
}

func nodePosition(n ast.Node) position {
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// scalarText returns what a plain or quoted scalar says.
func scalarText(n ast.Node) (string, error) {
	switch v := n.(type) {
	case *ast.AnchorNode:
		return scalarText(v.Value)
	case *ast.StringNode:
		return v.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return v.GetToken().Value, nil
	case *ast.AliasNode:
		return "", nodePosition(n).errorf("an alias (*name) cannot stand here: write the value out")
	}
	return "", nodePosition(n).errorf("a number or a text is needed here, not a %s", n.Type())
}

// yamlInt is a whole number and its place.
type yamlInt struct {
	value int
	at    position
}

func (y *yamlInt) UnmarshalYAML(n ast.Node) error {
	y.at = nodePosition(n)
	text, err := scalarText(n)
	if err != nil {
		return err
	}
	if y.value, err = parseDecimal(text); err != nil {
		return y.at.errorf("%q is not a whole number", abbreviate(text))
	}
	return nil
}

// yamlText is a scalar as written and its place.
type yamlText struct {
	text string
	at   position
}

func (y *yamlText) UnmarshalYAML(n ast.Node) (err error) {
	y.at = nodePosition(n)
	y.text, err = scalarText(n)
	return err
}

// yamlRow is a row of the distance matrix.
type yamlRow struct {
	values []yamlInt
	at     position
}

func (y *yamlRow) UnmarshalYAML(n ast.Node) error {
	y.at = nodePosition(n)
	items, err := sequenceItems(n)
	if err != nil {
		return err
	}
	y.values = make([]yamlInt, len(items))
	for i, item := range items {
		if err := y.values[i].UnmarshalYAML(item); err != nil {
			return err
		}
	}
	return nil
}

// yamlDistances is the matrix, row by row, or the two values of one in which
// all nodes are equally far apart.
type yamlDistances struct {
	rows        []yamlRow
	self, other *yamlInt // nil for a matrix
	at          position
}

func (y *yamlDistances) UnmarshalYAML(n ast.Node) error {
	y.at = nodePosition(n)
	if mapping, ok := n.(ast.MapNode); ok {
		return y.unmarshalUniform(mapping)
	}
	items, err := sequenceItems(n)
	if err != nil {
		return err
	}
	y.rows = make([]yamlRow, len(items))
	for i, item := range items {
		if err := y.rows[i].UnmarshalYAML(item); err != nil {
			return err
		}
	}
	return nil
}

func (y *yamlDistances) unmarshalUniform(mapping ast.MapNode) error {
	for pairs := mapping.MapRange(); pairs.Next(); {
		into := &y.self
		switch key := pairs.Key().String(); key {
		case "self":
		case "other":
			into = &y.other
		default:
			return nodePosition(pairs.Key()).errorf("distances: %q is not self or other", abbreviate(key))
		}
		*into = new(yamlInt)
		if err := (*into).UnmarshalYAML(pairs.Value()); err != nil {
			return err
		}
	}
	if y.self == nil || y.other == nil {
		return y.at.errorf("distances: give both, such as {self: 10, other: 21}")
	}
	return nil
}

// matrix returns the rows for n nodes.
func (y *yamlDistances) matrix(n int) [][]int {
	if y.self != nil {
		rows := uniformDistances(n, y.other.value)
		for i := range rows {
			rows[i][i] = y.self.value
		}
		return rows
	}
	rows := make([][]int, len(y.rows))
	for i, row := range y.rows {
		for _, v := range row.values {
			rows[i] = append(rows[i], v.value)
		}
	}
	return rows
}

// place is where an entry of the matrix stands.
func (y *yamlDistances) place(row, col int) position {
	switch {
	case y.other != nil:
		return y.other.at
	case col < len(y.rows[row].values):
		return y.rows[row].values[col].at
	}
	return y.rows[row].at
}

func sequenceItems(n ast.Node) ([]ast.Node, error) {
	switch v := n.(type) {
	case *ast.AnchorNode:
		return sequenceItems(v.Value)
	case *ast.SequenceNode:
		return v.Values, nil
	}
	return nil, nodePosition(n).errorf("a list such as [1, 2] is needed here, not a %s", n.Type())
}

// yamlSet is a set of CPUs: "0-3,8", or a list of such texts and numbers.
type yamlSet struct {
	cpus CPUMask // nil when not there
	at   position
}

func (y *yamlSet) UnmarshalYAML(n ast.Node) error {
	y.at = nodePosition(n)
	y.cpus = NewCPUMask(MaxCPUs)
	if items, err := sequenceItems(n); err == nil {
		for _, item := range items {
			if err := y.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	return y.add(n)
}

func (y *yamlSet) add(n ast.Node) error {
	text, err := scalarText(n)
	if err != nil {
		return err
	}
	cpus, err := parseMask(text, MaxCPUs)
	if err != nil {
		return nodePosition(n).errorf("%v", err)
	}
	y.cpus.Or(cpus)
	return nil
}

// yamlSets is a list of sets of CPUs; a single text is a list of one.
type yamlSets struct {
	sets []yamlSet
	at   position
}

func (y *yamlSets) UnmarshalYAML(n ast.Node) error {
	y.at = nodePosition(n)
	items, err := sequenceItems(n)
	if err != nil {
		items = []ast.Node{n}
	}
	y.sets = make([]yamlSet, len(items))
	for i, item := range items {
		if err := y.sets[i].UnmarshalYAML(item); err != nil {
			return err
		}
		if y.sets[i].cpus.Empty() {
			return y.sets[i].at.errorf("an empty set of CPUs: leave it out")
		}
	}
	return nil
}

// Load reads a machine from a YAML file; docs/machine.md describes the format.
// Errors name the file, the line and the column.
func Load(path string) (*Machine, error) {
	data, err := readAtMost(path, maxYAMLBytes)
	if err != nil {
		return nil, err
	}
	m, err := parseYAML(path, data)
	if err != nil {
		if format, sniffErr := sniff(data); sniffErr == nil && format.name != "YAML" {
			return nil, fmt.Errorf("%s: this is %s, not a machine in YAML: make one with \"schedlab machine import %s -o FILE.yaml\"", path, format.name, path)
		}
		return nil, err
	}
	return m, nil
}

func parseYAML(path string, data []byte) (*Machine, error) {
	if len(data) > maxYAMLBytes {
		return nil, fmt.Errorf("%s: larger than %d MiB, no machine in YAML is", path, maxYAMLBytes>>20)
	}
	y, err := decodeYAML(data)
	if err != nil {
		return nil, yamlError(path, err)
	}
	d, err := y.draft()
	if err != nil {
		return nil, yamlError(path, err)
	}
	if d.name == "" {
		d.name = importName(path)
	}
	m, _, err := d.assemble()
	return m, inFile(path, err)
}

func decodeYAML(data []byte) (*yamlMachine, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // of an editor
	if err := checkNestingDepth(data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 1 && file.Docs[0].Body == nil {
		return nil, position{1, 1}.errorf("nothing in it; a machine has at least nodes")
	}
	if len(file.Docs) != 1 {
		return nil, position{1, 1}.errorf("one YAML document is needed, there are %d; a machine has at least nodes", len(file.Docs))
	}
	body := file.Docs[0].Body
	keys := &keyChecker{}
	ast.Walk(keys, body)
	if keys.err != nil {
		return nil, keys.err
	}
	var y yamlMachine
	if err := yaml.NodeToValue(body, &y, yaml.Strict()); err != nil {
		return nil, err
	}
	return &y, nil
}

// maxYAMLNesting is more than any machine file needs. The parser takes minutes
// and gigabytes over a file that opens a hundred thousand brackets.
const maxYAMLNesting = 64

// checkNestingDepth reports the line in which brackets, or block indicators
// such as "- - -", nest too deeply. Those in quotes count too: no name has that
// many.
func checkNestingDepth(data []byte) error {
	depth, line := 0, 0
	for text := range bytes.Lines(data) {
		line++
		depth += bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
		indicators := 0
		for field := range bytes.FieldsSeq(text) {
			if bytes.IndexByte([]byte("-?:&!*|>"), field[0]) >= 0 {
				indicators++
			}
		}
		depth -= min(depth, bytes.Count(text, []byte("]"))+bytes.Count(text, []byte("}")))
		if depth > maxYAMLNesting || indicators > maxYAMLNesting {
			return position{line, 1}.errorf("nested more than %d deep: a machine needs four levels", maxYAMLNesting)
		}
	}
	return nil
}

// keyChecker finds a mapping key that is not a name. The list 0,3 without
// quotes inside braces makes one: YAML reads it as the value 0 and the key 3.
type keyChecker struct{ err error }

func (k *keyChecker) Visit(n ast.Node) ast.Visitor {
	pair, ok := n.(*ast.MappingValueNode)
	if !ok || k.err != nil {
		return k
	}
	if _, isName := pair.Key.(*ast.StringNode); !isName {
		k.err = nodePosition(pair.Key).errorf("%q is not a key of a machine; a CPU list with commas needs quotes here: cpus: \"0,3\"", abbreviate(pair.Key.String()))
	}
	return k
}

// yamlError puts the file, line and column before an error.
func yamlError(path string, err error) error {
	var own *positionError
	if errors.As(err, &own) {
		return fmt.Errorf("%s:%w", path, own)
	}
	var unknownField *yaml.UnknownFieldError
	var library yaml.Error
	if !errors.As(err, &library) || library.GetToken() == nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	msg := library.GetMessage()
	if errors.As(err, &unknownField) {
		msg += "; docs/machine.md lists the keys of a machine"
	}
	at := library.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", path, at.Line, at.Column, msg)
}
