package experiment

import (
	"errors"
	"strings"
)

// splitCommand cuts a benchmark's command line at blanks. Single and double
// quotes keep blanks; there is no other shell syntax.
func splitCommand(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote that does not end")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
