package trace

import "bytes"

// This file reads the front of a line of ftrace text, up to the event's name:
//
//	TASK-PID (TGID) [CPU] FLAGS TIME: NAME: FIELDS     tracefs, trace-cmd report
//	TASK PID/TID [CPU] TIME: SYSTEM:NAME: FIELDS       perf script
//	TASK-PID CPUFLAGS TIME: NAME: FIELDS               with latency columns
//
// The name of a task may contain anything, brackets and colons too, so each
// part is found by what follows it.

// lineHead is a line's front. Offsets are those of the line's text.
type lineHead struct {
	task    taskColumn
	cpu     int32
	context Context
	time    int64
	digits  int    // behind the point of the time stamp; 0: none
	body    []byte // NAME: FIELDS
}

// parseHead reads the front of a line; ok is false when it is not that of an
// event.
func parseHead(text []byte, h *lineHead) (ok bool) {
	for from := 0; ; {
		open := bytes.IndexByte(text[from:], '[')
		if open < 0 {
			return parseLatencyHead(text, h)
		}
		open += from
		if parseHeadAt(text, open, h) {
			return true
		}
		from = open + 1
	}
}

// parseHeadAt tries the bracket at open as the CPU column.
func parseHeadAt(text []byte, open int, h *lineHead) bool {
	if open == 0 || text[open-1] != ' ' && text[open-1] != ')' {
		return false
	}
	cpu, i := scanNumber(text, open+1)
	if i == open+1 || i >= len(text) || text[i] != ']' || cpu >= maxCPU {
		return false
	}
	i = skipSpaces(text, i+1)
	h.context = Context{}
	if flagsEnd := skipWord(text, i); !looksLikeTime(text[i:flagsEnd]) {
		h.context = parseContext(text[i:flagsEnd])
		i = skipSpaces(text, flagsEnd)
	}
	if !parseTime(text, i, h) {
		return false
	}
	h.cpu = int32(cpu)
	return parseTask(text[:open], &h.task)
}

// parseLatencyHead reads a line whose CPU stands before the flags in one
// column, or which has no CPU at all.
func parseLatencyHead(text []byte, h *lineHead) bool {
	for from := 0; ; {
		colon := bytes.IndexByte(text[from:], ':')
		if colon < 0 {
			return false
		}
		colon += from
		from = colon + 1
		start := timeStart(text, colon)
		if start <= 0 || !parseTime(text, start, h) {
			continue
		}
		left := bytes.TrimRight(text[:start], " ")
		column := bytes.LastIndexByte(left, ' ') + 1
		h.cpu, h.context = parseCPUFlags(left[column:])
		if h.cpu != UnknownCPU {
			left = left[:column]
		}
		return parseTask(left, &h.task)
	}
}

