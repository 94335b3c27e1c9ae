package explain

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

// Bundle is one recording with everything that belongs to it.
type Bundle struct {
	Dir     string
	Trace   string // path of the trace
	Kernel  string // "6.1"
	Profile *sched.Profile
	Machine *machine.Machine
	// Words are the feature bits as debugfs prints them.
	Words    []string
	Tunables []Tunable
	Groups   []Group
	// Simulated: schedlab wrote it and tells everything; see exact.go.
	Simulated bool
	HZ        int64            // of a simulation; 0: not told
	Prices    map[string]int64 // of a simulation
	// Notes says what was not recorded or not understood, and what that means.
	Notes []string
}

// Tunable is one setting of the recorded kernel.
type Tunable struct {
	Name  string
	Value int64
}

// Group is a control group as cgroups.txt describes it.
type Group struct {
	Path   string
	Weight int64 // 0: not told
	Idle   bool
	Quota  bool // cpu.max limits it
}

// traceNames are the files that a bundle's trace may be, in order of preference.
var traceNames = []string{"trace.txt.gz", "trace.txt", "trace.dat", "trace.dat.gz", "perf.data", "trace.perfetto-trace", "trace.pftrace"}

// Find returns the bundles that a path means: the path itself when it is one,
// else all below it, in the order of their names.
func Find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder; give the folder of a capture, which holds trace.txt.gz and tunables.txt, or a folder of such folders", path)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	var dirs []string
	err = filepath.WalkDir(path, func(dir string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && findTrace(dir) != "" {
			dirs = append(dirs, dir)
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s: no capture in it: none of its folders holds %s", path, strings.Join(traceNames, ", "))
	}
	sort.Strings(dirs)
	return dirs, nil
}

func findTrace(dir string) string {
	for _, name := range traceNames {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// Open reads a bundle's description; the trace itself is read by [Run].
func Open(dir string) (*Bundle, error) {
	b := &Bundle{Dir: dir, Trace: findTrace(dir)}
	if b.Trace == "" {
		return nil, fmt.Errorf("%s: no trace in it; expected one of %s", dir, strings.Join(traceNames, ", "))
	}
	if err := b.readMachine(); err != nil {
		return nil, err
	}
	version, err := b.readTunables()
	if err != nil {
		return nil, err
	}
	if err := b.setKernel(version); err != nil {
		return nil, err
	}
	if err := b.readGroups(); err != nil {
		return nil, err
	}
	return b, nil
}

// readMachine takes the machine.txt of the bundle, else that of its parent.
func (b *Bundle) readMachine() error {
	own := filepath.Join(b.Dir, "machine.txt")
	parent := filepath.Join(filepath.Dir(filepath.Clean(b.Dir)), "machine.txt")
	for _, path := range []string{own, parent} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		imported, err := machine.Import(path)
		if err != nil {
			return err
		}
		b.Machine = imported.Machine
		b.Notes = append(b.Notes, imported.Notes...)
		return nil
	}
	return fmt.Errorf("%s: no machine.txt in it or in its parent; copy there the output of: grep -r . /sys/devices/system/{cpu,node} --include=*list --include=distance --include=level", b.Dir)
}

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)`)

// readTunables reads the features and settings in force. A bundle without the
// file has the defaults of its kernel.
func (b *Bundle) readTunables() (version string, err error) {
	path := filepath.Join(b.Dir, "tunables.txt")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		b.Notes = append(b.Notes, "no tunables.txt: the kernel's defaults are assumed")
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // read only
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "Linux version "):
			version = strings.TrimPrefix(line, "Linux version ")
			if err := b.recogniseSimulation(version); err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
		case isFeatureLine(line):
			b.Words = strings.Fields(line)
		default:
			b.addTunable(line)
		}
	}
	return version, lines.Err()
}

// isFeatureLine recognises the content of debugfs' sched/features.
func isFeatureLine(line string) bool {
	words := strings.Fields(line)
	for _, w := range words {
		if strings.ContainsAny(w, ":/=") || strings.ToUpper(w) != w {
			return false
		}
	}
	return len(words) > 3
}

// addTunable reads "migration_cost_ns: 500000" or the path of a sysctl.
func (b *Bundle) addTunable(line string) {
	name, text, found := strings.Cut(line, ":")
	value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if !found || err != nil {
		return
	}
	name = strings.TrimPrefix(filepath.Base(strings.TrimSpace(name)), "sched_")
	b.Tunables = append(b.Tunables, Tunable{name, value})
}

// setKernel takes the profile of the kernel that was recorded.
func (b *Bundle) setKernel(version string) error {
	if version == "" {
		version = filepath.Base(filepath.Dir(filepath.Clean(b.Dir)))
	}
	major, minor, ok := parseVersion(version)
	if !ok {
		return fmt.Errorf("%s: which kernel was this? Put its /proc/version into tunables.txt, or name the folder above after it, such as 6.1", b.Dir)
	}
	b.Kernel = fmt.Sprintf("%d.%d", major, minor)
	if b.Simulated {
		return nil // it has told its profile
	}
	b.Profile = nearestOlder(major, minor)
	if b.Profile == nil {
		return fmt.Errorf("%s: kernel %s is older than every profile; schedlab kernels lists them", b.Dir, b.Kernel)
	}
	if name := strings.TrimPrefix(b.Profile.Name, "v"); name != b.Kernel {
		b.Notes = append(b.Notes, fmt.Sprintf("kernel %s is judged by the rules of %s, the nearest older one", b.Kernel, b.Profile.Name))
	}
	return nil
}

// NearestProfile is by which rules a kernel is judged: the newest profile that
// is not newer than its version, "6.8.0-45-generic" or a line of /proc/version;
// nil when there is none.
func NearestProfile(version string) *sched.Profile {
	major, minor, ok := parseVersion(version)
	if !ok {
		return nil
	}
	return nearestOlder(major, minor)
}

func nearestOlder(major, minor int) *sched.Profile {
	var nearest *sched.Profile
	for _, p := range sched.Profiles() {
		pMajor, pMinor, ok := parseVersion(p.Name)
		if !ok || strings.Contains(p.Name, "-") {
			continue
		}
		if pMajor < major || pMajor == major && pMinor <= minor {
			nearest = p
		}
	}
	return nearest
}

func parseVersion(text string) (major, minor int, ok bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	major, errMajor := strconv.Atoi(m[1])
	minor, errMinor := strconv.Atoi(m[2])
	return major, minor, errMajor == nil && errMinor == nil
}

// Config returns the configuration of the recorded scheduler.
func (b *Bundle) Config(hz int64) sched.Config {
	cfg := sched.NewConfig(b.Machine, b.Profile)
	cfg.HZ = hz
	b.setPrices(&cfg)
	for _, word := range b.Words {
		_ = cfg.SetFeature(word) // bits that no mechanism here depends on
	}
	for _, t := range b.Tunables {
		_ = cfg.SetTunable(t.Name, t.Value) // likewise
	}
	return cfg
}

// online reports whether the machine has the CPU and uses it.
func (b *Bundle) online(cpu int32) bool {
	return cpu >= 0 && int(cpu) < len(b.Machine.CPUs) && b.Machine.CPUs[cpu].Online
}

// maxGroupsBytes is far above what any number of groups needs.
const maxGroupsBytes = 16 << 20

// readGroups reads cgroups.txt, which is there when groups were used:
// "== /be idle=1 weight=0 max=max 100000", followed by cpu.stat.
func (b *Bundle) readGroups() error {
	path := filepath.Join(b.Dir, "cgroups.txt")
	data, err := smallfile.Read(path, maxGroupsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for number, line := range strings.Split(string(data), "\n") {
		header, isHeader := strings.CutPrefix(line, "== ")
		if !isHeader {
			continue
		}
		g, err := parseGroup(header)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, number+1, err)
		}
		if g.Path != "/" {
			b.Groups = append(b.Groups, g)
		}
	}
	// Parents first: a path sorts behind its prefix.
	sort.Slice(b.Groups, func(i, j int) bool { return b.Groups[i].Path < b.Groups[j].Path })
	return nil
}

func parseGroup(header string) (Group, error) {
	fields := strings.Fields(header)
	if len(fields) == 0 || !strings.HasPrefix(fields[0], "/") {
		return Group{}, fmt.Errorf("%q is not a line such as == /be idle=1 weight=100 max=50000 100000", header)
	}
	g := Group{Path: fields[0]}
	for _, f := range fields[1:] {
		key, text, _ := strings.Cut(f, "=")
		switch key {
		case "idle":
			g.Idle = text == "1"
		case "weight":
			if text == "" {
				continue
			}
			weight, err := strconv.ParseInt(text, 10, 64)
			if err != nil || weight < 0 || weight > 10000 {
				return Group{}, fmt.Errorf("cpu.weight of %s is %q, not a number from 0 to 10000", g.Path, text)
			}
			g.Weight = weight
		case "max":
			g.Quota = text != "" && text != "max"
		}
	}
	return g, nil
}
