package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/machine"
)

func newMachineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Draw a machine's topology, or make one from a real machine",
		Long: `Draw the topology that a simulation sees, or read one from a real machine into a
file that --machine and an experiment's machine: take.`,
		Example: `  schedlab machine show hsw-ex
  schedlab machine import -o this.yaml`,
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("machine: say what to do: show NAME|PATH or import [PATH]")
		},
	}
	cmd.AddCommand(newMachineShowCommand(), newMachineImportCommand())
	return cmd
}

func newMachineShowCommand() *cobra.Command {
	var format, outFile string
	cmd := &cobra.Command{
		Use:   "show NAME|PATH",
		Short: "Draw nodes, LLCs, cores, threads and distances",
		Long: `Draw a machine as text (at most 100 columns) or in another format.

NAME is a preset ("schedlab machines" lists them) or a spec such as 2n24c2t
(nodes, cores per node, threads) or 2n4l6c2t (nodes, LLCs per node, cores per
LLC, threads). PATH is a machine in YAML or anything "machine import" reads.`,
		Example: `  schedlab machine show xeon-8260
  schedlab machine show 2n4l6c2t --format svg -o machine.svg
  schedlab machine show /`,
		Args: exactlyOne("a preset, a spec such as 2n24c2t, or a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := resolveOrImport(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return writeMachine(m, format, outFile, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(machine.Formats(), ", "))
	cmd.ValidArgsFunction = completeNamesOrFiles(machineNames)
	completeFlags(cmd, map[string]completion{"format": completeNames(machine.Formats)})
	cmd.Flags().StringVarP(&outFile, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

func newMachineImportCommand() *cobra.Command {
	var outFile string
	cmd := &cobra.Command{
		Use:   "import [PATH]",
		Short: "Make a machine from this one, sysfs, lscpu, hwloc XML or machine.txt",
		Long: `Read a machine and print it as YAML, which every --machine takes.

PATH is / (the running machine, the default), a copy of a sysfs tree or a
.tar.bz2 or .tar.gz of one, the output of lscpu -J, lscpu -J -e or lscpu -p, an
hwloc XML export, or a capture's machine.txt. What the input does not tell and
had to be assumed is said on standard error.`,
		Example: `  schedlab machine import -o this.yaml
  lscpu -p > lscpu.txt && schedlab machine import lscpu.txt`,
		Args: atMostOne("a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "/"
			if len(args) == 1 {
				path = args[0]
			}
			m, err := importMachine(path, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return writeMachine(m, "yaml", outFile, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&outFile, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

// resolveOrImport takes a name first, so that a file called 2n24c2t in the
// current folder does not change what the name means.
func resolveOrImport(nameOrPath string, notes io.Writer) (*machine.Machine, error) {
	if strings.ContainsRune(nameOrPath, filepath.Separator) {
		return importMachine(nameOrPath, notes)
	}
	m, err := machine.Resolve(nameOrPath)
	if err == nil {
		return m, nil
	}
	if _, statErr := os.Stat(nameOrPath); statErr == nil {
		return importMachine(nameOrPath, notes)
	}
	return nil, err
}

// importMachine reads a machine and says what had to be assumed.
func importMachine(path string, notes io.Writer) (*machine.Machine, error) {
	imported, err := machine.Import(path)
	if err != nil {
		return nil, err
	}
	for _, n := range imported.Notes {
		if _, err := fmt.Fprintf(notes, "note: %s: %s\n", path, n); err != nil {
			return nil, err
		}
	}
	return imported.Machine, nil
}

// writeMachine makes the output whole before it touches a file.
func writeMachine(m *machine.Machine, format, outFile string, stdout io.Writer) error {
	var out bytes.Buffer
	if err := m.Write(&out, format); err != nil {
		return err
	}
	if outFile != "" {
		return os.WriteFile(outFile, out.Bytes(), 0o644)
	}
	_, err := stdout.Write(out.Bytes())
	return err
}
