package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lscpuField is one line of lscpu -J; since util-linux 2.37 lines may have
// others below them.
type lscpuField struct {
	Field    string          `json:"field"`
	Data     json.RawMessage `json:"data"`
	Children []lscpuField    `json:"children"`
}

// lscpuSummary is what the lines say. The summary counts; it does not tell
// which CPUs share a core or a cache.
type lscpuSummary struct {
	threads, coresPerGroup, groups int // 0 when not told
	online                         []int
	offline                        []int
	nodes                          map[int][]int
	caches                         []summaryCache
}

// summaryCache is a line such as "L2 cache: 2 MiB (2 instances)".
type summaryCache struct {
	cacheColumn
	size      int64 // of one instance
	instances int   // 0 when not told, before util-linux 2.34
}

var (
	nodeCPUsField  = regexp.MustCompile(`^NUMA node([0-9]+) CPU\(s\)$`)
	cacheField     = regexp.MustCompile(`^(L[1-9][di]?)(?: cache)?$`)
	cacheInstances = regexp.MustCompile(`^(.*) \(([0-9]+) instances?\)$`)
)

func parseLscpuSummary(fields []lscpuField) (*draft, error) {
	s := &lscpuSummary{nodes: make(map[int][]int)}
	if err := s.readFields(fields); err != nil {
		return nil, err
	}
	return s.draft()
}

func (s *lscpuSummary) readFields(fields []lscpuField) error {
	for _, f := range fields {
		name := strings.TrimSuffix(strings.TrimSpace(f.Field), ":")
		if err := s.readField(name, strings.TrimSpace(jsonCell(f.Data))); err != nil {
			return fmt.Errorf("field %q: %w", abbreviate(f.Field), err)
		}
		if err := s.readFields(f.Children); err != nil {
			return err
		}
	}
	return nil
}

func (s *lscpuSummary) readField(name, data string) (err error) {
	switch name {
	case "On-line CPU(s) list":
		s.online, err = ParseCPUList(data, MaxCPUs)
		return err
	case "Off-line CPU(s) list":
		s.offline, err = ParseCPUList(data, MaxCPUs)
		return err
	case "Thread(s) per core":
		return s.count(&s.threads, data)
	case "Core(s) per socket", "Core(s) per cluster":
		return s.count(&s.coresPerGroup, data)
	case "Socket(s)", "Cluster(s)", "Socket(s) per book", "Book(s) per drawer", "Drawer(s)", "Book(s)":
		return s.multiply(data)
	}
	if m := nodeCPUsField.FindStringSubmatch(name); m != nil {
		return s.readNode(m[1], data)
	}
	if m := cacheField.FindStringSubmatch(name); m != nil {
		return s.readCache(m[1], data)
	}
	return nil
}

// errSeveralModels is returned for machines whose CPUs differ: lscpu prints a
// block of counts for each model.
var errSeveralModels = errors.New("is there for several CPU models; the summary does not tell their CPUs apart: give lscpu -J -e or lscpu -p")

func (s *lscpuSummary) count(into *int, data string) error {
	if *into != 0 {
		return errSeveralModels
	}
	n, err := parseSummaryCount(data)
	*into = n
	return err
}

// multiply counts sockets, in books and drawers on s390.
func (s *lscpuSummary) multiply(data string) error {
	if data == "-" {
		return nil
	}
	n, err := parseSummaryCount(data)
	if err != nil {
		return err
	}
	s.groups = max(s.groups, 1) * n
	if s.groups > MaxCPUs {
		return fmt.Errorf("more than %d sockets", MaxCPUs)
	}
	return nil
}

func parseSummaryCount(data string) (int, error) {
	n, err := parseDecimal(data)
	if err != nil || n < 1 || n > MaxCPUs {
		return 0, fmt.Errorf("%q is not a number of 1 to %d", abbreviate(data), MaxCPUs)
	}
	return n, nil
}

func (s *lscpuSummary) readNode(number, data string) error {
	id, err := strconv.Atoi(number)
	if err != nil || id >= maxNodes {
		return fmt.Errorf("node number beyond the limit of %d", maxNodes)
	}
	s.nodes[id], err = ParseCPUList(data, MaxCPUs)
	return err
}

func (s *lscpuSummary) readCache(name, data string) error {
	column, ok := parseCacheColumn(name)
	if !ok {
		return nil
	}
	c := summaryCache{cacheColumn: column}
	total := data
	if m := cacheInstances.FindStringSubmatch(data); m != nil {
		n, err := parseSummaryCount(m[2])
		if err != nil {
			return err
		}
		c.instances, total = n, m[1]
	}
	size, err := parseSize(total)
	if err != nil {
		return err
	}
	c.size = size
	if c.instances > 0 {
		c.size /= int64(c.instances)
	}
	s.caches = append(s.caches, c)
	return nil
}

func (s *lscpuSummary) draft() (*draft, error) {
	if len(s.online) == 0 {
		return nil, errors.New(`no "On-line CPU(s) list": give the whole output of lscpu -J`)
	}
	d := newDraft("", 1+max(slices.Max(s.online), slices.Max(append(s.offline, 0))))
	for _, cpu := range s.online {
		d.online.Set(cpu)
	}
	if err := s.placeInNodes(d); err != nil {
		return nil, err
	}
	if err := s.checkCounts(); err != nil {
		return nil, err
	}
	cores, err := s.pairSiblings(d)
	if err != nil {
		return nil, err
	}
	s.fillPackages(d, cores)
	s.addCaches(d, cores)
	return d, nil
}

