// Package rtapp reads the workload files of rt-app: JSON with comments, trailing
// commas, keys that occur twice and keys without a value. It knows the grammar
// and nothing of what becomes of it: package workload makes programs of it.
//
// The grammar is that of rt-app's tutorial and parser in 2026; where the two
// disagree, the parser is followed. Mistakes are reported as [*Error], with
// line, column and the lines around.
package rtapp
