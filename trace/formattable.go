package trace

import "strings"

// formatTable holds the event descriptions of a binary file. A file has two
// thousand of them and uses ten, so each is read when its first event comes.
type formatTable struct {
	texts    map[int]formatSource
	decoders []*decoder
	failed   map[int]string // descriptions that cannot be read, and why
}

type formatSource struct {
	system string
	text   string
}

func newFormatTable() *formatTable {
	return &formatTable{texts: make(map[int]formatSource), failed: make(map[int]string)}
}

// add keeps a description; it reports what is wrong with it, or "".
func (t *formatTable) add(system, text string) string {
	_, rest, found := strings.Cut(text, "ID:")
	line, _, _ := strings.Cut(rest, "\n")
	id, ok := parseInt([]byte(strings.TrimSpace(line)))
	if !found || !ok || id < 0 || id >= maxFormats {
		return "an event description without a valid ID"
	}
	t.texts[int(id)] = formatSource{system, text}
	return ""
}

// decoder returns the decoder of an event's number; fault says why there is none.
func (t *formatTable) decoder(id int, names *Names) (d *decoder, fault string) {
	if id < len(t.decoders) && t.decoders[id] != nil {
		return t.decoders[id], ""
	}
	if fault, known := t.failed[id]; known {
		return nil, fault
	}
	text, known := t.texts[id]
	if !known {
		return nil, "an event whose number no description has"
	}
	format, err := parseFormat(text.system, text.text)
	if err != nil {
		t.failed[id] = err.Error()
		return nil, err.Error()
	}
	for len(t.decoders) <= id {
		t.decoders = append(t.decoders, nil)
	}
	t.decoders[id] = newDecoder(format, names)
	return t.decoders[id], ""
}
