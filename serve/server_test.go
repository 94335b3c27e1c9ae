package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/trace"
)

// site is a server over a folder, and what it has said in the terminal.
type site struct {
	*httptest.Server
	t     *testing.T
	mutex sync.Mutex
	said  []string
}

func serveFolder(t *testing.T, dir string) *site {
	t.Helper()
	s := &site{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	server := NewServer(ctx, library(t, dir), DefaultLimits, func(text string) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.said = append(s.said, text)
	})
	s.Server = httptest.NewServer(server.Handler())
	t.Cleanup(func() { cancel(); s.Close() })
	return s
}

func (s *site) saidAll() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return strings.Join(s.said, "\n")
}

// answer is the response to a request, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *site) send(method, path string, change func(*http.Request)) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	response, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (s *site) get(path string) answer { s.t.Helper(); return s.send(http.MethodGet, path, nil) }

// into decodes a JSON answer.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// opened waits until a recording is read and returns its description.
func (s *site) opened(path string) map[string]any {
	s.t.Helper()
	for range 400 {
		var told map[string]any
		a := s.get("/api/recording?path=" + url.QueryEscape(path))
		a.into(s.t, &told)
		if told["loading"] == nil {
			return told
		}
	}
	s.t.Fatalf("%s is not read in 100 s", path)
	return nil
}

func testFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "result/results.csv", smallResult)
	write(t, dir, "result/report.html", "<!doctype html><script>1</script>")
	write(t, dir, "recording/trace.txt", smallTrace)
	return dir
}

func TestOnlyReadsAreAnswered(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"} {
		if method == "CONNECT" {
			continue // the client would take it for a proxy's
		}
		for _, path := range []string{"/", "/api/list", "/nothing"} {
			a := s.send(method, path, nil)
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q; want 405 and GET, HEAD", method, path, a.status, a.header.Get("Allow"))
			}
		}
	}
	if a := s.send(http.MethodHead, "/api/list", nil); a.status != http.StatusOK || a.body != "" {
		t.Errorf("HEAD: %d with %d bytes, want 200 without", a.status, len(a.body))
	}
}

func TestForeignHostsAreRefused(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port := at.Port()
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port} {
		if a := s.send("GET", "/api/list", func(r *http.Request) { r.Host = host }); a.status != http.StatusOK {
			t.Errorf("host %s: %d, want 200", host, a.status)
		}
	}
	for _, host := range []string{
		"evil.example:" + port, "evil.example", "localhost", "127.0.0.1", "localhost:1", "127.0.0.1:" + port + "0", "localhost.evil.example:" + port,
		"127.0.0.2:" + port, "0.0.0.0:" + port, "[::]:" + port, "localhost.:" + port, "LOCALHOST@evil:" + port,
	} {
		for _, path := range []string{"/", "/api/list", "/api/story?path=recording&pick=1", "/report?path=result"} {
			a := s.send("GET", path, func(r *http.Request) { r.Host = host })
			if a.status != http.StatusMisdirectedRequest && a.status != http.StatusBadRequest || strings.Contains(a.body, "recording") {
				t.Errorf("host %s, %s: %d %q, want 421", host, path, a.status, a.body)
			}
		}
	}
}

// A page of another site may link to ours, and nothing else.
func TestOtherSitesGetNothing(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	for _, c := range []struct {
		site, mode, path string
		want             int
	}{
		{"same-origin", "cors", "/api/list", 200},
		{"none", "navigate", "/report?path=result", 200},
		{"cross-site", "navigate", "/", 200},
		{"cross-site", "no-cors", "/app.js", 403},
		{"cross-site", "cors", "/api/list", 403},
		{"same-site", "cors", "/api/list", 403},
		{"cross-site", "navigate", "/report?path=result", 403},
	} {
		a := s.send("GET", c.path, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", c.site)
			r.Header.Set("Sec-Fetch-Mode", c.mode)
			r.Header.Set("Origin", "https://evil.example")
		})
		if a.status != c.want {
			t.Errorf("%+v: %d", c, a.status)
		}
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s has %s: %s", c.path, name, a.header.Get(name))
			}
		}
	}
}

