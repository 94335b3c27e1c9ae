package experiment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/internal/suggest"
)

// Defaults of an experiment file.
const (
	DefaultHZ          = 250
	DefaultPreemption  = "voluntary"
	DefaultRepeats     = 5
	DefaultSeed        = 1
	DefaultEnvironment = "quiet"
)

// NoRow is the row label of a benchmark without rows.
const NoRow = "-"

const (
	maxRepeats = 1000
	maxRows    = 10000
)

var preemptions = []string{"none", "voluntary", "full", "lazy"}

// Experiment is a loaded experiment file: everything that can be known without
// running anything. It is immutable.
type Experiment struct {
	src          *source
	folder       string // of the file: where relative paths begin
	machines     []text
	kernel       text
	hz           number
	preemption   text
	noise        text
	costs        text
	variants     []variant
	baseline     int
	environments []environment
	benchmarks   []benchmark
	repeats      int
	seed         uint64
	quick        *quick
	published    *publishedSpec
	stretch      stretchSpec
	files        []InputFile
}

type variant struct {
	name                       text
	kernel, machine, placement text
	features                   []text
	tunables                   []tunable
}

type tunable struct {
	name  text
	value number
}

type environment struct {
	name       text
	cgroup     text // where the benchmark itself runs
	cgroups    []cgroupSetting
	declared   []string
	background []backgroundJob
	tunables   []tunable // of every variant; a variant's own go before them
}

type cgroupSetting struct {
	path, file string
	value      text
}

type backgroundJob struct {
	command []string
	run     text
	cgroup  text
}

type benchmark struct {
	name    text
	run     text
	command []string
	rows    []rowFlag
	stretch stretchSpec
	// machines are those of the experiment's that it runs on; none: on all.
	machines []text
}

// rowFlag is a flag of the benchmark and the values it takes, one row each.
type rowFlag struct {
	flag           text
	labels, values []text // as many of each; labels are what tables show
}

type quick struct {
	repeats int // 0: as without --quick
	rows    []rowFlag
}

// InputFile is a file that the results depend on.
type InputFile struct {
	Path   string `json:"path"` // as the experiment names it
	SHA256 string `json:"sha256"`
}

// Load reads and checks an experiment file. Errors are *RequestError.
func Load(path string) (*Experiment, error) {
	data, err := smallfile.Read(path, maxFileBytes)
	if err != nil {
		return nil, &RequestError{File: path, Message: "cannot be read: " + pathCause(err), Err: err}
	}
	return Parse(path, data)
}

