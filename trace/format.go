package trace

import (
	"fmt"
	"strings"
)

// eventFormat is the description of one event in a binary recording, as the
// kernel's events/*/*/format files have it.
type eventFormat struct {
	id     int
	name   string
	system string
	fields []formatField
	print  string
}

// formatField is one "field:" line of a description.
type formatField struct {
	name    string
	typ     string // the C type, with the array's bound
	offset  int
	size    int
	signed  bool
	dynamic dynamicKind
	text    bool // characters
}

// dynamicKind is how a field of variable length is found.
type dynamicKind uint8

const (
	notDynamic      dynamicKind = iota
	dynamicAbsolute             // __data_loc: length<<16 | offset from the record's start
	dynamicRelative             // __rel_loc: length<<16 | offset from the field's end
)

const (
	maxFormatFields = 256
	maxRecord       = 1 << 16 // a field beyond it is damage
)

// parseFormat reads the text of a format file.
func parseFormat(system, text string) (*eventFormat, error) {
	f := &eventFormat{system: system, id: -1}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "name:"):
			f.name = strings.TrimSpace(line[len("name:"):])
		case strings.HasPrefix(line, "ID:"):
			id, ok := parseInt([]byte(strings.TrimSpace(line[len("ID:"):])))
			if !ok || id < 0 || id > 1<<16-1 {
				return nil, fmt.Errorf("event %q has no valid ID: %q", f.name, line)
			}
			f.id = int(id)
		case strings.HasPrefix(line, "field:"):
			field, err := parseFormatField(line)
			if err != nil {
				return nil, fmt.Errorf("event %q: %w", f.name, err)
			}
			if len(f.fields) == maxFormatFields {
				return nil, fmt.Errorf("event %q has more than %d fields", f.name, maxFormatFields)
			}
			f.fields = append(f.fields, field)
		case strings.HasPrefix(line, "print fmt:"):
			f.print = line[len("print fmt:"):]
		}
	}
	if f.name == "" || f.id < 0 {
		return nil, fmt.Errorf("an event description without name or ID: %.60q", text)
	}
	return f, nil
}

// parseFormatField reads "field:char comm[16];	offset:8;	size:16;	signed:0;".
func parseFormatField(line string) (formatField, error) {
	var f formatField
	bad := fmt.Errorf("a field that cannot be read: %.80q", line)
	f.offset, f.size = -1, -1
	for i, part := range strings.Split(line, ";") {
		key, value, found := strings.Cut(strings.TrimSpace(part), ":")
		if !found {
			continue
		}
		if i == 0 {
			f.declare(value)
			continue
		}
		number, ok := parseInt([]byte(value))
		if !ok || number < 0 || number > maxRecord {
			return f, bad
		}
		switch key {
		case "offset":
			f.offset = int(number)
		case "size":
			f.size = int(number)
		case "signed":
			f.signed = number != 0
		}
	}
	if f.name == "" || f.offset < 0 || f.size < 0 {
		return f, bad
	}
	return f, nil
}

// declare reads the C declaration, such as "__data_loc char[] filename" or
// "char prev_comm[16]".
func (f *formatField) declare(declaration string) {
	declaration = strings.TrimSpace(declaration)
	if rest, found := strings.CutPrefix(declaration, "__data_loc "); found {
		f.dynamic, declaration = dynamicAbsolute, rest
	} else if rest, found := strings.CutPrefix(declaration, "__rel_loc "); found {
		f.dynamic, declaration = dynamicRelative, rest
	}
	f.text = strings.Contains(declaration, "char") && strings.Contains(declaration, "[")
	space := strings.LastIndexAny(declaration, " \t*]")
	if bracket := strings.IndexByte(declaration, '['); bracket > 0 && f.dynamic == notDynamic {
		space = strings.LastIndexAny(declaration[:bracket], " \t*")
		f.typ = declaration[:space+1] + declaration[bracket:]
		f.name = declaration[space+1 : bracket]
		return
	}
	f.typ = strings.TrimSpace(declaration[:space+1])
	f.name = declaration[space+1:]
}

// field returns a field by name, or nil.
func (f *eventFormat) field(name string) *formatField {
	for i := range f.fields {
		if f.fields[i].name == name {
			return &f.fields[i]
		}
	}
	return nil
}

// fixedSize returns the bytes up to the end of the last field, and whether
// records may be longer.
func (f *eventFormat) fixedSize() (size int, variable bool) {
	for i := range f.fields {
		field := &f.fields[i]
		size = max(size, field.offset+field.size)
		if field.dynamic != notDynamic || field.size == 0 {
			variable = true
		}
	}
	return size, variable
}
