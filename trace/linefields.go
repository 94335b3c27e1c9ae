package trace

import "bytes"

// This file reads the fields of a known event as it is printed: by the kernel's
// print format ("comm=sh pid=3 prio=120"), in the order of the schema or in any
// other, or in the short form of trace-cmd's plugins ("sh:3 [120] CPU:002").

// parseFields fills e's fields from text; it reports whether all of text was
// understood and no field is missing.
func parseFields(s *schema, text []byte, names *Names, e *Event) bool {
	text = trimProbeSite(text, names, e)
	if parseInOrder(s, text, names, e) {
		return true
	}
	e.has = 0
	if parsePlugin(s, text, names, e) {
		return true
	}
	e.has = 0
	return parseAnyOrder(s, bytes.TrimPrefix(text, failedToParse), names, e)
}

// failedToParse is what an old trace-cmd prints before the raw fields of an
// event whose print format it does not understand.
var failedToParse = []byte("[FAILED TO PARSE] ")

// trimProbeSite takes "(function+0x0/0x11d0) " off the front, which a kprobe
// prints before its fields.
func trimProbeSite(text []byte, names *Names, e *Event) []byte {
	if len(text) == 0 || text[0] != '(' {
		return text
	}
	end := bytes.IndexByte(text, ')')
	if end < 0 {
		return text
	}
	e.Site = names.intern(text[1:end])
	return text[skipSpaces(text, end+1):]
}

// parseInOrder is the fast path: fields as the schema lists them.
func parseInOrder(s *schema, text []byte, names *Names, e *Event) bool {
	i := 0
	for slot := range s.fields {
		f := &s.fields[slot]
		if slot == s.arrow && slot > 0 {
			i = skipArrow(text, i)
		}
		start, found := matchKey(text, i, f)
		if !found {
			if f.optional {
				continue
			}
			return false
		}
		end := fieldEnd(s, slot, text, start)
		if !setField(f, slot, text[start:end], names, e) {
			return false
		}
		i = skipUnit(text, skipSpaces(text, end))
	}
	return i == len(text) || s.suffix && isSuffix(text[i:])
}

// matchKey finds "name=" of a field at text[i:] and returns where its value
// starts.
func matchKey(text []byte, i int, f *field) (int, bool) {
	if hasKey(text, i, f.name) {
		return i + len(f.name) + 1, true
	}
	if f.alias != "" && hasKey(text, i, f.alias) {
		return i + len(f.alias) + 1, true
	}
	return 0, false
}

func hasKey(text []byte, i int, name string) bool {
	end := i + len(name)
	return end < len(text) && text[end] == '=' && string(text[i:end]) == name
}

func skipArrow(text []byte, i int) int {
	if bytes.HasPrefix(text[i:], []byte("==> ")) {
		return i + 4
	}
	return i
}

// skipUnit steps over "[ns] " between two fields.
func skipUnit(text []byte, i int) int {
	if bytes.HasPrefix(text[i:], []byte("[ns] ")) {
		return i + len("[ns] ")
	}
	return i
}

// isSuffix reports whether text is one bracket such as "[action=SCHED]".
func isSuffix(text []byte) bool {
	return len(text) > 2 && text[0] == '[' && bytes.IndexByte(text, ']') == len(text)-1
}

// maxComm is the longest name that a kernel gives a task.
const maxComm = 15

// fieldEnd returns where the value that starts at start ends. Names and paths
// may contain spaces and "=", so they end where the next field begins.
func fieldEnd(s *schema, slot int, text []byte, start int) int {
	f := &s.fields[slot]
	if f.typ != fieldTask && f.typ != fieldPath {
		return skipWord(text, start)
	}
	if slot == len(s.fields)-1 {
		return len(text)
	}
	window := text[start:]
	if f.typ == fieldTask {
		// The last " pid=" that can still end the name: the name itself may have one.
		window = window[:min(len(window), maxComm+maxKey)]
	}
	for next := slot + 1; next < len(s.fields); next++ {
		if i := lastKey(window, &s.fields[next], f.typ == fieldTask); i >= 0 {
			return start + i
		}
		if !s.fields[next].optional {
			break
		}
	}
	return skipWord(text, start)
}

// maxKey is the length of the longest key behind a task's name, with its space
// and "=": " child_comm=", " prev_pid=".
const maxKey = 12

// lastKey finds the last " key=" of a field in text. For a name it must begin
// within its 15 bytes.
func lastKey(text []byte, f *field, short bool) int {
	last := -1
	for _, name := range [...]string{f.name, f.alias} {
		if name == "" {
			continue
		}
		for end := len(text); ; {
			i := bytes.LastIndexByte(text[:end], ' ')
			if i < 0 {
				break
			}
			if hasKey(text, i+1, name) && (!short || i <= maxComm) {
				last = max(last, i)
				break
			}
			end = i
		}
	}
	return last
}