func (s *lscpuSummary) placeInNodes(d *draft) error {
	for id := range s.nodes {
		d.nodeIDs = append(d.nodeIDs, id)
	}
	slices.Sort(d.nodeIDs)
	for index, id := range d.nodeIDs {
		for _, cpu := range s.nodes[id] {
			if !d.online.Has(cpu) {
				return fmt.Errorf("NUMA node%d lists CPU %d, which is not online", id, cpu)
			}
			if d.node[cpu] != unknown {
				return fmt.Errorf("NUMA node%d lists CPU %d, which node%d lists too", id, cpu, d.nodeIDs[d.node[cpu]])
			}
			d.node[cpu] = index
		}
	}
	return nil
}

// checkCounts makes sure that the counts describe all online CPUs; with CPUs
// offline they do not, and nothing tells which cores are incomplete.
func (s *lscpuSummary) checkCounts() error {
	if s.threads == 0 || s.coresPerGroup == 0 || s.groups == 0 {
		return errors.New("no threads per core, cores per socket or sockets: give lscpu -J -e or lscpu -p")
	}
	if s.threads*s.coresPerGroup*s.groups != len(s.online) {
		return fmt.Errorf("%d sockets of %d cores of %d threads are not the %d online CPUs; the summary does not tell which are missing: give lscpu -J -e or lscpu -p",
			s.groups, s.coresPerGroup, s.threads, len(s.online))
	}
	return nil
}

// pairSiblings decides which CPUs share a core and returns the cores' CPUs in
// the order nodes and CPUs come. Where every node holds CPU i together with
// i + cores, i + 2*cores, ..., siblings are numbered apart as on x86 servers;
// otherwise they are neighbours, as in virtual machines and on Power.
func (s *lscpuSummary) pairSiblings(d *draft) ([][]int, error) {
	apart := s.siblingsApart(d)
	var cores [][]int
	for _, list := range s.nodeLists(d) {
		if len(list)%s.threads != 0 {
			return nil, fmt.Errorf("a node has %d CPUs, which is no multiple of %d threads per core: give lscpu -J -e or lscpu -p", len(list), s.threads)
		}
		cores = append(cores, chunk(list, s.threads, apart)...)
	}
	for i, core := range cores {
		for _, cpu := range core {
			d.core[cpu] = i
		}
	}
	if s.threads > 1 {
		d.note("lscpu's summary does not tell which CPUs are siblings: taken as %s, and so on; lscpu -p tells", lists(cores[0]))
	}
	return cores, nil
}

func lists(cpus []int) string { return MaskOf(MaxCPUs, cpus...).String() }

func (s *lscpuSummary) siblingsApart(d *draft) bool {
	cores := len(s.online) / s.threads
	for i, cpu := range s.online {
		if cpu != i || d.node[i] != d.node[i%cores] {
			return false
		}
	}
	return true
}

// nodeLists returns the CPUs of each node that has some, and last those in no
// node, each in increasing order.
func (s *lscpuSummary) nodeLists(d *draft) [][]int {
	byNode := make([][]int, len(d.nodeIDs)+1)
	for _, cpu := range s.online {
		index := d.node[cpu]
		if index == unknown {
			index = len(d.nodeIDs)
		}
		byNode[index] = append(byNode[index], cpu)
	}
	return slices.DeleteFunc(byNode, func(l []int) bool { return len(l) == 0 })
}

// chunk divides a list into cores: the k-th CPU of each of the list's threads
// parts when siblings are apart, else runs of neighbours.
func chunk(list []int, threads int, apart bool) [][]int {
	n := len(list) / threads
	cores := make([][]int, n)
	for i := range cores {
		for t := range threads {
			at := i*threads + t
			if apart {
				at = i + t*n
			}
			cores[i] = append(cores[i], list[at])
		}
	}
	return cores
}

func (s *lscpuSummary) fillPackages(d *draft, cores [][]int) {
	for i, core := range cores {
		for _, cpu := range core {
			d.pkg[cpu] = i / s.coresPerGroup
		}
	}
	if s.groups > 1 && s.groups != len(s.nodes) {
		d.note("lscpu's summary does not tell which CPUs are in which of %d sockets: taken in order", s.groups)
	}
}

// addCaches gives each instance the same number of cores in order. A summary
// without counts gives a cache of level 1 or 2 below the last to each core and
// the last level to each package.
func (s *lscpuSummary) addCaches(d *draft, cores [][]int) {
	last := 0
	for _, c := range s.caches {
		last = max(last, c.level)
	}
	for _, c := range s.caches {
		instances := c.instances
		if instances == 0 {
			instances = len(cores)
			if c.level == last {
				instances = s.groups
			}
			d.note("the summary does not tell how many L%d caches there are: %d are assumed", c.level, instances)
		}
		if len(cores)%instances != 0 {
			d.note("%d L%d caches cannot be shared evenly by %d cores: left out; lscpu -p tells who shares them", instances, c.level, len(cores))
			continue
		}
		labels := unknownLabels(d.slots())
		for i, core := range cores {
			for _, cpu := range core {
				labels[cpu] = i / (len(cores) / instances)
			}
		}
		d.addCachePer(labels, Cache{Level: c.level, Type: c.typ, Size: c.size})
	}
}
