package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestServeAnswersUntilInterrupted starts the command as Main does, asks the
// page that it names, and ends it.
func TestServeAnswersUntilInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	out, in := io.Pipe()
	cmd := newServeCommand()
	cmd.SetArgs([]string{"--port", "0", captures("6.1")})
	cmd.SetOut(in)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`^http://127\.0\.0\.1:\d+/`).FindString(line)
	if address == "" {
		t.Fatalf("serve printed %q, want an address first", line)
	}
	response, err := http.Get(address + "api/list")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // read to its end
	if !strings.Contains(string(body), `"path":"hb-pipe"`) {
		t.Errorf("the list is %s, want hb-pipe in it", body)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("after an interrupt: %v, want exit code 0", err)
	}
}

func TestServeRefusesWrongRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "takes one argument"},
		{[]string{"nowhere"}, "nowhere"},
		{[]string{file}, "not a folder"},
		{[]string{"--port", "70000", captures("6.1")}, "--port is 70000"},
		{[]string{"--port", "-1", captures("6.1")}, "--port is -1"},
	} {
		cmd := newServeCommand()
		cmd.SetArgs(c.args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitRequest {
			t.Errorf("%v: error %v, want exit code %d and %q", c.args, err, exitRequest, c.want)
		}
	}
}
