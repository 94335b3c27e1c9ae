package machine

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// maxYAMLBytes bounds a machine file; 4,096 CPUs in 64 nodes take some 200 KB.
const maxYAMLBytes = 16 << 20

// yamlMachine is a machine file; docs/machine.md explains the keys.
type yamlMachine struct {
	Name       string         `yaml:"name"`
	CPUs       *yamlInt       `yaml:"cpus"`
	Nodes      []yamlNode     `yaml:"nodes"`
	Distances  []yamlRow      `yaml:"distances"`
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
	return parseYAML(path, data)
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
	var y yamlMachine
	if err := yaml.UnmarshalWithOptions(data, &y, yaml.Strict()); err != nil {
		return nil, err
	}
	return &y, nil
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