// pathCause is the error without the path that the caller prints anyway.
func pathCause(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// byteOrderMark is what some editors put in front of UTF-8.
var byteOrderMark = []byte("\ufeff")

// Parse checks the text of an experiment file; name is what errors call it and
// where relative paths in it begin.
func Parse(name string, data []byte) (*Experiment, error) {
	src := &source{name: name, text: bytes.TrimPrefix(data, byteOrderMark)}
	root, err := src.parse()
	if err != nil {
		return nil, err
	}
	d := newDecoder(src, root)
	x := d.experiment(root)
	if d.err != nil {
		return nil, d.err
	}
	if err := x.readInputs(); err != nil {
		return nil, err
	}
	return x, nil
}

func (d *decoder) experiment(root ast.Node) *Experiment {
	f := d.fields(root, "the experiment", "machine", "kernel", "hz", "preemption", "noise", "costs", "variants", "baseline",
		"environments", "benchmarks", "repeats", "quick", "published", "seed", "stretch")
	x := &Experiment{src: d.src, folder: filepath.Dir(d.src.name),
		machines:   d.texts(&f, "machine"),
		kernel:     d.optional(&f, "kernel"),
		hz:         d.hz(&f),
		preemption: d.oneOf(&f, "preemption", preemptions...),
		noise:      d.oneOf(&f, "noise", Noises...),
		costs:      d.optional(&f, "costs"),
		repeats:    d.repeats(&f, DefaultRepeats),
		seed:       d.seed(&f),
		stretch:    d.stretch(&f),
	}
	x.variants = d.variants(&f)
	x.environments = d.environments(&f)
	x.benchmarks = d.benchmarks(&f)
	for i := range x.benchmarks {
		for _, m := range x.benchmarks[i].machines {
			d.named(m, "machine", x.machineNames())
		}
	}
	x.quick = d.quick(&f, x.benchmarks)
	x.baseline = d.baseline(&f, x.variants)
	x.published = d.published(&f, x)
	d.distinctMachines(x.machines)
	d.everyVariantHas(&f, "machine", len(x.machines) > 0, x.variants, func(v *variant) text { return v.machine })
	d.everyVariantHas(&f, "kernel", x.kernel.given(), x.variants, func(v *variant) text { return v.kernel })
	return x
}

func (d *decoder) hz(f *fields) number {
	t := d.oneOf(f, "hz", "100", "250", "300", "1000")
	if d.err != nil || !t.given() {
		return number{value: DefaultHZ}
	}
	v, _ := strconv.ParseInt(t.value, 10, 64) // one of the four above
	return number{v, t.at}
}

func (d *decoder) repeats(f *fields, otherwise int) int {
	if n := d.integer(f, "repeats", 1, maxRepeats); n.given() {
		return int(n.value)
	}
	return otherwise
}

func (d *decoder) seed(f *fields) uint64 {
	t := d.optional(f, "seed")
	if !t.given() {
		return DefaultSeed
	}
	seed, err := strconv.ParseUint(t.value, 10, 64)
	if err != nil {
		d.fail(t.at, "seed is %q; write a whole number from 0 to 18446744073709551615", t.value)
	}
	return seed
}

// everyVariantHas demands a setting of the experiment or of each variant.
func (d *decoder) everyVariantHas(f *fields, key string, shared bool, variants []variant, own func(*variant) text) {
	if shared || d.err != nil {
		return
	}
	for i := range variants {
		if v := &variants[i]; !own(v).given() {
			d.fail(v.name.at, "variant %q has no %s and the experiment sets none; write %s: at the top or in the variant", v.name.value, key, key)
			return
		}
	}
}

func (d *decoder) distinct(what string, names []text) {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n.value] {
			d.fail(n.at, "%s %q appears twice", what, n.value)
		}
		seen[n.value] = true
	}
}

// itemExamples is what errors show of the lists that must not be empty.
var itemExamples = map[string]string{
	"variants":     "variants: [{name: old, kernel: v4.14}, {name: new, kernel: v5.17}]",
	"environments": "environments: [{name: quiet}]",
	"benchmarks":   "benchmarks: [{name: pipes, run: hackbench -P -p}]",
}

// items reads a list that must not be empty.
func (d *decoder) items(f *fields, key string) []ast.Node {
	n := f.get(key)
	if n == nil {
		d.fail(f.at, "%s has no %q; add %s", f.what, key, itemExamples[key])
		return nil
	}
	items := d.list(n, key)
	if len(items) == 0 {
		d.fail(f.keyAt(key), "%s is empty; write %s", key, itemExamples[key])
	}
	return items
}

// distinctMachines holds the names of the tables apart: two files of one base
// name are one too many.
func (d *decoder) distinctMachines(machines []text) {
	labels := make([]text, len(machines))
	for i, m := range machines {
		labels[i] = text{machineLabel(m.value), m.at}
	}
	d.distinct("machine", labels)
}

// distinctRows holds the labels of a benchmark's rows apart ("1/2" and "3" of
// two flags read like "1" and "2/3").
func (d *decoder) distinctRows(flags []rowFlag) {
	if d.err != nil {
		return
	}
	var labels []text
	for _, r := range expandRows(flags) {
		labels = append(labels, text{r.label, r.at})
	}
	d.distinct("row", labels)
}

func (d *decoder) variants(f *fields) []variant {
	var variants []variant
	var names []text
	for _, item := range d.items(f, "variants") {
		v := d.variant(item)
		variants, names = append(variants, v), append(names, v.name)
	}
	d.distinct("variant", names)
	return variants
}