// setField reads one value into its slot.
func setField(f *field, slot int, value []byte, names *Names, e *Event) bool {
	switch f.typ {
	case fieldTask, fieldPath:
		e.set(slot, int64(names.intern(value)))
		return true
	case fieldState:
		state, ok := parseState(value)
		if ok {
			e.set(slot, int64(state))
		}
		return ok
	case fieldBool:
		return setBool(slot, value, e)
	default:
		number, ok := parseInt(value)
		if ok {
			e.set(slot, number)
		}
		return ok
	}
}

func setBool(slot int, value []byte, e *Event) bool {
	switch string(value) {
	case "true", "1":
		e.set(slot, 1)
	case "false", "0":
		e.set(slot, 0)
	default:
		return false
	}
	return true
}

// parseAnyOrder reads "key=value" words in any order; keys that the schema does
// not have are passed over, since newer kernels add fields.
func parseAnyOrder(s *schema, text []byte, names *Names, e *Event) bool {
	whole := true
	for i := skipSpaces(text, 0); i < len(text); {
		end := skipWord(text, i)
		word := text[i:end]
		i = skipSpaces(text, end)
		if string(word) == "==>" || isSuffix(word) {
			continue
		}
		key, value, isPair := bytes.Cut(word, []byte("="))
		if !isPair {
			whole = false
			continue
		}
		if slot := s.slot(string(key)); slot >= 0 && !setField(&s.fields[slot], slot, value, names, e) {
			whole = false
		}
	}
	return whole && hasRequired(s, e)
}

func hasRequired(s *schema, e *Event) bool {
	for slot := range s.fields {
		if !s.fields[slot].optional && e.has&(1<<slot) == 0 {
			return false
		}
	}
	return true
}

// parsePlugin reads the short form of a switch or a wakeup.
func parsePlugin(s *schema, text []byte, names *Names, e *Event) bool {
	switch s {
	case &schemas[KindSwitch]:
		return parsePluginSwitch(text, names, e)
	case &schemas[KindWakeup], &schemas[KindWakeupNew], &schemas[KindWaking]:
		return parsePluginWake(text, names, e)
	}
	return false
}

// parsePluginSwitch reads "sh:1642 [120] R ==> swapper/2:0 [120]".
func parsePluginSwitch(text []byte, names *Names, e *Event) bool {
	left, right, found := bytes.Cut(text, []byte(" ==> "))
	if !found {
		return false
	}
	rest, ok := parsePluginTask(left, 0, names, e)
	if !ok {
		return false
	}
	state, ok := parseState(trimSpaces(rest))
	if !ok {
		return false
	}
	e.set(3, int64(state))
	rest, ok = parsePluginTask(right, 4, names, e)
	return ok && len(trimSpaces(rest)) == 0
}

// parsePluginWake reads "sh:1642 [120] CPU:002", before 4.14 with "success=1"
// or "<CANT FIND FIELD success>" before the CPU.
func parsePluginWake(text []byte, names *Names, e *Event) bool {
	rest, ok := parsePluginTask(text, 0, names, e)
	if !ok {
		return false
	}
	rest = trimSpaces(rest)
	if after, found := bytes.CutPrefix(rest, []byte("success=")); found {
		end := skipWord(after, 0)
		success, ok := parseInt(after[:end])
		if !ok {
			return false
		}
		e.set(3, success)
		rest = trimSpaces(after[end:])
	}
	cpu, found := bytes.CutPrefix(rest, []byte("CPU:"))
	if !found {
		return false
	}
	target, ok := parseInt(cpu)
	e.set(4, target)
	return ok
}

// parsePluginTask reads "comm:pid [prio]" into three slots and returns what
// follows.
func parsePluginTask(text []byte, slot int, names *Names, e *Event) ([]byte, bool) {
	open := bytes.Index(text, []byte(" ["))
	if open < 0 {
		return nil, false
	}
	end := bytes.IndexByte(text[open:], ']')
	colon := bytes.LastIndexByte(text[:open], ':')
	if end < 0 || colon < 0 {
		return nil, false
	}
	pid, pidOK := parseInt(text[colon+1 : open])
	prio, prioOK := parseInt(text[open+2 : open+end])
	if !pidOK || !prioOK {
		return nil, false
	}
	e.set(slot, int64(names.intern(text[:colon])))
	e.set(slot+1, pid)
	e.set(slot+2, prio)
	return text[open+end+1:], true
}
