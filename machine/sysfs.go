package machine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// findSysfs returns the devices/system folder of a tree: of a machine's root,
// of sys/ itself, of a copy one folder further down, or the folder itself.
func findSysfs(fsys fs.FS) (fs.FS, error) {
	places := []string{"sys/devices/system", "devices/system"}
	entries, _ := fs.ReadDir(fsys, ".") // a tree that cannot be listed has no such folder either
	for _, e := range entries {
		places = append(places, path.Join(e.Name(), "sys/devices/system"))
	}
	places = append(places, ".") // devices/system itself
	for _, place := range places {
		if names, err := fs.ReadDir(fsys, path.Join(place, "cpu")); err == nil && len(names) > 0 {
			return fs.Sub(fsys, place)
		}
	}
	return nil, errors.New("no sys/devices/system/cpu in it: give the root of a machine, or a copy of its sys folder")
}

// sysfs reads a devices/system folder of any age of kernel.
type sysfs struct {
	fsys fs.FS
	d    *draft
}

func readSysfs(fsys fs.FS) (*draft, error) {
	cpus, err := numberedDirs(fsys, "cpu", "cpu", MaxCPUs)
	if err != nil {
		return nil, err
	}
	if len(cpus) == 0 {
		return nil, errors.New("devices/system/cpu holds no folder such as cpu0")
	}
	s := &sysfs{fsys, newDraft("", slices.Max(cpus)+1)}
	for _, step := range []func() error{
		func() error { return s.readOnline(cpus) },
		s.readTopology,
		s.readCaches,
		s.readNodes,
		s.readCapacities,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.d, nil
}

// numberedDirs lists the numbers of entries such as cpu0, cpu1 in a folder, in
// increasing order; a folder that is not there has none.
func numberedDirs(fsys fs.FS, dir, prefix string, limit int) ([]int, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		n, ok := numberAfter(e.Name(), prefix)
		if !ok {
			continue
		}
		if n >= limit {
			return nil, fmt.Errorf("%s: number %d is beyond the limit of %d", path.Join(dir, abbreviate(e.Name())), n, limit)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

// numberAfter returns 7 for "cpu7" after "cpu".
func numberAfter(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	n, err := parseDecimal(digits)
	return n, err == nil && strconv.Itoa(n) == digits
}

// read returns a file's text without the white space and NUL bytes that old
// kernels and copies leave at its ends; false when it is not there or empty.
func (s *sysfs) read(name string) (string, bool) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // read only
	data, err := io.ReadAll(io.LimitReader(f, maxSysfsFile))
	if err != nil {
		return "", false
	}
	text := strings.Trim(string(data), " \t\r\n\x00")
	return text, text != ""
}

// readInt reads a file that holds one number.
func (s *sysfs) readInt(name string) (int, bool, error) {
	text, ok := s.read(name)
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, false, fmt.Errorf("%s: %q is not a number", name, abbreviate(text))
	}
	return n, true, nil
}

// readSet reads the first of the named files that is there as a set of CPUs. A
// name that ends in list or is "online" holds a list, any other a hex mask.
// CPUs beyond the machine's directories are dropped: a mask may name CPUs that
// could be plugged in.
func (s *sysfs) readSet(dir string, names ...string) (CPUMask, string, error) {
	for _, name := range names {
		full := path.Join(dir, name)
		text, ok := s.read(full)
		if !ok {
			continue
		}
		parse := parseHexMask
		if strings.HasSuffix(name, "list") || name == "online" {
			parse = parseMask
		}
		all, err := parse(text, MaxCPUs)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", full, err)
		}
		return all[:len(s.d.online)], text, nil
	}
	return nil, "", nil
}

func cpuDir(cpu int) string   { return "cpu/cpu" + strconv.Itoa(cpu) }
func nodeDir(node int) string { return "node/node" + strconv.Itoa(node) }

// readOnline takes cpu/online, or where an old kernel has none, each CPU's own
// online file; a CPU that cannot be taken offline has no such file.
func (s *sysfs) readOnline(cpus []int) error {
	listed, _, err := s.readSet("cpu", "online")
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		if listed != nil {
			if listed.Has(cpu) {
				s.d.online.Set(cpu)
			}
			continue
		}
		if state, told := s.read(cpuDir(cpu) + "/online"); !told || state != "0" {
			s.d.online.Set(cpu)
		}
	}
	if s.d.online.Empty() {
		return errors.New("cpu/online: no CPU with a directory of its own is online")
	}
	return nil
}

// readTopology reads who shares a core, cluster and package. The names changed
// in Linux 5.3 (core_siblings to package_cpus, thread_siblings to core_cpus);
// before 2.6.26 there were only hex masks.
func (s *sysfs) readTopology() error {
	for _, group := range []struct {
		what  string
		into  []int
		files []string
	}{
		{"thread siblings", s.d.core, []string{"core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings"}},
		{"clusters", s.d.cluster, []string{"cluster_cpus_list", "cluster_cpus"}},
		{"packages", s.d.pkg, []string{"package_cpus_list", "core_siblings_list", "package_cpus", "core_siblings"}},
	} {
		if err := s.readGroups(group.what, group.into, group.files); err != nil {
			return err
		}
	}
	return s.readPackageIDs()
}