func (d *decoder) variant(n ast.Node) variant {
	f := d.fields(n, "a variant", "name", "kernel", "machine", "features", "tunables", "placement")
	v := variant{name: d.required(&f, "name"), kernel: d.optional(&f, "kernel"), machine: d.optional(&f, "machine"),
		placement: d.optional(&f, "placement"), features: d.texts(&f, "features")}
	v.tunables = d.tunables(&f)
	return v
}

func (d *decoder) tunables(f *fields) []tunable {
	var tunables []tunable
	if n := f.get("tunables"); n != nil {
		for _, e := range d.mapping(n, "tunables") {
			tunables = append(tunables, d.tunable(e))
		}
	}
	return tunables
}

func (d *decoder) tunable(e entry) tunable {
	t := d.scalar(e.node, e.key.value)
	if d.err != nil {
		return tunable{}
	}
	value, err := strconv.ParseInt(t.value, 10, 64)
	if err != nil {
		d.fail(t.at, "tunable %s is %q; write a whole number, in the unit of the kernel's file", e.key.value, t.value)
	}
	return tunable{e.key, number{value, t.at}}
}

func (d *decoder) environments(f *fields) []environment {
	if f.get("environments") == nil {
		return []environment{{name: text{value: DefaultEnvironment}}}
	}
	var environments []environment
	var names []text
	for _, item := range d.items(f, "environments") {
		e := d.environment(item)
		environments, names = append(environments, e), append(names, e.name)
	}
	d.distinct("environment", names)
	return environments
}

func (d *decoder) environment(n ast.Node) environment {
	f := d.fields(n, "an environment", "name", "cgroup", "cgroups", "background", "tunables")
	e := environment{name: d.required(&f, "name"), cgroup: d.optional(&f, "cgroup"), tunables: d.tunables(&f)}
	if n := f.get("cgroups"); n != nil {
		for _, group := range d.mapping(n, "cgroups") {
			e.declared = append(e.declared, group.key.value)
			e.cgroups = append(e.cgroups, d.cgroup(group)...)
		}
	}
	if n := f.get("background"); n != nil {
		for _, item := range d.list(n, "background") {
			e.background = append(e.background, d.background(item, &e))
		}
	}
	d.knownCgroup(e.cgroup, &e)
	return e
}

func (d *decoder) cgroup(group entry) []cgroupSetting {
	if p := group.key.value; !strings.HasPrefix(p, "/") || p == "/" || strings.HasSuffix(p, "/") || strings.Contains(p, "//") {
		d.fail(group.key.at, "cgroup %q is not a path below the root; write it as \"/name\" or \"/parent/name\"", p)
	}
	var settings []cgroupSetting
	for _, e := range d.mapping(group.node, "cgroup "+group.key.value) {
		settings = append(settings, cgroupSetting{group.key.value, e.key.value, d.scalar(e.node, e.key.value)})
	}
	return settings
}

func (d *decoder) background(n ast.Node, e *environment) backgroundJob {
	f := d.fields(n, "a background job", "benchmark", "cgroup")
	job := backgroundJob{run: d.required(&f, "benchmark"), cgroup: d.optional(&f, "cgroup")}
	job.command = d.command(job.run, "benchmark")
	d.knownCgroup(job.cgroup, e)
	return job
}

func (d *decoder) knownCgroup(group text, e *environment) {
	if group.given() && group.value != "/" && !contains(e.declared, group.value) {
		d.fail(group.at, "cgroup %q is not among the cgroups of environment %q; %s", group.value, e.name.value,
			suggest.DidYouMean(group.value, append([]string{"/"}, e.declared...)))
	}
}

func (d *decoder) command(run text, key string) []string {
	if d.err != nil {
		return nil
	}
	words, err := splitCommand(run.value)
	if err != nil {
		d.fail(run.at, "%s: %v", key, err)
	} else if len(words) == 0 || words[0] == "" {
		d.fail(run.at, "%s names no benchmark", key)
	}
	return words
}