func TestHeadersShutThePageIn(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	for _, path := range []string{"/", "/app.js", "/api/list", "/nothing", "/api/tile", "/report?path=result"} {
		h := s.get(path).header
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options is %q", path, h.Get("X-Content-Type-Options"))
		}
		if h.Get("Cross-Origin-Opener-Policy") == "same-origin" {
			t.Errorf("%s: Perfetto's page could not be spoken to", path)
		}
		if path == "/report?path=result" {
			// The report has an origin of its own and no way to ask a server.
			if !strings.HasPrefix(policy, "sandbox allow-scripts;") || strings.Contains(policy, "connect-src") || strings.Contains(policy, "allow-same-origin") {
				t.Errorf("the report's policy is %q", policy)
			}
		} else if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q allows what is inline", path, policy)
		}
	}
	page := s.get("/")
	for _, bad := range []string{"<style", "style=", "onclick", "http://", "https://", "<script>"} {
		if strings.Contains(page.body, bad) {
			t.Errorf("the page has %q, which its policy forbids or which needs the network", bad)
		}
	}
}

func TestPathsOutsideAreRefused(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	for _, name := range []string{"/api/result", "/api/recording", "/api/story", "/api/tile", "/api/seek", "/api/perfetto", "/report"} {
		for _, path := range []string{"..", "../x", "/etc", "result/../../x", "", "result//", `..\x`} {
			query := url.Values{
				"path": {path}, "pick": {"1@1"}, "mode": {"cpu"}, "level": {"1"}, "index": {"0"}, "rows": {"0"},
				"what": {"wake"}, "from": {"0"}, "dir": {"next"},
			}
			a := s.get(name + "?" + query.Encode())
			var told struct{ Error string }
			a.into(t, &told)
			if a.status != http.StatusBadRequest || !strings.Contains(told.Error, "not the path of a folder inside") {
				t.Errorf("%s of %q: %d %s, want 400 and why", name, path, a.status, a.body)
			}
		}
	}
	for _, path := range []string{"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/web/index.html", "/result/results.csv"} {
		if a := s.get(path); a.status != http.StatusNotFound && a.status/100 != 3 || strings.Contains(a.body, "root:") {
			t.Errorf("%s: %d %s, want nothing there", path, a.status, a.body)
		}
	}
}

func TestErrorsAreSaidInPageAndTerminal(t *testing.T) {
	dir := testFolder(t)
	write(t, dir, "broken/results.csv", "a\n1\n")
	write(t, dir, "binary/trace.dat", "\x17\x08\x44tracing6\x00")
	write(t, dir, "bare/trace.txt", smallTrace)
	s := serveFolder(t, dir)
	s.opened("recording")
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/api/result?path=broken", 422, `broken/results.csv: has no column "benchmark" in line 1`},
		{"/api/result?path=nowhere", 404, "nowhere/results.csv"},
		{"/api/recording?path=binary", 422, "trace.dat"},
		{"/api/recording?path=result", 422, "no recording there"},
		{"/api/tile?path=recording&mode=cpu&level=1&index=0&rows=7", 400, "there is no row 7: the recording has 2 CPUs and 4 tasks"},
		{"/api/tile?path=recording&mode=cpu&level=99&index=0&rows=7", 400, `level is "99"`},
		{"/api/seek?path=recording&what=sleep", 400, "choose run or wake"},
		{"/api/seek?path=recording&what=run&tasks=x", 400, "numbers and ranges"},
		{"/api/seek?path=recording&what=run&tasks=1&from=x", 400, "nanoseconds since the start"},
		{"/api/seek?path=recording&what=run&tasks=1&from=1&dir=up", 400, "choose next or prev"},
		{"/api/story?path=recording&pick=me", 400, "PID or PID@TIME"},
		{"/api/story?path=bare&pick=1@1", 422, "no machine.txt in it or in its parent"},
		{"/api/else", 404, "there is nothing at"},
	} {
		a := s.get(c.path)
		var told struct{ Error string }
		a.into(t, &told)
		if a.status != c.status || !strings.Contains(told.Error, c.want) {
			t.Errorf("%s: %d %s, want %d and %q", c.path, a.status, a.body, c.status, c.want)
		}
		if !strings.Contains(s.saidAll(), told.Error) {
			t.Errorf("%s: the terminal was not told %q", c.path, told.Error)
		}
	}
}

