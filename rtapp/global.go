package rtapp

import (
	"math"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/internal/suggest"
)

// Global is the global object with the tool's defaults filled in.
type Global struct {
	Given         bool  // the file has a global object
	Duration      int64 // seconds; 0 or less: until all threads have ended
	DefaultPolicy Policy
	Calibration   int64 // ns a loop; 0: to be measured
	Log           LogMode
	LogDir        string
	LogBasename   string
	Ftrace        Setting[string] // categories, "" or "none" for no markers
	Gnuplot       Setting[bool]
	LockPages     Setting[bool]
	PIEnabled     Setting[bool]
	IODevice      Setting[string]
	MemBuffer     int64 // bytes for each thread
	// CumulativeSlack adds up the slack of all timers of a phase.
	CumulativeSlack bool
}

// Setting is a value with the place where the file gives it.
type Setting[T any] struct {
	Value T
	Pos   Pos
}

// LogMode is what happens to the threads' logs.
type LogMode struct {
	Enabled bool
	// Buffer is the size in bytes of a ring that keeps the newest rows, 0: all
	// rows are kept.
	Buffer int64
}

// Defaults of the tool.
const (
	defaultMemBuffer   = 4 << 20
	defaultLogBasename = "rt-app"
	maxDuration        = 1 << 20 // seconds
	maxLogMegabytes    = 1 << 11 // an int holds no more bytes
)

// defaultGlobal is what counts when there is no global object: no logs, and
// pages locked. With one, its own defaults count: see [parser.global].
func defaultGlobal() Global {
	return Global{
		Duration: -1, DefaultPolicy: Other, LogDir: "./", LogBasename: defaultLogBasename,
		LockPages: Setting[bool]{Value: true}, IODevice: Setting[string]{Value: "/dev/null"}, MemBuffer: defaultMemBuffer,
	}
}

var globalKeys = []string{
	"duration", "calibration", "default_policy", "pi_enabled", "lock_pages", "logdir", "log_basename", "log_size",
	"ftrace", "gnuplot", "io_device", "mem_buffer_size", "cumulative_slack", "frag",
}

func (p *parser) global(n *node) error {
	if err := p.want(object, "global", n); err != nil {
		return err
	}
	g := &p.file.Global
	g.Given, g.Log.Enabled = true, true
	ps := p.properties()
	for i := range n.members {
		m := &n.members[i]
		if !ps.once(m) {
			return ps.err
		}
		if err := p.globalKey(g, m); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) globalKey(g *Global, m *member) (err error) {
	at := Pos{m.at}
	switch m.key {
	case "duration":
		g.Duration, err = p.integer(m.key, m.value, -1, maxDuration)
	case "calibration":
		err = p.calibration(g, m)
	case "default_policy":
		g.DefaultPolicy, err = p.policy(m)
	case "pi_enabled":
		g.PIEnabled.Pos = at
		g.PIEnabled.Value, err = p.truth(m.key, m.value)
	case "lock_pages":
		g.LockPages.Pos = at
		g.LockPages.Value, err = p.truth(m.key, m.value)
	case "logdir":
		g.LogDir, err = p.str(m.key, m.value)
	case "log_basename":
		g.LogBasename, err = p.str(m.key, m.value)
	case "log_size":
		err = p.logSize(g, m)
	case "ftrace":
		g.Ftrace.Pos = at
		err = p.ftrace(g, m)
	case "gnuplot":
		g.Gnuplot.Pos = at
		g.Gnuplot.Value, err = p.truth(m.key, m.value)
	case "io_device":
		g.IODevice.Pos = at
		g.IODevice.Value, err = p.str(m.key, m.value)
	case "mem_buffer_size":
		g.MemBuffer, err = p.integer(m.key, m.value, 1, math.MaxInt32)
	case "cumulative_slack":
		g.CumulativeSlack, err = p.truth(m.key, m.value)
	case "frag":
		p.remark(m.at, "%s: rt-app itself no longer reads it", quote(m.key))
	default:
		return p.unknown(m, "global", globalKeys)
	}
	return err
}

func (p *parser) policy(m *member) (Policy, error) {
	name, err := p.str(m.key, m.value)
	if err != nil {
		return Same, err
	}
	for _, known := range policies {
		if name == known {
			return Policy(name), nil
		}
	}
	return Same, p.errorAt(m.value.at, "there is no policy %s; %s", quote(name), suggest.DidYouMean(name, policies))
}

// calibration is a number of nanoseconds, or the CPU to measure it on.
func (p *parser) calibration(g *Global, m *member) (err error) {
	if m.value.kind == number {
		g.Calibration, err = p.integer(m.key, m.value, 1, math.MaxInt32)
		return err
	}
	name, err := p.str(m.key, m.value)
	if err != nil {
		return err
	}
	digits, found := strings.CutPrefix(name, "CPU")
	if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return p.errorAt(m.value.at, "%s is %s; it takes a CPU such as \"CPU0\", or a number of nanoseconds", quote(m.key), quote(name))
	}
	return nil
}

// logSize is the megabytes of each thread's buffer, or a mode. The tutorial
// writes the modes with a capital, the parser without.
func (p *parser) logSize(g *Global, m *member) error {
	if m.value.kind == number {
		megabytes, err := p.integer(m.key, m.value, 0, maxLogMegabytes-1)
		g.Log = LogMode{Enabled: megabytes > 0, Buffer: megabytes << 20}
		return err
	}
	mode, err := p.str(m.key, m.value)
	if err != nil {
		return err
	}
	switch strings.ToLower(mode) {
	case "disable":
		g.Log.Enabled = false
	case "file", "auto":
	default:
		return p.errorAt(m.value.at, "%s is %s; it takes \"file\", \"disable\", \"auto\" or a number of megabytes", quote(m.key), quote(mode))
	}
	return nil
}

var ftraceCategories = []string{"main", "task", "loop", "event", "stats", "run", "none"}

func (p *parser) ftrace(g *Global, m *member) (err error) {
	if m.value.kind == boolean {
		if m.value.truth {
			g.Ftrace.Value = "all"
		}
		return nil
	}
	if g.Ftrace.Value, err = p.str(m.key, m.value); err != nil {
		return err
	}
	if g.Ftrace.Value == "none" {
		g.Ftrace.Value = ""
	}
	for name := range strings.SplitSeq(g.Ftrace.Value, ",") {
		if name != "" && !slices.Contains(ftraceCategories, strings.ToLower(name)) {
			return p.errorAt(m.value.at, "there is no category %s; %s", quote(name), suggest.DidYouMean(name, ftraceCategories))
		}
	}
	return nil
}
