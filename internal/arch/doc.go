// Package arch holds tests of the source as a whole and nothing else: that
// packages import downwards only (ARCHITECTURE.md), that the engine stays
// deterministic, and that documents name what exists. Each failure says what
// to do instead.
package arch
