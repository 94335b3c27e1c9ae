package capture

import (
	"cmp"
	"slices"
)

// sortByNumber sorts names that end in numbers: cpu2 comes before cpu10.
func sortByNumber(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		if c := cmp.Compare(len(a), len(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
}
