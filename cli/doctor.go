package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/capture"
	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/machine"
)

func newDoctorCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can do, and how to mend what it cannot",
		Long: `Doctor looks at the running machine: how many simulations it can run at once,
what schedlab capture could record here (root, tracefs, events, probes, the
kernel's description of its types), and by which kernel's rules schedlab explain
would judge the recording. It changes nothing. Below what is missing stands what
to do about it.

Simulating needs none of this. The exit code is 0 whatever is missing.`,
		Example: `  schedlab doctor
  schedlab doctor --format json`,
		Args: noArgs,
	}, func([]string) (*listing, error) {
		checks := append([]capture.Check{checkCores("/"), checkKernel("/proc/version")}, capture.Examine()...)
		return diagnosis(checks), nil
	})
}

// checkCores says what simulations can use: they run one a CPU.
func checkCores(root string) capture.Check {
	found := fmt.Sprintf("%d simulations at once", runtime.GOMAXPROCS(0))
	imported, err := machine.Import(root)
	if err != nil {
		return capture.Check{Name: "cores", Found: fmt.Sprintf("%s; the topology cannot be read: %v", found, err),
			Mend: "give --machine a spec such as 1n8c2t"}
	}
	n := imported.Machine.Counts()
	return capture.Check{Name: "cores", OK: true, Found: fmt.Sprintf("%s; CPUs: %d, cores: %d, last-level caches: %d, nodes: %d", found, n.CPUs, n.Cores, n.LLCs, n.Nodes)}
}

// checkKernel says which profile is nearest to the running kernel.
func checkKernel(versionFile string) capture.Check {
	text, err := os.ReadFile(versionFile)
	if err != nil {
		return capture.Check{Name: "kernel", Found: err.Error(), Mend: "mount -t proc proc /proc; elsewhere than on Linux, choose a --kernel"}
	}
	fields := strings.Fields(string(text)) // Linux version 6.8.0-45-generic (...)
	running := strings.Join(fields[:min(3, len(fields))], " ")
	profile := explain.NearestProfile(running)
	if profile == nil {
		return capture.Check{Name: "kernel", Found: running + " is older than every profile", Mend: "schedlab kernels lists what there is"}
	}
	return capture.Check{Name: "kernel", OK: true, Found: running + "; judged by the rules of " + profile.Name}
}

// diagnosis lists checks, a mend below what needs one.
func diagnosis(checks []capture.Check) *listing {
	l := &listing{fields: []string{"check", "state", "found", "mend"}}
	var text strings.Builder
	for _, c := range checks {
		state := "ok"
		if !c.OK {
			state = "lacking"
		}
		l.records = append(l.records, []string{c.Name, state, c.Found, c.Mend})
		fmt.Fprintf(&text, "%-8s %-9s %s\n", state, c.Name, c.Found)
		if c.Mend != "" {
			fmt.Fprintf(&text, "%-18s mend: %s\n", "", c.Mend)
		}
	}
	l.text = text.String()
	return l
}
