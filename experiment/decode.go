package experiment

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/schedlab/schedlab/internal/suggest"
)

// text is a scalar of the file and where it stands.
type text struct {
	value string
	at    position
}

func (t text) given() bool { return t.at != position{} }

// number is a whole number of the file and where it stands.
type number struct {
	value int64
	at    position
}

func (n number) given() bool { return n.at != position{} }

// entry is one key of a mapping with its value.
type entry struct {
	key  text
	node ast.Node
}

// decoder walks the syntax tree by what the schema expects. It keeps the first
// error; after that every step returns zero values.
type decoder struct {
	src     *source
	anchors map[string]ast.Node
	err     error
}

func newDecoder(src *source, root ast.Node) *decoder {
	d := &decoder{src: src, anchors: map[string]ast.Node{}}
	ast.Walk(d, root)
	return d
}

// Visit records anchors (ast.Visitor).
func (d *decoder) Visit(n ast.Node) ast.Visitor {
	if anchor, ok := n.(*ast.AnchorNode); ok && anchor.Name != nil {
		d.anchors[anchor.Name.GetToken().Value] = anchor.Value
	}
	return d
}

func (d *decoder) fail(at position, format string, args ...any) {
	if d.err == nil {
		d.err = d.src.errorAt(at, format, args...)
	}
}

// resolve strips anchors and follows aliases. The schema bounds the depth of
// everything else, this loop the length of an alias chain.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range maxNesting {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			target, known := d.anchors[v.Value.GetToken().Value]
			if !known {
				d.fail(positionOf(v.GetToken()), "no anchor named %q", v.Value.GetToken().Value)
				return nil
			}
			n = target
		default:
			return n
		}
	}
	d.fail(positionOf(n.GetToken()), "an alias that leads back to itself")
	return nil
}

func where(n ast.Node) position {
	if n == nil {
		return position{}
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return positionOf(m.Values[0].Key.GetToken())
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return positionOf(v.Key.GetToken())
	}
	return positionOf(n.GetToken())
}

// mapping lists the entries of a mapping, in the order of the file.
func (d *decoder) mapping(n ast.Node, what string) []entry {
	if d.err != nil {
		return nil
	}
	var values []*ast.MappingValueNode
	switch m := d.resolve(n).(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		d.fail(where(n), "%s is not a mapping; write key: value pairs", what)
		return nil
	}
	entries := make([]entry, 0, len(values))
	seen := map[string]bool{}
	for _, v := range values {
		key := text{v.Key.GetToken().Value, positionOf(v.Key.GetToken())}
		if seen[key.value] {
			d.fail(key.at, "key %q appears twice in %s", key.value, what)
		}
		seen[key.value] = true
		entries = append(entries, entry{key, v.Value})
	}
	return entries
}

// fields is a mapping with a fixed set of keys.
type fields struct {
	what    string
	at      position
	entries []entry
}

func (d *decoder) fields(n ast.Node, what string, keys ...string) fields {
	f := fields{what: what, at: where(n), entries: d.mapping(n, what)}
	for _, e := range f.entries {
		if !contains(keys, e.key.value) {
			d.fail(e.key.at, "unknown key %q in %s; %s", e.key.value, what, suggest.DidYouMean(e.key.value, keys))
		}
	}
	return f
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// get returns the value of a key, nil when it is absent.
func (f *fields) get(key string) ast.Node {
	for _, e := range f.entries {
		if e.key.value == key {
			return e.node
		}
	}
	return nil
}

func (f *fields) keyAt(key string) position {
	for _, e := range f.entries {
		if e.key.value == key {
			return e.key.at
		}
	}
	return f.at
}

// list lists the items of a sequence.
func (d *decoder) list(n ast.Node, what string) []ast.Node {
	if d.err != nil {
		return nil
	}
	s, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		d.fail(where(n), "%s is not a list; write [a, b] or lines that begin with \"- \"", what)
		return nil
	}
	return s.Values
}

// scalar reads any single value as its text.
func (d *decoder) scalar(n ast.Node, what string) text {
	if d.err != nil {
		return text{}
	}
	switch v := d.resolve(n).(type) {
	case *ast.StringNode:
		return d.filled(text{v.Value, where(n)}, what)
	case *ast.LiteralNode:
		return d.filled(text{strings.TrimSpace(v.Value.Value), where(n)}, what)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return d.filled(text{v.GetToken().Value, where(n)}, what)
	case *ast.NullNode, nil:
		d.fail(where(n), "%s has no value", what)
	default:
		d.fail(where(n), "%s is not a single value", what)
	}
	return text{}
}

func (d *decoder) filled(t text, what string) text {
	if strings.TrimSpace(t.value) == "" {
		d.fail(t.at, "%s is empty", what)
	}
	if strings.ContainsAny(t.value, "\x00\n\r") {
		d.fail(t.at, "%s has a line break or NUL in it", what)
	}
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\t' }
	if strings.ContainsFunc(t.value, unprintable) || !utf8.ValidString(t.value) {
		d.fail(t.at, "%s has a character in it that cannot be printed: %q", what, t.value)
	}
	return t
}

// optional reads a scalar key that may be absent.
func (d *decoder) optional(f *fields, key string) text {
	if n := f.get(key); n != nil {
		return d.scalar(n, key)
	}
	return text{}
}

// required reads a scalar key that must be there.
func (d *decoder) required(f *fields, key string) text {
	if f.get(key) == nil {
		d.fail(f.at, "%s has no %q; add %s: ...", f.what, key, key)
		return text{}
	}
	return d.optional(f, key)
}

// integer reads a whole number within bounds; absent keys give the zero number.
func (d *decoder) integer(f *fields, key string, low, high int64) number {
	if f.get(key) == nil {
		return number{}
	}
	t := d.optional(f, key)
	if d.err != nil {
		return number{}
	}
	v, err := strconv.ParseInt(t.value, 10, 64)
	if err != nil || v < low || v > high {
		d.fail(t.at, "%s is %q; write a whole number from %d to %d", key, t.value, low, high)
	}
	return number{v, t.at}
}

// oneOf reads a scalar key with a fixed set of values.
func (d *decoder) oneOf(f *fields, key string, values ...string) text {
	t := d.optional(f, key)
	if t.given() && !contains(values, t.value) {
		d.fail(t.at, "%s is %q; choose %s", key, t.value, suggest.Enumerate(values))
	}
	return t
}

// texts reads a list of scalars; a single scalar is a list of one.
func (d *decoder) texts(f *fields, key string) []text {
	n := f.get(key)
	if n == nil || d.err != nil {
		return nil
	}
	if _, ok := d.resolve(n).(*ast.SequenceNode); !ok {
		return []text{d.scalar(n, key)}
	}
	var all []text
	for i, item := range d.list(n, key) {
		all = append(all, d.scalar(item, fmt.Sprintf("%s[%d]", key, i)))
	}
	return all
}
