package machine

// Preset is a machine that can be named, with the document it comes from.
type Preset struct {
	Name string `json:"name"`
	Spec string `json:"spec"`
	// Source says where the figures come from and what was assumed.
	Source string `json:"source"`

	caches cacheSizes
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// presets are the machines of the four published documents. Node, core and
// thread counts come from the documents where they state them; cache sizes are
// the maker's figures for the CPU named.
var presets = []Preset{
	{
		Name: "xeon-8260", Spec: "2n24c2t",
		Source: "document 000 (2022, SIS filter): 2 NUMA nodes of Xeon Platinum 8260, 24 cores each, SMT2; distances 10 and 21 as such machines report",
		caches: cacheSizes{l1d: 32 * kib, l1i: 32 * kib, l2: mib, llc: 36608 * kib},
	},
	{
		Name: "ivb-ep", Spec: "2n10c2t",
		Source: "document 004 (2017, wake_affine): a two-socket Ivy Bridge-EP of 20 cores and 40 CPUs; cache sizes of the Xeon E5-2680 v2, the 10-core part",
		caches: cacheSizes{l1d: 32 * kib, l1i: 32 * kib, l2: 256 * kib, llc: 25 * mib},
	},
	{
		Name: "hsw-ex", Spec: "4n18c2t",
		Source: "document 004 (2017, wake_affine): NAS with 144 threads on a Haswell-EX, so four sockets of 18 cores; all sockets one hop apart is assumed; cache sizes of the Xeon E7-8890 v3",
		caches: cacheSizes{l1d: 32 * kib, l1i: 32 * kib, l2: 256 * kib, llc: 45 * mib},
	},
	{
		Name: "quad-core-2s", Spec: "2n4c1t",
		Source: "document 003 (2011, bandwidth): \"2 socket quad core machine\"; no SMT and one LLC per socket are assumed, cache sizes are not known",
	},
	{
		Name: "x86-16", Spec: "2n8c1t",
		Source: "document 003 (2011, bandwidth): the quoted patch was measured on \"a 16 core system\"; two sockets without SMT are assumed, cache sizes are not known",
	},
	{
		Name: "x86-12", Spec: "1n6c2t",
		Source: "document 002 (2013, schedule balance map): \"12 cpu X86 server\"; one socket of six cores with SMT is assumed: of the two usual ways to twelve CPUs the one that gives the unpatched column its peak at 8 clients; cache sizes of a six-core Westmere-EP, the type of that time",
		caches: cacheSizes{l1d: 32 * kib, l1i: 32 * kib, l2: 256 * kib, llc: 12 * mib},
	},
}

// Presets lists the machines that can be named, in the order of the table.
func Presets() []Preset { return append([]Preset(nil), presets...) }

func presetNamed(name string) (Preset, bool) {
	for _, p := range presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

func presetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}

func (p Preset) build() (*Machine, error) {
	s, err := parseShape(p.Spec)
	if err != nil {
		return nil, err
	}
	return s.build(p.Name, p.caches)
}
