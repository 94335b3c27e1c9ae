package browsertests

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// schedlab is the binary under test, which TestMain builds.
var schedlab string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "schedlab-browsertests-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	schedlab = filepath.Join(dir, "schedlab")
	build := exec.Command("go", "build", "-o", schedlab, "./cmd/schedlab")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building schedlab: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // a temporary folder
	os.Exit(code)
}

// run executes schedlab and returns what it printed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(schedlab, args...).Output()
	if err != nil {
		t.Fatalf("schedlab %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

var addressPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)

// serve starts `schedlab serve` over a folder and returns the page's address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(schedlab, "serve", "--port", "0", "--no-open", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve after an interrupt: %v, want exit code 0", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := addressPattern.FindString(line)
	if address == "" {
		t.Fatalf("serve printed %q, want an address", line)
	}
	return address
}

// browser is a tab whose console is watched.
type browser struct {
	t   *testing.T
	ctx context.Context

	mutex    sync.Mutex
	messages []string
	expected string // part of the messages that a test provokes; "": none
}

// open starts a Chromium of its own with an empty page.
func open(t *testing.T) *browser {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(stop)
	ctx, stopAllocator := chromedp.NewExecAllocator(ctx,
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
	)
	t.Cleanup(stopAllocator)
	ctx, cancel := chromedp.NewContext(ctx)
	b := &browser{t: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for m, err := range messages {
			if err != nil {
				return // the tab has gone
			}
			b.heard(m)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-watched
		b.mutex.Lock()
		defer b.mutex.Unlock()
		for _, text := range b.messages {
			t.Errorf("in the console: %s", text)
		}
	})
	b.do(chromedp.Navigate("about:blank"))
	b.resize(1280, 800)
	return b
}

// heard keeps what no page of ours may write.
func (b *browser) heard(m chromedp.ConsoleMessage) {
	switch m.Type {
	case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if b.expected != "" && strings.Contains(m.Text, b.expected) {
			return
		}
		b.messages = append(b.messages, fmt.Sprintf("%s (%s:%d)", m, m.URL, m.Line+1))
	}
}

// expect says that the test provokes messages with a text.
func (b *browser) expect(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.expected = text
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.shoot("failed-" + b.t.Name())
		b.t.Fatal(err)
	}
}

// value evaluates an expression in the page.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true. A page that is being replaced has
// no place to evaluate it in; that passes.
func (b *browser) until(expression string) {
	b.t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var is bool
		if is, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)); err == nil && is {
			return
		}
	}
	b.shoot("failed-" + b.t.Name())
	b.t.Fatalf("waited in vain for %s: %v", expression, err)
}

func (b *browser) key(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

func (b *browser) resize(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// dark chooses the page's theme.
func (b *browser) dark(on bool) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(document.documentElement.dataset.theme === "dark") === %v || (document.getElementById("theme").click(), false)`, on))
}

// settled waits until the timeline has its tiles and has drawn them.
func (b *browser) settled() {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`new Promise((done) => {
		let quiet = 0, last = -1;
		const look = () => {
			const n = performance.getEntriesByType("resource").length;
			quiet = n === last ? quiet + 1 : 0;
			last = n;
			quiet > 15 ? done(true) : requestAnimationFrame(look);
		};
		performance.setResourceTimingBufferSize(100000);
		look();
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
}

// shoot writes a screenshot into the folder that SCHEDLAB_SCREENSHOTS names.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCHEDLAB_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no screenshot %s: %v", name, err)
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
