package reference

import (
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

// tunablesMachine is the machine whose tunables are shown; from 8 CPUs on the
// kernel's times grow no further (mechanisms.md 1.3).
const tunablesMachine = "1n8c1t"

func kernelsPage() (Page, error) {
	p := newPage("Kernels, features and tunables",
		"What `--kernel`, `--feature` and `--tunable` take, and an experiment's `kernel`, `features` and `tunables`.\n"+
			"What each kernel does is in [mechanisms.md](../mechanisms.md) and [mechanisms-modern.md](../mechanisms-modern.md).\n")
	p.table("kernel", "what it is")
	for _, k := range sched.Profiles() {
		p.row(code(k.Name), k.Summary)
	}
	writeFeatures(p)
	if err := writeTunables(p); err != nil {
		return Page{}, err
	}
	return Page{"kernels.md", "Kernels, features and tunables", "the schedulers that can be simulated, their feature bits and numbers", p.String()}, nil
}

func writeFeatures(p *page) {
	p.heading("Features")
	p.line("Spelled as in debugfs: `NO_` in front of a name switches it off. on and off are the kernel's defaults; inert: the kernel\nhas it and it changes nothing here; empty: the kernel does not have it.\n")
	columns := []string{"feature"}
	for _, k := range sched.Profiles() {
		columns = append(columns, k.Name)
	}
	p.table(columns...)
	for _, name := range featureNames() {
		row := []string{code(name)}
		for _, k := range sched.Profiles() {
			row = append(row, featureState(k, name))
		}
		p.row(row...)
	}
	for _, name := range featureNames() {
		if caveat := sched.FeatureCaveat(name); caveat != "" {
			p.line("\n* `%s`: %s", name, caveat)
		}
	}
}

// featureNames are all features, in the order in which kernels first have them.
func featureNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, k := range sched.Profiles() {
		for _, name := range k.Known.Names() {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

func featureState(k *sched.Profile, name string) string {
	known := false
	for _, has := range k.Known.Names() {
		known = known || has == name
	}
	switch {
	case !known:
		return ""
	case k.IsInert(name):
		return "inert"
	case k.HasDefault(name):
		return "on"
	}
	return "off"
}

func writeTunables(p *page) error {
	m, err := machine.Parse(tunablesMachine)
	if err != nil {
		return err
	}
	p.heading("Tunables")
	p.line("By the names of debugfs and sysctl, `sched_` left out; the names say the unit. The values are the defaults on a machine\nwith 8 CPUs or more; `latency_ns`, `min_granularity_ns`, `wakeup_granularity_ns` and `base_slice_ns` are shorter on smaller ones.\nEmpty: the kernel does not have it. `nohz` is the boot option (0: idle CPUs keep their tick), 1 on all.\n")
	columns := []string{"tunable"}
	values := make([]map[string]string, 0, len(sched.Profiles()))
	for _, k := range sched.Profiles() {
		columns = append(columns, k.Name)
		config := sched.NewConfig(m, k)
		of := map[string]string{}
		config.EachTunable(func(name string, value int64) { of[name] = strconv.FormatInt(value, 10) })
		values = append(values, of)
	}
	p.table(columns...)
	for _, name := range sched.TunableNames() {
		row := []string{code(name)}
		told := false
		for _, of := range values {
			row = append(row, of[name])
			told = told || of[name] != ""
		}
		if told {
			p.row(row...)
		}
	}
	p.line("\nAccepted on every kernel and without effect: %s.", strings.Join(sched.InertTunables(), ", "))
	return nil
}
