package rtapp

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// kind is what a JSON value is.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// String names the kind with its article, for messages.
func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list in [ ]", "an object in { }"}[k]
}

// node is a JSON value with its place. Members keep the order of the file, and
// a key may occur more than once.
type node struct {
	kind     kind
	at       int    // offset in the file
	literal  string // of a number as written, of a string unescaped
	truth    bool
	elements []*node
	members  []member
	missing  bool // a key stood there without a value
}

type member struct {
	key   string
	at    int
	value *node
}

// parse returns the tree of the file.
func (s *source) parse() (*node, error) {
	if len(s.text) > maxFileBytes {
		return nil, s.fault("more than %d bytes are no rt-app file", maxFileBytes)
	}
	c, deep := completeKeys(s.text)
	if deep >= 0 {
		return nil, s.errorAt(deep, "nested more than %d deep", maxNesting)
	}
	value, err := hujson.Parse(c.text)
	if err != nil {
		return nil, s.syntaxError(&c, err)
	}
	return s.tree(&c, &value), nil
}

// syntaxError finds the place that the library names in its message, of which
// the rest says what is wrong there.
func (s *source) syntaxError(c *completed, err error) error {
	var line, column int
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(message, "line %d, column %d:", &line, &column); n != 2 {
		return s.fault("not readable as JSON: %s", message)
	}
	_, message, _ = strings.Cut(message, ": ")
	starts := lineStarts(c.text)
	offset := starts[min(max(1, line), len(starts))-1] + column - 1
	return s.errorAt(c.original(offset), "not readable as JSON: %s", message)
}

func (s *source) tree(c *completed, v *hujson.Value) *node {
	n := &node{at: c.original(v.StartOffset), missing: c.isStandIn(v.StartOffset)}
	switch value := v.Value.(type) {
	case *hujson.Object:
		n.kind = object
		for i := range value.Members {
			m := &value.Members[i]
			key := m.Name.Value.(hujson.Literal).String()
			n.members = append(n.members, member{key, c.original(m.Name.StartOffset), s.tree(c, &m.Value)})
		}
	case *hujson.Array:
		n.kind = array
		for i := range value.Elements {
			n.elements = append(n.elements, s.tree(c, &value.Elements[i]))
		}
	case hujson.Literal:
		n.fill(value)
	}
	return n
}

func (n *node) fill(l hujson.Literal) {
	switch l.Kind() {
	case '"':
		n.kind, n.literal = text, l.String()
	case 't', 'f':
		n.kind, n.truth = boolean, l.Bool()
	case 'n':
		n.kind = null
	default:
		n.kind, n.literal = number, string(l)
	}
}

// quote writes a key or string for a message.
func quote(s string) string {
	encoded, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(encoded)
}

// want refuses a value of another kind than a key takes.
func (s *source) want(k kind, key string, n *node) error {
	switch {
	case n.kind == k:
		return nil
	case n.missing:
		return s.errorAt(n.at, "%s has no value; it takes %s", quote(key), k)
	}
	return s.errorAt(n.at, "%s takes %s, not %s", quote(key), k, n.kind)
}

// integer reads a whole number in [least, most].
func (s *source) integer(key string, n *node, least, most int64) (int64, error) {
	if err := s.want(number, key, n); err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(n.literal, 10, 64)
	if err != nil || value < least || value > most {
		return 0, s.errorAt(n.at, "%s is %s; it takes a whole number %s", quote(key), n.literal, interval(least, most))
	}
	return value, nil
}

func interval(least, most int64) string {
	if most == math.MaxInt32 {
		return fmt.Sprintf("from %d up", least)
	}
	return fmt.Sprintf("from %d to %d", least, most)
}

func (s *source) str(key string, n *node) (string, error) {
	return n.literal, s.want(text, key, n)
}

func (s *source) truth(key string, n *node) (bool, error) {
	return n.truth, s.want(boolean, key, n)
}

// integers reads a list of whole numbers from 0 up, at least one.
func (s *source) integers(key string, n *node) ([]int, error) {
	if err := s.want(array, key, n); err != nil {
		return nil, err
	}
	if len(n.elements) == 0 {
		return nil, s.errorAt(n.at, "%s is empty; name at least one, or leave the key out", quote(key))
	}
	var values []int
	for _, e := range n.elements {
		value, err := s.integer(key, e, 0, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		values = append(values, int(value))
	}
	return values, nil
}
