package cli

import (
	"regexp"
	"strings"
	"testing"
)

func TestStarterIsSound(t *testing.T) {
	checkExperiment(t, "init.yaml", starter)
}

// A setting that is switched off in the starter is one that can be switched on.
func TestSettingsOfTheStarterCanBeSwitchedOn(t *testing.T) {
	off := regexp.MustCompile(`(?m)^#((?:  )?[^ \n#].*|    [a-z]+: .*)$`)
	var kept []string
	switched := 0
	for line := range strings.Lines(string(starter)) {
		// An rt-app file is the reader's own.
		if strings.Contains(line, "rt-app") {
			continue
		}
		if m := off.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "#   schedlab") {
			line = m[1] + "\n"
			switched++
		}
		kept = append(kept, line)
	}
	// hz, preemption, two variants, environments and their eight lines.
	if switched != 12 {
		t.Errorf("%d settings switched on, want 12", switched)
	}
	checkExperiment(t, "init.yaml, all on", []byte(strings.Join(kept, "")))
}