func (d *decoder) benchmarks(f *fields) []benchmark {
	var benchmarks []benchmark
	var names []text
	for _, item := range d.items(f, "benchmarks") {
		b := d.benchmark(item)
		benchmarks, names = append(benchmarks, b), append(names, b.name)
	}
	d.distinct("benchmark", names)
	return benchmarks
}

func (d *decoder) benchmark(n ast.Node) benchmark {
	f := d.fields(n, "a benchmark", "name", "run", "rows", "stretch", "machine")
	b := benchmark{name: d.required(&f, "name"), run: d.required(&f, "run"), machines: d.texts(&f, "machine")}
	b.command = d.command(b.run, "run")
	b.rows = d.rows(&f)
	b.stretch = d.stretch(&f)
	d.distinctRows(b.rows)
	for _, row := range b.rows {
		if contains(b.command, row.flag.value) {
			d.fail(row.flag.at, "%s is in run and in rows; leave it out of run", row.flag.value)
		}
	}
	return b
}

func (d *decoder) rows(f *fields) []rowFlag {
	n := f.get("rows")
	if n == nil {
		return nil
	}
	var rows []rowFlag
	total := 1
	for _, e := range d.mapping(n, "rows") {
		row := d.rowFlag(e)
		rows = append(rows, row)
		total *= max(1, len(row.values))
		if total > maxRows {
			d.fail(e.key.at, "more than %d rows", maxRows)
			return nil
		}
	}
	if len(rows) == 0 {
		d.fail(f.keyAt("rows"), "rows is empty; write rows: {-flag: [values]} or leave it out")
	}
	return rows
}

func (d *decoder) rowFlag(e entry) rowFlag {
	if !strings.HasPrefix(e.key.value, "-") {
		d.fail(e.key.at, "rows has %q where a flag of the benchmark belongs; write rows: {-g: [1, 4]}", e.key.value)
	}
	labels, values := d.rowValues(e)
	if len(values) == 0 {
		d.fail(e.key.at, "%s has no values", e.key.value)
	}
	d.distinct("value", labels)
	return rowFlag{e.key, labels, values}
}

// rowValues reads the values of a flag: a list, or a mapping of what a table
// calls each of them to the value ({22 MB: 1}).
func (d *decoder) rowValues(e entry) (labels, values []text) {
	if _, named := d.resolve(e.node).(*ast.MappingNode); !named {
		values = d.texts(&fields{what: "rows", at: e.key.at, entries: []entry{e}}, e.key.value)
		return values, values
	}
	for _, v := range d.mapping(e.node, e.key.value) {
		labels = append(labels, v.key)
		values = append(values, d.scalar(v.node, v.key.value))
	}
	return labels, values
}

func (d *decoder) quick(f *fields, benchmarks []benchmark) *quick {
	n := f.get("quick")
	if n == nil {
		return nil
	}
	q := d.fields(n, "quick", "repeats", "rows")
	result := &quick{repeats: d.repeats(&q, 0), rows: d.rows(&q)}
	for _, row := range result.rows {
		d.someBenchmarkHas(row.flag, benchmarks)
	}
	for i := range benchmarks {
		d.distinctRows(quickRows(benchmarks[i].rows, result.rows))
	}
	return result
}

func (d *decoder) someBenchmarkHas(flag text, benchmarks []benchmark) {
	for i := range benchmarks {
		for _, row := range benchmarks[i].rows {
			if row.flag.value == flag.value {
				return
			}
		}
	}
	d.fail(flag.at, "quick sets rows of %s, but no benchmark has rows of that flag", flag.value)
}

func (d *decoder) baseline(f *fields, variants []variant) int {
	t := d.optional(f, "baseline")
	if d.err != nil || !t.given() {
		return 0
	}
	names := make([]string, len(variants))
	for i := range variants {
		names[i] = variants[i].name.value
		if names[i] == t.value {
			return i
		}
	}
	d.fail(t.at, "baseline %q is not a variant; %s", t.value, suggest.DidYouMean(t.value, names))
	return 0
}
