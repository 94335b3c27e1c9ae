package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/serve"
)

// serveRequest is one `schedlab serve` command line.
type serveRequest struct {
	dir    string
	port   int
	noOpen bool

	stdout, stderr io.Writer
}

// defaultPort lies in no list of well-known ports.
const defaultPort = 8723

func newServeCommand() *cobra.Command {
	var r serveRequest
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Show results and recordings on a local page: tables and a timeline",
		Long: `Serve shows what a folder holds: results of compare and reproduce as tables,
recordings (of run --trace, of compare --out, of real kernels) as a timeline of
CPUs or tasks that is scrolled and zoomed over millions of events. A wakeup that
is clicked tells why its CPU was chosen, as explain --why does; two recordings
lie above each other on one time axis.

The page is for this machine alone: it binds to 127.0.0.1 and ::1, answers reads
only, and reads nothing outside DIR. Ctrl-C ends it.`,
		Example: `  schedlab serve results
  schedlab serve --port 0 --no-open captures/6.1`,
		Args: exactlyOne("a folder with results or recordings"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.dir, r.stdout, r.stderr = args[0], cmd.OutOrStdout(), cmd.ErrOrStderr()
			return r.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.port, "port", defaultPort, "port of 127.0.0.1 and ::1; 0 takes a free one")
	f.BoolVar(&r.noOpen, "no-open", false, "only print the address, open no browser")
	return cmd
}

func (r *serveRequest) run(ctx context.Context) error {
	if r.port < 0 || r.port > 65535 {
		return fmt.Errorf("--port is %d; write a number from 1 to 65535, or 0 for a free one", r.port)
	}
	library, err := serve.OpenLibrary(r.dir)
	if err != nil {
		return err
	}
	err = r.serve(ctx, library)
	return errors.Join(err, library.Close())
}

func (r *serveRequest) serve(ctx context.Context, library *serve.Library) error {
	if err := r.announceContents(library); err != nil {
		return err
	}
	listeners, port, err := serve.Listen(r.port)
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	address := fmt.Sprintf("http://127.0.0.1:%d/", port)
	_, _ = fmt.Fprintf(r.stdout, "%s shows %s; Ctrl-C ends it\n", address, r.dir)
	if !r.noOpen && isTerminal(r.stdout) {
		openBrowser(ctx, address)
	}
	server := serve.NewServer(ctx, library, serve.DefaultLimits, r.sayer())
	return asRunError(server.Serve(ctx, listeners))
}

// announceContents says what there is to show, before somebody wonders about an
// empty page.
func (r *serveRequest) announceContents(library *serve.Library) error {
	found, err := library.Find()
	if err != nil {
		return err
	}
	for _, note := range found.Notes {
		_, _ = fmt.Fprintf(r.stderr, "schedlab: %s\n", note)
	}
	if len(found.Results)+len(found.Recordings) == 0 {
		_, _ = fmt.Fprintf(r.stderr, "schedlab: %s: no result and no recording in it yet; what comes later is shown when the page is loaded again\n", r.dir)
	}
	return nil
}

// sayer prints lines from several goroutines.
func (r *serveRequest) sayer() func(string) {
	var mutex sync.Mutex
	return func(text string) {
		mutex.Lock()
		defer mutex.Unlock()
		_, _ = fmt.Fprintf(r.stderr, "schedlab: %s\n", text)
	}
}

// openBrowser asks the desktop to show the page. Where that fails the address
// stands in the terminal.
func openBrowser(ctx context.Context, address string) {
	opener := map[string]string{"darwin": "open", "windows": "explorer"}[runtime.GOOS]
	if opener == "" {
		opener = "xdg-open"
	}
	cmd := exec.CommandContext(ctx, opener, address)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // whatever it says, the address is printed
	}
}
