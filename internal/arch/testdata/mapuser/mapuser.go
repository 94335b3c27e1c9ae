// Package mapuser ranges over a map, which package arch must notice.
package mapuser

type table map[string]int

// Sum adds up the values.
func Sum(t table) int {
	sum := 0
	for _, v := range t {
		sum += v
	}
	return sum
}
