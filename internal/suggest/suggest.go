// Package suggest finishes error messages: what to write instead.
package suggest

import (
	"fmt"
	"strings"
)

// DidYouMean is a clause that names the candidate nearest to name, or lists all
// of them when none is near.
func DidYouMean(name string, candidates []string) string {
	if near := nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "choose " + Enumerate(candidates)
}

// Enumerate lists names as prose: "a, b or c".
func Enumerate(names []string) string {
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// nearest is the candidate with the fewest edits, if that is at most a third of
// the name's length (at least two); the first of equals.
func nearest(name string, candidates []string) string {
	const longest = 64 // longer is no slip of the finger
	if len(name) > longest {
		return ""
	}
	best, bestEdits := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		if d := edits(strings.ToLower(name), strings.ToLower(c)); d < bestEdits {
			best, bestEdits = c, d
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
