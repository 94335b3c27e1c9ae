package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/workload"
)

// Cell is one simulation to run.
type Cell struct {
	// Key is the cell's stable identity:
	// machine/benchmark/environment/row/variant/repeat, "ivb-ep/hackbench-process-pipes/quiet/12/WA_WEIGHT/3".
	// Within a part "%" and "/" are written %25 and %2F.
	Key string
	// Seed is derived from the experiment's seed and the identity without the
	// variant: every variant of a repeat meets the same randomness.
	Seed uint64
	// Machine is a preset, a spec string, or the path of a machine file.
	// MachineName is how the experiment spells it.
	Machine, MachineName                 string
	Kernel, Preemption, Placement, Costs string // Placement and Costs may be empty; Costs may be a path
	// TieBreak says who goes first among events at the same time: "number" (or
	// empty) the CPU with the lower number, "random" an order drawn from Seed. An
	// experiment file cannot set it: it is for finding results that hang on it.
	TieBreak string
	// Noise is what wakes the kernel threads of idle CPUs: "timed" (or empty)
	// their own timers, "deferrable" nothing.
	Noise                                string `json:",omitempty"`
	HZ                                   int    // 100, 250, 300 or 1000
	Features                             []string
	Tunables                             []Tunable          // sorted by name
	Supposed                             []Tunable          // parameters of the cost file with other values than it has
	Command                              []string           // the benchmark's argv with the row's flags at its end
	Workload                             workload.Benchmark `json:"-"` // instead of Command; nil in experiment files
	CPUs                                 []int              // the benchmark's tasks are pinned to these, as by taskset; none: to no CPU
	Cgroup                               string             // where the benchmark runs; empty: the root
	Cgroups                              []CgroupSetting
	Background                           []BackgroundJob
	Stretch                              workload.Stretch // how much is simulated at most; zero: the whole run
	Variant, Benchmark, Environment, Row string
	Repeat                               int // from 1
}

// Tunable is a scheduler setting by its debugfs name, in the unit of its file.
type Tunable struct {
	Name  string
	Value int64
}

// CgroupSetting is one file of one cgroup, in cgroup v2's names and syntax. A
// cgroup without settings has one entry with empty File and Value.
type CgroupSetting struct{ Path, File, Value string }

// BackgroundJob is a command that runs beside the benchmark, for as long as it.
type BackgroundJob struct {
	Command []string
	Cgroup  string // empty: the root
}

// cellKey joins the parts of an identity.
func cellKey(parts ...string) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	for i := range parts {
		parts[i] = escape.Replace(parts[i])
	}
	return strings.Join(parts, "/")
}

// cellSeed hashes the experiment's seed and an identity. Eight bytes of SHA-256
// keep neighbouring repeats unrelated.
func cellSeed(seed uint64, machine, benchmark, environment, row string, repeat int) uint64 {
	key := cellKey(machine, benchmark, environment, row, strconv.Itoa(repeat))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(key), seed))
	return binary.BigEndian.Uint64(sum[:8])
}
