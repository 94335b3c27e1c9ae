package rtapp

import "slices"

// Some of rt-app's files hold keys without a value, such as "suspend" between
// two commas. The JSON library wants a value after each key, so such a key is
// given a null before the library sees the text.

// standIn is what a key without a value is given.
const standIn = ":null"

// completed is a text in which each key has a value, and where that made it
// longer.
type completed struct {
	text []byte
	ends []int // offsets in text right behind each stand-in
}

// original is the offset in the file's own text.
func (c *completed) original(offset int) int {
	before := c.standInsBefore(offset)
	offset -= before * len(standIn)
	if before < len(c.ends) { // inside the next one: the place where it was put
		offset = min(offset, c.ends[before]-(before+1)*len(standIn))
	}
	return offset
}

// isStandIn reports whether a value was put in at this offset of the text.
func (c *completed) isStandIn(offset int) bool {
	next := c.standInsBefore(offset)
	return next < len(c.ends) && offset >= c.ends[next]-len(standIn)
}

// standInsBefore counts those that end at the offset or before it.
func (c *completed) standInsBefore(offset int) int {
	n, _ := slices.BinarySearch(c.ends, offset+1)
	return n
}

// keyScanner walks over the tokens of a text far enough to tell keys from
// other strings. What is no JSON it leaves for the library to refuse.
type keyScanner struct {
	text    []byte
	at      int
	objects []bool // the brackets that are open: true for { and false for [
	atKey   bool   // a string here would be a key
}

// completeKeys gives every key without a value a null. deep is the offset of a
// bracket nested more than maxNesting deep, -1 if there is none.
func completeKeys(text []byte) (c completed, deep int) {
	s := keyScanner{text: text}
	copied := 0
	for s.at < len(text) {
		start := s.at
		switch b := text[s.at]; b {
		case '"':
			s.skipString()
			if s.atKey && s.valueIsMissing() {
				c.text = append(append(c.text, text[copied:s.at]...), standIn...)
				c.ends = append(c.ends, len(c.text))
				copied = s.at
			}
			s.atKey = false
		case '/':
			s.skipComment()
		case '{', '[':
			s.objects = append(s.objects, b == '{')
			s.atKey = b == '{'
			s.at++
			if len(s.objects) > maxNesting {
				return c, start
			}
		case '}', ']':
			s.objects = s.objects[:max(0, len(s.objects)-1)]
			s.atKey = false
			s.at++
		case ',':
			s.atKey = len(s.objects) > 0 && s.objects[len(s.objects)-1]
			s.at++
		default:
			s.at++
		}
	}
	c.text = append(c.text, text[copied:]...)
	return c, -1
}

func (s *keyScanner) skipString() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"', '\n':
			s.at++
			return
		}
	}
	s.at = min(s.at, len(s.text))
}

func (s *keyScanner) skipComment() {
	rest := s.text[s.at:]
	end := 1
	switch {
	case len(rest) > 1 && rest[1] == '/':
		for end = 2; end < len(rest) && rest[end] != '\n'; end++ {
		}
	case len(rest) > 1 && rest[1] == '*':
		for end = 2; end < len(rest) && (end < 4 || rest[end-2] != '*' || rest[end-1] != '/'); end++ {
		}
	}
	s.at += end
}

// valueIsMissing looks past blanks and comments for what follows a key.
func (s *keyScanner) valueIsMissing() bool {
	ahead := keyScanner{text: s.text, at: s.at}
	for ahead.at < len(ahead.text) {
		switch ahead.text[ahead.at] {
		case ' ', '\t', '\r', '\n':
			ahead.at++
		case '/':
			ahead.skipComment()
		default:
			b := ahead.text[ahead.at]
			return b == ',' || b == '}'
		}
	}
	return false
}
