// Package serve shows results and recordings on a local web page: tables of
// variants, and a timeline of CPUs and tasks over millions of events.
//
// A [Library] finds what a folder holds and reads nothing outside it. A
// [Recording] is a trace made ready for drawing: for each CPU and each task a
// step function with a pyramid of summaries above it, so that a tile of any
// zoom level costs the same. What threads did is told by package timeline; drawn
// differs in two points: what the first event of a CPU finds running is drawn from
// the recording's start, and a PID that is used again keeps its row. A [Server] answers a browser on this machine.
package serve