// The page's story is what explain --why prints, byte for byte.
func TestStoryIsExplains(t *testing.T) {
	folder := filepath.Join("..", "explain", "testdata", "6.1")
	s := serveFolder(t, folder)
	for _, pick := range []string{"401", "403@16.443251000", "408@16.7"} {
		p, err := explain.ParsePick(pick)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := explain.Open(filepath.Join(folder, "hb-pipe"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := explain.Why(context.Background(), bundle, explain.Options{}, p)
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ Text string }
		s.get("/api/story?path=hb-pipe&pick="+pick).into(t, &told)
		if told.Text != want.Text() || !strings.Contains(told.Text, "Decided by") {
			t.Errorf("%s: told\n%s\nexplain tells\n%s", pick, told.Text, want.Text())
		}
	}
}

func TestResultIsTheCSV(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	var got ResultRows
	s.get("/api/result?path=result").into(t, &got)
	var lines []string
	for _, fields := range append([][]string{got.Columns}, got.Rows...) {
		lines = append(lines, strings.Join(fields, ",")+"\n")
	}
	if text := strings.Join(lines, ""); text != smallResult {
		t.Errorf("the result is %q, the CSV %q", text, smallResult)
	}
}

func TestRecordingIsDescribed(t *testing.T) {
	s := serveFolder(t, testFolder(t))
	told := s.opened("recording")
	if told["start"] != "100000000000" || told["span"] != 70001.0 || told["cpus"] != 2.0 || told["events"] != 9.0 || told["wakes"] != 1.0 {
		t.Errorf("%v, want the small trace's start, span, CPUs, events and wakeups", told)
	}
	tasks, ok := told["tasks"].([]any)
	if !ok || len(tasks) != 4 {
		t.Fatalf("tasks %v, want 4", told["tasks"])
	}
	if got := fmt.Sprint(tasks[1]); got != "map[comm:a pid:1 ran:60000 waited:10000]" {
		t.Errorf("task 1 is %s", got)
	}
	a := s.get("/api/tile?path=recording&mode=cpu&level=10&index=0&rows=0-1")
	if tile := decodeTile(t, []byte(a.body)); tile.Rows != 2 || a.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("a tile of %d rows as %s", tile.Rows, a.header.Get("Content-Type"))
	}
}

// What Perfetto gets is read back by our own reader: every event is there.
func TestPerfettoGetsEveryEvent(t *testing.T) {
	dir := testFolder(t)
	s := serveFolder(t, dir)
	a := s.get("/api/perfetto?path=recording")
	write(t, dir, "back/trace.pftrace", a.body)
	reader, err := trace.Open(filepath.Join(dir, "back", "trace.pftrace"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // read only
	switches := 0
	err = trace.Each(reader, func(e *trace.Event) error {
		if e.Kind == trace.KindSwitch {
			switches++
		}
		return nil
	})
	if err != nil || switches != 4 {
		t.Errorf("%d switches, %v; the small trace has 4", switches, err)
	}
}

func TestListenBindsToThisMachine(t *testing.T) {
	listeners, port, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listeners {
		address, ok := l.Addr().(*net.TCPAddr)
		if !ok || !address.IP.IsLoopback() || address.Port != port {
			t.Errorf("bound to %s, want a loopback address with port %d", l.Addr(), port)
		}
	}
	if _, _, err := Listen(port); err == nil || !strings.Contains(err.Error(), "--port 0 takes a free one") {
		t.Errorf("the port again: error %v, want what to do", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := NewServer(ctx, library(t, testFolder(t)), DefaultLimits, func(string) {})
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, listeners) }()
	for _, l := range listeners {
		response, err := http.Get("http://" + l.Addr().String() + "/api/list")
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", l.Addr(), response, err)
		}
		_ = response.Body.Close() // only the status matters
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("serving ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("serving does not end with its context")
	}
}

// A request that is no HTTP, or whose header is endless, is turned away.
func TestEndlessHeaderIsTurnedAway(t *testing.T) {
	listeners, _, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := NewServer(ctx, library(t, testFolder(t)), DefaultLimits, func(string) {})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listeners) }()
	connection, err := net.Dial("tcp", listeners[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }() // the server may have closed it
	_, err = connection.Write(append([]byte("GET / HTTP/1.1\r\nHost: "+listeners[0].Addr().String()+"\r\nX: "), bytes.Repeat([]byte("x"), 200<<10)...))
	if err == nil {
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err == nil && response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d, want 431", response.StatusCode)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
