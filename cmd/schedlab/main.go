// Command schedlab simulates, explains and compares how Linux's fair scheduler
// places tasks on CPUs. All of it is package cli, so that a program with rules
// of its own can be the same command.
package main

import (
	"os"

	"github.com/schedlab/schedlab/cli"
)

//go:generate go run . reference ../../docs/reference

func main() { os.Exit(cli.Main(os.Args[1:])) }
