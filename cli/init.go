package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// starter is the experiment that init writes. Its lines that begin with # and no
// space are settings that can be switched on.
//
//go:embed init.yaml
var starter []byte

// starterName is where init writes when it is not told.
const starterName = "experiment.yaml"

func newInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write an experiment to start from",
		Long: `Write a commented experiment to FILE (default: ` + starterName + `). It runs as it is:
schedlab compare --quick prints a first table within seconds. A file that is
there already is not touched.`,
		Example: `  schedlab init
  schedlab init mine.yaml && schedlab compare --quick mine.yaml`,
		Args: atMostOne("a file to write, such as " + starterName),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := starterName
			if len(args) == 1 {
				file = args[0]
			}
			return writeStarter(file, cmd.OutOrStdout())
		},
	}
}

func writeStarter(name string, stdout io.Writer) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already and stays as it is; give another name, such as: schedlab init another.yaml", name)
	case err != nil:
		return fmt.Errorf("%w; give a file in a folder that is there and can be written to", err)
	}
	_, err = file.Write(starter)
	if err := errors.Join(err, file.Close()); err != nil {
		return &runError{err}
	}
	_, err = fmt.Fprintf(stdout, "Wrote %s. Now: schedlab compare --quick %s\n", name, name)
	return err
}
