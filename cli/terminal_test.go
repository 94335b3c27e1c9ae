package cli

import (
	"os"
	"testing"
)

func TestColorsGoToTerminalsThatWantThem(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0) // a pseudo-terminal of our own
	if err != nil {
		t.Logf("left out, no terminal can be made here: %v", err)
		return
	}
	defer func() { _ = terminal.Close() }()
	for _, c := range []struct {
		term, noColor  string
		color, watched bool
	}{
		{"xterm", "", true, true},
		{"xterm", "1", false, true}, // a progress line has no colours
		{"dumb", "", false, false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if color, watched := wantsColor(terminal), isTerminal(terminal); color != c.color || watched != c.watched {
			t.Errorf("TERM=%s NO_COLOR=%s: color %v, watched %v", c.term, c.noColor, color, watched)
		}
	}
}
