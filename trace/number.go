package trace

// parseInt reads a whole text as a number: decimal with an optional sign, or
// hexadecimal with 0x. Leading zeros do not make it octal (CPUs are printed as
// 005). Unsigned numbers of 64 bits keep their bits.
func parseInt(text []byte) (int64, bool) {
	negative := false
	if len(text) > 1 && text[0] == '-' {
		negative = true
		text = text[1:]
	}
	if len(text) > 2 && text[0] == '0' && text[1] == 'x' {
		value, ok := parseHex(text[2:])
		return signed(value, negative), ok
	}
	value, ok := parseDecimal(text)
	return signed(value, negative), ok
}

func signed(value uint64, negative bool) int64 {
	if negative {
		return -int64(value)
	}
	return int64(value)
}

// maxDecimalDigits is the length of 2^64-1.
const maxDecimalDigits = 20

func parseDecimal(text []byte) (uint64, bool) {
	if len(text) == 0 || len(text) > maxDecimalDigits {
		return 0, false
	}
	var value uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + uint64(c-'0')
	}
	return value, true
}

func parseHex(text []byte) (uint64, bool) {
	if len(text) == 0 || len(text) > 16 {
		return 0, false
	}
	var value uint64
	for _, c := range text {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		value = value<<4 | uint64(digit)
	}
	return value, true
}

func hexDigit(c byte) (uint8, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
