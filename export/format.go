package export

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is what a recording can be written as.
type Format string

// The formats.
const (
	Text     Format = "text"     // ftrace text
	Perfetto Format = "perfetto" // a Perfetto trace
	Profile  Format = "pprof"    // a profile of package pprof
	CSV      Format = "csv"
	Parquet  Format = "parquet"
)

// Formats lists the formats.
func Formats() []Format { return []Format{Text, Perfetto, Profile, CSV, Parquet} }

// IsTable reports whether the format holds a table, so that a Table can be
// chosen.
func (f Format) IsTable() bool { return f == CSV || f == Parquet }

// Table is what the rows of a table are.
type Table string

// The tables.
const (
	Events Table = "events" // a row for each event
	Slices Table = "slices" // a row for each stretch of time that a thread ran, waited or slept
)

// Tables lists the tables.
func Tables() []Table { return []Table{Events, Slices} }

var extensions = []struct {
	name   string
	format Format
}{
	{".txt", Text}, {".text", Text}, {".ftrace", Text}, {".trace", Text},
	{".pftrace", Perfetto}, {".perfetto-trace", Perfetto}, {".perfetto", Perfetto},
	{".pprof", Profile}, {".prof", Profile},
	{".csv", CSV}, {".parquet", Parquet},
}

// Extensions lists the extensions that mean the format.
func (f Format) Extensions() []string {
	var out []string
	for _, e := range extensions {
		if e.format == f {
			out = append(out, e.name)
		}
	}
	return out
}

// FormatOfPath chooses by extension; ".gz" behind it is passed over.
func FormatOfPath(path string) (Format, error) {
	extension := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
	for _, e := range extensions {
		if e.name == extension {
			return e.format, nil
		}
	}
	if extension == ".pb" {
		return "", fmt.Errorf("%s: Perfetto traces and profiles are both called .pb; use .pftrace or .pprof, or say --to perfetto|pprof", path)
	}
	return "", fmt.Errorf("%s: the extension %q does not tell what to write; use .txt for ftrace text, .pftrace for Perfetto, .pprof for a profile, .csv or .parquet for a table, or say --to text|perfetto|pprof|csv|parquet", path, extension)
}

// ParseFormat finds a format by name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("%q: use text, perfetto, pprof, csv or parquet", name)
}

// ParseTable finds a table by name.
func ParseTable(name string) (Table, error) {
	if t := Table(name); slices.Contains(Tables(), t) {
		return t, nil
	}
	return "", fmt.Errorf("%q: use events or slices", name)
}
