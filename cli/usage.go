package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlab/schedlab/internal/suggest"
)

// cobra says that a command line is wrong; what follows also says what to
// write instead.

// flagError adds the nearest flag to an unknown one, and where to look.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		return fmt.Errorf("%s: --%s is %q; it takes %s", cmd.Name(), flag.Name, invalid.GetValue(), flagTypes[flag.Value.Type()])
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%s: %w; see %s --help", cmd.Name(), err, cmd.CommandPath())
	}
	name := unknown.GetSpecifiedName()
	if len(name) == 1 {
		return fmt.Errorf("%s: there is no flag -%s; see %s --help", cmd.Name(), name, cmd.CommandPath())
	}
	return fmt.Errorf("%s: there is no flag --%s; %s", cmd.Name(), name, suggest.DidYouMean("--"+name, flagNames(cmd)))
}

// flagTypes says in words what pflag's types take; strings are never invalid.
var flagTypes = map[string]string{
	"bool": "true or false", "int": "a whole number", "uint64": "a whole number, 0 or more",
	"duration": "a duration such as 100ms", "float64": "a number", "intSlice": "whole numbers with commas between them",
	"stringSlice": "names with commas between them",
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// checkGiven refuses values of flags that would pass for a flag that is not
// given: --out "$FOLDER" with the variable unset, or no workers.
func checkGiven(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case f.Value.Type() == "string" && f.Value.String() == "",
			isList && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")):
			err = fmt.Errorf("%s: --%s is empty; write a value or leave the flag out", cmd.Name(), f.Name)
		case f.Name == "workers" && (f.Value.String() == "0" || strings.HasPrefix(f.Value.String(), "-")):
			err = fmt.Errorf("%s: --workers is %s; write 1 or more, or leave it out", cmd.Name(), f.Value)
		}
	})
	return err
}

// subcommand refuses a word that is not a command of cmd.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("there is no command %q; %s", cmd.CommandPath()+" "+args[0], suggest.DidYouMean(args[0], names))
}

// noArgs, exactlyOne and atMostOne say what is missing, where cobra only
// counts.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but there is %q; leave it out", cmd.CommandPath(), args[0])
	}
	return nil
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one argument, %s; there are %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes at most one argument, %s; there are %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// formats are the output formats of every command but machine show.
var formats = []string{"text", "json", "csv"}

// addFormatFlag gives a command its --format flag, completion included.
func addFormatFlag(cmd *cobra.Command) *string {
	format := cmd.Flags().String("format", "text", strings.Join(formats, ", "))
	completeFlags(cmd, map[string]completion{"format": completeNames(fixed(formats...))})
	return format
}

func checkFormat(format string, known []string) error {
	if slices.Contains(known, format) {
		return nil
	}
	return fmt.Errorf("--format is %q; choose %s", format, strings.Join(known, ", "))
}