// readGroups labels CPUs by the sets they are listed in. A CPU that appears in
// two different sets belongs to the one of the lowest CPU.
func (s *sysfs) readGroups(what string, labels []int, files []string) error {
	claims := make(map[int]string) // label to the text of its set
	disputed := NewCPUMask(s.d.slots())
	for cpu := s.d.online.First(); cpu >= 0; cpu = s.d.online.Next(cpu + 1) {
		set, text, err := s.readSet(cpuDir(cpu)+"/topology", files...)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		if labels[cpu] != unknown {
			if claims[labels[cpu]] != text {
				disputed.Set(cpu)
			}
			continue
		}
		labels[cpu], claims[cpu] = cpu, text
		for other := set.First(); other >= 0; other = set.Next(other + 1) {
			if s.d.online.Has(other) && labels[other] == unknown {
				labels[other] = cpu
			}
		}
	}
	if !disputed.Empty() {
		s.d.note("CPUs %s name other %s than the CPUs that list them: left where the lowest CPU lists them", disputed, what)
	}
	return nil
}

// readPackageIDs falls back on the package number where no set is told; -1
// there means that the firmware does not know.
func (s *sysfs) readPackageIDs() error {
	for cpu := s.d.online.First(); cpu >= 0; cpu = s.d.online.Next(cpu + 1) {
		if s.d.pkg[cpu] != unknown {
			continue
		}
		id, ok, err := s.readInt(cpuDir(cpu) + "/topology/physical_package_id")
		if err != nil {
			return err
		}
		if ok && id >= 0 {
			s.d.pkg[cpu] = MaxCPUs + id // labels made from sets are CPU numbers
		}
	}
	return nil
}

func (s *sysfs) readCaches() error {
	seen := make(map[string]bool)
	for cpu := s.d.online.First(); cpu >= 0; cpu = s.d.online.Next(cpu + 1) {
		dir := cpuDir(cpu) + "/cache"
		indices, err := numberedDirs(s.fsys, dir, "index", 64)
		if err != nil {
			return err
		}
		for _, index := range indices {
			if err := s.readCache(fmt.Sprintf("%s/index%d", dir, index), index, cpu, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// readCache adds a cache instance unless another of its CPUs did so already.
func (s *sysfs) readCache(dir string, index, cpu int, seen map[string]bool) error {
	level, told, err := s.readInt(dir + "/level")
	if err != nil {
		return err
	}
	if !told {
		s.d.note("%s tells no level: left out", dir)
		return nil
	}
	if level < 1 || level > maxCacheLevel {
		return fmt.Errorf("%s/level: %d is not a cache level of 1 to %d", dir, level, maxCacheLevel)
	}
	set, text, err := s.readSet(dir, "shared_cpu_list", "shared_cpu_map")
	if err != nil {
		return err
	}
	if set == nil {
		s.d.note("%s does not tell who shares it: taken as private", dir)
		set, text = MaskOf(s.d.slots(), cpu), strconv.Itoa(cpu)
	}
	typ, _ := s.read(dir + "/type")
	if level > 1 && typ == "" {
		typ = cacheUnified
	}
	key := fmt.Sprint(level, typ, text)
	if typ == "" { // an L1d and an L1i that do not say which they are
		key += fmt.Sprint(" index", index)
	}
	if seen[key] {
		return nil
	}
	seen[key] = true
	size, err := s.readSize(dir + "/size")
	if err != nil {
		return err
	}
	s.d.caches = append(s.d.caches, Cache{Level: level, Type: typ, Size: size, CPUs: set})
	return nil
}

func (s *sysfs) readSize(name string) (int64, error) {
	text, ok := s.read(name)
	if !ok {
		return 0, nil
	}
	size, err := parseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return size, nil
}

// readCapacities reads cpu_capacity, which kernels have where CPUs may differ.
func (s *sysfs) readCapacities() error {
	told := 0
	for cpu := s.d.online.First(); cpu >= 0; cpu = s.d.online.Next(cpu + 1) {
		name := cpuDir(cpu) + "/cpu_capacity"
		capacity, ok, err := s.readInt(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if capacity < 1 || capacity > maxRawCapacity {
			return fmt.Errorf("%s: %d is not a capacity", name, capacity)
		}
		s.d.capacity[cpu] = capacity
		told++
	}
	if told == 0 {
		s.noteHybrid()
	}
	return nil
}

// maxRawCapacity bounds capacities before they are scaled to 1024.
const maxRawCapacity = 1 << 20

// noteHybrid says when CPUs differ in a way that no capacity tells: x86 gives
// all CPUs 1024 before Linux 6.12.
func (s *sysfs) noteHybrid() {
	kinds := make(map[string]bool)
	for cpu := s.d.online.First(); cpu >= 0; cpu = s.d.online.Next(cpu + 1) {
		if perf, ok := s.read(cpuDir(cpu) + "/acpi_cppc/highest_perf"); ok {
			kinds[perf] = true
		}
	}
	if len(kinds) > 1 {
		s.d.note("CPUs differ in acpi_cppc/highest_perf but no cpu_capacity is told: all taken as 1024, as Linux before 6.12 does on x86")
	}
}
