package trace

// parseContext reads ftrace's columns: irqs-off, need-resched,
// hardirq/softirq, preempt-depth and, since 5.12, migrate-disable. Kernels
// with a lazy-resched patch have one column more; what does not fit is unknown.
func parseContext(column []byte) Context {
	if len(column) != 4 && len(column) != 5 {
		return Context{}
	}
	irqs, irqsOK := irqsOffFlags(column[0])
	resched, reschedOK := reschedFlags(column[1])
	interrupt, interruptOK := interruptFlags(column[2])
	depth, depthOK := contextDepth(column[3])
	var migrate uint8
	migrateOK := true
	if len(column) == 5 {
		migrate, migrateOK = contextDepth(column[4])
	}
	if !irqsOK || !reschedOK || !interruptOK || !depthOK || !migrateOK {
		return Context{}
	}
	return Context{Known: true, Flags: irqs | resched | interrupt, Preempt: depth | migrate<<4}
}

// appendColumns prints the five columns of 5.12 and later.
func (c Context) appendColumns(out []byte) []byte {
	return append(out,
		irqsOffLetter(c.Flags), reschedLetter(c.Flags), interruptLetter(c.Flags),
		depthDigit(c.Preempt&0xf), depthDigit(c.Preempt>>4))
}

func irqsOffFlags(c byte) (ContextFlag, bool) {
	switch c {
	case '.', 'X': // X: the architecture cannot tell
		return 0, true
	case 'd':
		return ContextIRQsOff, true
	case 'b':
		return ContextBHOff, true
	case 'D':
		return ContextIRQsOff | ContextBHOff, true
	}
	return 0, false
}

func irqsOffLetter(f ContextFlag) byte {
	switch f & (ContextIRQsOff | ContextBHOff) {
	case ContextIRQsOff | ContextBHOff:
		return 'D'
	case ContextIRQsOff:
		return 'd'
	case ContextBHOff:
		return 'b'
	}
	return '.'
}

// reschedColumn pairs the letters of need-resched with their flags; L, l, B and
// b came in 6.13.
var reschedColumn = []struct {
	letter byte
	flags  ContextFlag
}{
	{'.', 0},
	{'n', ContextNeedResched},
	{'p', ContextPreemptResched},
	{'N', ContextNeedResched | ContextPreemptResched},
	{'l', ContextLazyResched},
	{'L', ContextLazyResched | ContextPreemptResched},
	{'b', ContextNeedResched | ContextLazyResched},
	{'B', ContextNeedResched | ContextLazyResched | ContextPreemptResched},
}

func reschedFlags(c byte) (ContextFlag, bool) {
	for _, r := range reschedColumn {
		if r.letter == c {
			return r.flags, true
		}
	}
	return 0, false
}

func reschedLetter(f ContextFlag) byte {
	f &= ContextNeedResched | ContextLazyResched | ContextPreemptResched
	for _, r := range reschedColumn {
		if r.flags == f {
			return r.letter
		}
	}
	return '.'
}

func interruptFlags(c byte) (ContextFlag, bool) {
	switch c {
	case '.':
		return 0, true
	case 's':
		return ContextSoftIRQ, true
	case 'h':
		return ContextHardIRQ, true
	case 'H':
		return ContextHardIRQ | ContextSoftIRQ, true
	case 'z':
		return ContextNMI, true
	case 'Z':
		return ContextNMI | ContextHardIRQ, true
	}
	return 0, false
}

func interruptLetter(f ContextFlag) byte {
	switch {
	case f&ContextNMI != 0 && f&ContextHardIRQ != 0:
		return 'Z'
	case f&ContextNMI != 0:
		return 'z'
	case f&ContextHardIRQ != 0 && f&ContextSoftIRQ != 0:
		return 'H'
	case f&ContextHardIRQ != 0:
		return 'h'
	case f&ContextSoftIRQ != 0:
		return 's'
	}
	return '.'
}

func contextDepth(c byte) (uint8, bool) {
	if c == '.' {
		return 0, true
	}
	if c >= 'A' && c <= 'F' {
		return 0, false
	}
	return hexDigit(c)
}

func depthDigit(depth uint8) byte {
	if depth == 0 {
		return '.'
	}
	return "0123456789abcdef"[depth&0xf]
}
