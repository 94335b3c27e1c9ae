package reproduction

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/stats"
)

// Results are tables made from records, with the published lines beside them.
type Results struct {
	Tables []stats.Table // in the order of the experiments
	NotRun []Gap         // what the experiments have and the records do not
}

// Gap is a part of a document of which some tables are missing.
type Gap struct {
	Part  string
	Whole bool     // nothing of it is there
	Names []string // the benchmarks with missing tables, "tbench [quiet]" where one environment of several is missing
}

// String names the gap in a sentence.
func (g *Gap) String() string {
	if g.Whole {
		return g.Part
	}
	return "of " + g.Part + ": " + strings.Join(g.Names, ", ")
}

// Part loads a built-in experiment. The error, for a name that is none, lists
// the names.
func Part(name string) (*experiment.Experiment, error) {
	file, text, err := experiments.File(name)
	if err != nil {
		return nil, fmt.Errorf("there is no document %q; %s", name, suggest.DidYouMean(name, experiments.Names()))
	}
	return experiment.Parse(file, text)
}

// Rebuild makes the tables of some parts of a document from records. The error
// is for a record that no part can have made, and for a figure that is there
// twice.
func Rebuild(parts []string, records []stats.Record) (*Results, error) {
	tables, err := stats.Rebuild(records)
	if err != nil {
		return nil, err
	}
	all := &Results{}
	used := 0
	for _, part := range parts {
		x, err := Part(part)
		if err != nil {
			return nil, err
		}
		found, gap, err := tablesOf(part, x, tables)
		if err != nil {
			return nil, err
		}
		used += len(found)
		all.Tables = append(all.Tables, found...)
		if gap != nil {
			all.NotRun = append(all.NotRun, *gap)
		}
	}
	if used < len(tables) {
		return nil, foreign(tables, all.Tables, parts)
	}
	return all, nil
}

// tablesOf picks the tables of one experiment, in its order.
func tablesOf(part string, x *experiment.Experiment, tables []stats.Table) (found []stats.Table, gap *Gap, err error) {
	missing := &Gap{Part: part}
	outline := x.Outline()
	for i := range outline {
		at := slices.IndexFunc(tables, func(t stats.Table) bool { return sameTable(&t, &outline[i]) })
		if at < 0 {
			missing.Names = append(missing.Names, tableName(&outline[i], outline))
			continue
		}
		if err := x.AttachPublished(&tables[at]); err != nil {
			return nil, nil, err
		}
		found = append(found, tables[at])
	}
	if len(missing.Names) == 0 {
		return found, nil, nil
	}
	missing.Whole = len(found) == 0
	missing.Names = slices.Compact(missing.Names)
	return found, missing, nil
}

func sameTable(a, b *stats.Table) bool {
	return a.Machine == b.Machine && a.Benchmark == b.Benchmark && a.Environment == b.Environment
}

// tableName has the machine and the environment where the outline has several.
func tableName(t *stats.Table, outline []stats.Table) string {
	name := t.Benchmark
	if slices.ContainsFunc(outline, func(o stats.Table) bool { return o.Machine != t.Machine }) {
		name += " on " + t.Machine
	}
	if slices.ContainsFunc(outline, func(o stats.Table) bool { return o.Environment != t.Environment }) {
		name += " [" + t.Environment + "]"
	}
	return name
}

// foreign says which table belongs to none of the parts.
func foreign(tables, known []stats.Table, parts []string) error {
	for i := range tables {
		if !slices.ContainsFunc(known, func(k stats.Table) bool { return sameTable(&k, &tables[i]) }) {
			return fmt.Errorf("there are results of %q on %s [%s], which is not in %s",
				tables[i].Benchmark, tables[i].Machine, tables[i].Environment, suggest.Enumerate(parts))
		}
	}
	return errors.New("the parts have a table in common") // no document has
}

// readRecords reads results in the layout of results.csv.
func readRecords(path string) ([]stats.Record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return stats.ReadRecords(path, file)
}

// Read rebuilds from one file in the layout of results.csv.
func Read(path string, parts []string) (*Results, error) {
	records, err := readRecords(path)
	if err != nil {
		return nil, err
	}
	results, err := Rebuild(parts, records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return results, nil
}
