// Generate writes docs/reproduction.md from the results in docs/reproduction;
// "go generate ./..." runs it.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/schedlab/schedlab/internal/reproduction"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes nothing when something is wrong.
func generate(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: generate FOLDER PAGE.md")
	}
	var page bytes.Buffer
	if err := reproduction.WritePage(&page, args[0]); err != nil {
		return err
	}
	return os.WriteFile(args[1], page.Bytes(), 0o644)
}
