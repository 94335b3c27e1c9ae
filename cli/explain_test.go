package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// explainOutput runs `schedlab explain` over committed captures.
func explainOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newExplainCommand()
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func captures(parts ...string) string {
	return filepath.Join(append([]string{repository, "explain", "testdata"}, parts...)...)
}

func TestExplainJSONHasTheFieldsThatToolsRead(t *testing.T) {
	out, err := explainOutput(t, "--format", "json", captures("6.1"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Captures []struct {
			Path, Kernel     string
			Decisions, Agree int
			Agreement        float64
			ByKind           map[string]struct{ Decisions, Agree int } `json:"by_kind"`
			BaselinePrev     *float64                                  `json:"baseline_prev"`
			Causes           map[string]int
		}
		Total struct{ Decisions, Agree int }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Captures) != 5 {
		t.Fatalf("%d captures, want 5", len(got.Captures))
	}
	decisions, agree := 0, 0
	for _, c := range got.Captures {
		decisions, agree = decisions+c.Decisions, agree+c.Agree
		kinds := c.ByKind["wake"].Decisions + c.ByKind["fork"].Decisions + c.ByKind["exec"].Decisions
		wrong := 0
		for _, n := range c.Causes {
			wrong += n
		}
		if c.Kernel != "6.1" || kinds != c.Decisions || wrong != c.Decisions-c.Agree || c.BaselinePrev == nil ||
			c.Agreement != float64(c.Agree)/float64(c.Decisions) {
			t.Errorf("%s does not add up: %+v", c.Path, c)
		}
	}
	if decisions != got.Total.Decisions || agree != got.Total.Agree {
		t.Errorf("total %+v, the captures have %d and %d", got.Total, decisions, agree)
	}
}

func TestExplainFormats(t *testing.T) {
	one := captures("6.1", "idle-noise")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{one}, "disagreements:"},
		{[]string{"--format", "csv", one}, "path,kernel,decisions,agree"},
		{[]string{"--disagreements", one}, "kernel 3, model 2"},
		{[]string{"--disagreements", "--format", "csv", one}, "cause\n"},
		{[]string{"--disagreements", "--format", "json", one}, `"cause": "`},
		{[]string{"--why", "754", "--format", "json", one}, `"PID": 754`},
		{[]string{"--ignore-hidden", one}, "total"},
		{[]string{one}, "balancing:"},
		{[]string{"--balance", one}, "guess no"},
		{[]string{"--balance", "--format", "csv", one}, "path,kernel,level,idle,passes_moved"},
		{[]string{"--balance", "--format", "json", one}, `"passes_moved": {`},
		{[]string{"--balance", "--disagreements", one}, "kernel moved 1, model 0"},
	} {
		out, err := explainOutput(t, c.args...)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%v: error %v, output without %q:\n%s", c.args, err, c.want, out)
		}
	}
}

func TestExplainRefusesWrongRequests(t *testing.T) {
	one := captures("6.1", "forks")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "needs a capture"},
		{[]string{"nowhere"}, "nowhere"},
		{[]string{t.TempDir()}, "no capture in it"},
		{[]string{"--format", "xml", one}, "choose text, json or csv"},
		{[]string{"--why", "me", one}, "PID or PID@TIME"},
		{[]string{"--why", "3", captures("6.1")}, "one capture, not of 5"},
		{[]string{"--why", "3", "--format", "csv", one}, "no CSV form"},
		{[]string{"--balance", "--why", "3", one}, "exclude each other"},
		{[]string{"--balance", "--disagreements", "--format", "csv", one}, "as text only"},
		{[]string{"--hz", "60", one}, "--hz is 60"},
		{[]string{"--workers", "-1", one}, "--workers is -1"},
	} {
		_, err := explainOutput(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.args, err, c.want)
		} else if code := exitCode(err); code != exitRequest {
			t.Errorf("%v: exit code %d, want %d", c.args, code, exitRequest)
		}
	}
}
