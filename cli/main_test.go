package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes schedlab a command that shells find.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"schedlab": func() { os.Exit(Main(os.Args[1:])) }})
}
