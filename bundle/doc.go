// Package bundle writes recordings of simulations as folders: the trace with
// what belongs to it, in the layout of the recordings that capture makes on a
// real kernel. Package explain reads both.
package bundle

// The files of a bundle.
const (
	TraceFile    = "trace.txt.gz"
	MachineFile  = "machine.txt"
	TunablesFile = "tunables.txt"
	GroupsFile   = "cgroups.txt"
	OutputFile   = "stdout.txt"
	BeforeFile   = "schedstat.before"
	AfterFile    = "schedstat.after"
)
