package trace

// Name stands for a text: the name of a task or an event, a path. Equal texts
// of one reader have equal Names.
type Name uint32

// NoName is the name of what has none.
const NoName Name = 0

// maxNames bounds the table, so that a damaged file full of made-up names
// cannot fill the memory. Texts beyond it become "?" and are counted.
const maxNames = 1 << 18

// Names is a table of texts. It belongs to one reader and is not safe for
// concurrent use.
type Names struct {
	texts    []string
	ids      map[string]Name
	recent   [512]recentName
	overflow int64
}

// recentName is a direct-mapped cache in front of the map: traces repeat a few
// names for millions of events.
type recentName struct {
	text string
	name Name
}

const overflowText = "?"

// NewNames returns a table that knows only NoName.
func NewNames() *Names {
	n := &Names{ids: make(map[string]Name)}
	n.texts = append(n.texts, "")
	n.ids[""] = NoName
	return n
}

// Text returns the text of a name.
func (n *Names) Text(name Name) string {
	if int(name) >= len(n.texts) {
		return ""
	}
	return n.texts[name]
}

// Intern returns the name of a text.
func (n *Names) Intern(text string) Name { return n.intern([]byte(text)) }

func (n *Names) intern(text []byte) Name {
	if len(text) == 0 {
		return NoName
	}
	entry := &n.recent[hashName(text)%uint32(len(n.recent))]
	if entry.text == string(text) {
		return entry.name
	}
	name, known := n.ids[string(text)]
	if !known {
		name = n.add(string(text))
	}
	*entry = recentName{text: n.texts[name], name: name}
	if entry.text != string(text) { // the table is full
		entry.text = ""
	}
	return name
}

func (n *Names) add(text string) Name {
	if len(n.texts) >= maxNames {
		n.overflow++
		text = overflowText
		if name, known := n.ids[text]; known {
			return name
		}
	}
	name := Name(len(n.texts))
	n.texts = append(n.texts, text)
	n.ids[text] = name
	return name
}

// hashName mixes the length and the ends of a text: names of threads differ
// there ("hackbench" and "kworker/3:1").
func hashName(text []byte) uint32 {
	h := uint32(len(text))
	for i := 0; i < len(text) && i < 4; i++ {
		h = h*31 + uint32(text[i])
	}
	for i := max(len(text)-4, 0); i < len(text); i++ {
		h = h*31 + uint32(text[i])
	}
	return h ^ h>>9
}
