// Package export writes recordings for other tools: as traces (ftrace text,
// Perfetto), as a profile of where time went (pprof), and as tables of events or
// of what threads did (CSV, Parquet).
//
// Everything is written in one pass over the recording.
package export
