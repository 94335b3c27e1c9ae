package trace

import "strings"

// evalConstant computes a constant expression of C as it stands in the kernel's
// print formats, such as "(((0x00 | 0x40) + 1) << 1)": numbers, parentheses and
// the operators | + - <<.
func evalConstant(text string) (int64, bool) {
	p := constantParser{rest: text}
	value, ok := p.or()
	p.skipSpace()
	return value, ok && p.rest == ""
}

// constantParser descends by precedence: | binds least, then <<, then + and -.
type constantParser struct {
	rest  string
	depth int
}

// maxConstantDepth bounds the nesting, so that a damaged format cannot exhaust
// the stack.
const maxConstantDepth = 64

func (p *constantParser) or() (int64, bool) {
	return p.binary(p.shift, "|", func(a, b int64) int64 { return a | b })
}

func (p *constantParser) shift() (int64, bool) {
	return p.binary(p.sum, "<<", func(a, b int64) int64 {
		if b < 0 || b > 62 {
			return 0
		}
		return a << b
	})
}

func (p *constantParser) sum() (int64, bool) {
	value, ok := p.operand()
	for ok {
		switch {
		case p.take("+"):
			var term int64
			term, ok = p.operand()
			value += term
		case p.take("-"):
			var term int64
			term, ok = p.operand()
			value -= term
		default:
			return value, true
		}
	}
	return 0, false
}

func (p *constantParser) binary(next func() (int64, bool), operator string, apply func(a, b int64) int64) (int64, bool) {
	value, ok := next()
	for ok && p.take(operator) {
		var right int64
		right, ok = next()
		value = apply(value, right)
	}
	return value, ok
}

func (p *constantParser) operand() (int64, bool) {
	if p.take("(") {
		p.depth++
		if p.depth > maxConstantDepth {
			return 0, false
		}
		value, ok := p.or()
		p.depth--
		return value, ok && p.take(")")
	}
	p.skipSpace()
	end := strings.IndexFunc(p.rest, func(c rune) bool {
		return !strings.ContainsRune("0123456789abcdefABCDEFx", c)
	})
	if end < 0 {
		end = len(p.rest)
	}
	value, ok := parseInt([]byte(p.rest[:end]))
	p.rest = p.rest[end:]
	return value, ok
}

func (p *constantParser) take(token string) bool {
	p.skipSpace()
	if !strings.HasPrefix(p.rest, token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *constantParser) skipSpace() { p.rest = strings.TrimLeft(p.rest, " \t") }
