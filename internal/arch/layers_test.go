package arch

import (
	"go/token"
	"slices"
	"strings"
	"testing"
)

// layer says what a package may import besides itself.
type layer struct {
	own     []string // packages of this module
	foreign []string // modules that are not the standard library
}

// layers is the dependency graph of ARCHITECTURE.md. A package may import less
// than it says, never more.
var layers = map[string]layer{
	"internal/suggest":   {},
	"internal/excerpt":   {},
	"internal/smallfile": {},
	"internal/arch":      {},
	"published":          {},
	"experiments":        {},

	"machine":  {foreign: []string{"github.com/goccy/go-yaml"}},
	"rtapp":    {own: []string{"internal/excerpt", "internal/suggest"}, foreign: []string{"github.com/tailscale/hujson"}},
	"workload": {own: []string{"rtapp"}},
	"trace":    {own: []string{"machine"}, foreign: []string{"google.golang.org/protobuf", "github.com/klauspost/compress"}},
	"timeline": {own: []string{"machine", "trace"}},
	"export": {
		own:     []string{"machine", "timeline", "trace"},
		foreign: []string{"github.com/google/pprof", "github.com/klauspost/compress", "github.com/parquet-go/parquet-go"},
	},
	"stats": {own: []string{"sched"}, foreign: []string{"gonum.org/v1/gonum"}},

	"sched": {own: []string{"machine"}},
	"sim": {
		own:     []string{"internal/smallfile", "internal/suggest", "machine", "sched", "trace", "workload"},
		foreign: []string{"github.com/HdrHistogram/hdrhistogram-go"},
	},
	"experiment": {
		own:     []string{"internal/excerpt", "internal/smallfile", "internal/suggest", "machine", "published", "sched", "sim", "stats", "trace", "workload"},
		foreign: []string{"github.com/goccy/go-yaml"},
	},
	"chart":     {foreign: []string{"gonum.org/v1/plot"}},
	"page":      {own: []string{"chart"}},
	"occupancy": {own: []string{"timeline", "trace"}},
	"explain":   {own: []string{"chart", "internal/smallfile", "machine", "page", "sched", "stats", "trace"}},
	"quota": {
		own:     []string{"chart", "experiment", "internal/smallfile", "page", "sched", "sim", "trace", "workload"},
		foreign: []string{"github.com/goccy/go-yaml"},
	},
	"calibrate": {own: []string{"experiment", "published", "sim", "stats", "workload"}},
	"report":    {own: []string{"chart", "machine", "occupancy", "page", "sched", "stats"}, foreign: []string{"github.com/parquet-go/parquet-go"}},

	"reference":                      {own: []string{"export", "machine", "report", "sched", "sim", "trace", "workload"}},
	"internal/reproduction":          {own: []string{"experiment", "experiments", "internal/suggest", "report", "stats"}},
	"internal/reproduction/generate": {own: []string{"internal/reproduction"}},

	"capture": {own: []string{"bundle"}},
	"bundle":  {own: []string{"machine", "report", "sched", "sim", "trace"}},
	"serve":   {own: []string{"explain", "export", "timeline", "trace"}},
	"cli": {
		own:     []string{"bundle", "calibrate", "capture", "experiment", "experiments", "explain", "export", "internal/reproduction", "internal/suggest", "machine", "occupancy", "page", "quota", "reference", "report", "sched", "serve", "sim", "stats", "trace", "workload"},
		foreign: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
	},
	"cmd/schedlab": {own: []string{"cli"}},

	"examples/custom-placement": {own: []string{"cli", "sched"}},
}

func TestPackagesImportDownwardsOnly(t *testing.T) {
	for _, f := range sources(t, token.NewFileSet()) {
		if f.isTest() {
			continue // a test may build what it tests from above
		}
		allowed, known := layers[f.pkg()]
		if !known {
			t.Errorf("%s: package %s is in no layer; please give it a place in layers_test.go and in the graph of ARCHITECTURE.md", f.path, f.pkg())
			continue
		}
		own, foreign := f.imports()
		for _, name := range own {
			if !slices.Contains(allowed.own, name) {
				t.Errorf("%s imports %s, which is not below %s; please move what both need down, or pass it in from above", f.path, name, f.pkg())
			}
		}
		for _, name := range foreign {
			if !isStandard(name) && !slices.ContainsFunc(allowed.foreign, func(mod string) bool { return below(name, mod) }) {
				t.Errorf("%s imports %s; please keep libraries out of %s, or list this one in layers_test.go and say why in RATIONALE.md", f.path, name, f.pkg())
			}
		}
	}
}

// The graph itself must be one: walking down from any package never comes back.
func TestLayersHaveNoCycle(t *testing.T) {
	const (
		walking = 1
		done    = 2
	)
	state := map[string]int{}
	var walk func(pkg string) bool
	walk = func(pkg string) bool {
		switch state[pkg] {
		case walking:
			return false
		case done:
			return true
		}
		state[pkg] = walking
		for _, lower := range layers[pkg].own {
			if _, known := layers[lower]; !known {
				t.Errorf("layer %s may import %s, which has no layer of its own; please add it", pkg, lower)
			}
			if !walk(lower) {
				t.Errorf("layers %s and %s are below each other; please drop one of the arrows", pkg, lower)
			}
		}
		state[pkg] = done
		return true
	}
	for pkg := range layers {
		walk(pkg)
	}
}

// isStandard reports whether an import path is of the standard library: its
// first part has no dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// below reports whether a package belongs to a module.
func below(name, mod string) bool { return name == mod || strings.HasPrefix(name, mod+"/") }