// timeStart returns where the time stamp that ends before colon begins, or -1.
// A latency trace puts a mark for the delay between the two.
func timeStart(text []byte, colon int) int {
	end := colon
	if end > 0 && bytes.IndexByte([]byte(" +!#*@$"), text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && (isDigit(text[start-1]) || text[start-1] == '.' || isMicro(text, start-1, end)) {
		start--
	}
	if start == end || start == 0 || text[start-1] != ' ' || !isDigit(text[start]) {
		return -1
	}
	return start
}

// isMicro reports whether text[i] belongs to the "us" that ends at end.
func isMicro(text []byte, i, end int) bool {
	return i == end-1 && text[i] == 's' || i == end-2 && text[i] == 'u'
}

// parseCPUFlags reads "3d.h2.": the CPU and the context in one column.
func parseCPUFlags(column []byte) (int32, Context) {
	cpu, i := scanNumber(column, 0)
	if i == 0 || i == len(column) || cpu >= maxCPU {
		return UnknownCPU, Context{}
	}
	context := parseContext(column[i:])
	if !context.Known {
		return UnknownCPU, Context{}
	}
	return int32(cpu), context
}

// looksLikeTime tells a time stamp from the context column.
func looksLikeTime(word []byte) bool {
	return len(word) > 1 && word[len(word)-1] == ':' && isDigit(word[0])
}

// maxSeconds keeps time in nanoseconds within 63 bits.
const maxSeconds = 9_000_000_000

// parseTime reads "9.260321:", "9.260321123:", "9260321123:" (a clock without
// seconds) or "260321us+:" at text[i:] and leaves the body behind it.
func parseTime(text []byte, i int, h *lineHead) bool {
	whole, at := scanNumber(text, i)
	if at == i || at >= len(text) {
		return false
	}
	switch text[at] {
	case '.':
		fraction, end := scanNumber(text, at+1)
		h.digits = end - at - 1
		if h.digits == 0 || h.digits > 9 || whole > maxSeconds {
			return false
		}
		h.time = int64(whole)*1_000_000_000 + int64(fraction*powersOfTen[9-h.digits])
		at = end
	case 'u':
		if !bytes.HasPrefix(text[at:], []byte("us")) || whole > maxSeconds*1_000_000 {
			return false
		}
		h.time, h.digits = int64(whole)*1000, 6
		at += 2
		if at < len(text) && text[at] != ':' {
			at++ // the mark for the delay
		}
	default:
		if whole > 1<<63-1 {
			return false
		}
		h.time, h.digits = int64(whole), 0
	}
	if at >= len(text) || text[at] != ':' {
		return false
	}
	h.body = text[skipSpaces(text, at+1):]
	return len(h.body) > 0
}

var powersOfTen = [...]uint64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// taskColumn is the task's name and numbers.
type taskColumn struct {
	comm []byte // nil when the recording does not know it
	pid  int32
	tgid int32
}

// parseTask reads "comm-pid", "comm-pid (tgid)", "comm pid" or "comm pid/tid".
func parseTask(column []byte, t *taskColumn) bool {
	column = trimSpaces(column)
	t.tgid = UnknownPID
	if n := len(column); n > 0 && column[n-1] == ')' {
		open := bytes.LastIndexByte(column, '(')
		if open < 0 {
			return false
		}
		if tgid, ok := parseDecimal(trimSpaces(column[open+1 : n-1])); ok && tgid <= 1<<31-1 {
			t.tgid = int32(tgid)
		}
		column = trimSpaces(column[:open])
	}
	digits := len(column)
	for digits > 0 && isDigit(column[digits-1]) {
		digits--
	}
	pid, ok := parseDecimal(column[digits:])
	if !ok || pid > 1<<31-1 || digits == 0 {
		return false
	}
	t.pid = int32(pid)
	rest := column[:digits-1]
	switch column[digits-1] {
	case '-':
		// perf prints -1 where it does not know the thread.
		if n := len(rest); n > 0 && rest[n-1] == ' ' {
			t.pid = UnknownPID
		}
	case '/':
		if !parsePerfProcess(rest, t, &rest) {
			return false
		}
	case ' ':
	default:
		return false
	}
	t.comm = taskName(trimSpaces(rest))
	return true
}

// parsePerfProcess reads "comm pid" in front of "/tid".
func parsePerfProcess(text []byte, t *taskColumn, comm *[]byte) bool {
	space := bytes.LastIndexByte(text, ' ')
	tgid, ok := parseDecimal(text[space+1:])
	if !ok || tgid > 1<<31-1 || space < 0 {
		return false
	}
	t.tgid = int32(tgid)
	*comm = text[:space]
	return true
}

// taskName returns nil for what printers put where they know no name.
func taskName(comm []byte) []byte {
	if len(comm) == 0 || string(comm) == "<...>" || comm[0] == ':' && len(comm) > 1 && allDigits(comm[1:]) {
		return nil
	}
	return comm
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) {
			return false
		}
	}
	return len(text) > 0
}

// scanNumber reads decimal digits at text[i:] and returns where they end. Too
// large a number comes back as the largest one.
func scanNumber(text []byte, i int) (uint64, int) {
	var value uint64
	start := i
	for i < len(text) && isDigit(text[i]) {
		value = value*10 + uint64(text[i]-'0')
		i++
	}
	if i-start >= maxDecimalDigits {
		return 1<<64 - 1, i
	}
	return value, i
}

func skipSpaces(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

func skipWord(text []byte, i int) int {
	for i < len(text) && text[i] != ' ' {
		i++
	}
	return i
}

func trimSpaces(text []byte) []byte {
	start, end := 0, len(text)
	for start < end && text[start] == ' ' {
		start++
	}
	for end > start && text[end-1] == ' ' {
		end--
	}
	return text[start:end]
}
