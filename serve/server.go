package serve

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/export"
)

//go:generate go run -C ../tools ./webbundle ../serve/web/main.ts ../serve/web/app.js

//go:embed web/index.html web/style.css web/app.js
var page embed.FS

// Server answers the page's requests.
type Server struct {
	files   *Library
	shelf   *shelf
	stories chan struct{} // has room for the one story that is being told
	say     func(text string)
}

// NewServer serves a library. What fails is said, besides in the page, by say,
// which is called from several goroutines. Loading ends with ctx.
func NewServer(ctx context.Context, l *Library, limits Limits, say func(text string)) *Server {
	return &Server{files: l, shelf: newShelf(ctx, l, limits), stories: make(chan struct{}, 1), say: say}
}

// Handler returns what answers requests. It refuses all but reads from this
// machine, whatever it is bound to.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.static("web/index.html", "text/html; charset=utf-8"))
	mux.HandleFunc("/style.css", s.static("web/style.css", "text/css; charset=utf-8"))
	mux.HandleFunc("/app.js", s.static("web/app.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("/report", s.report)
	for name, answer := range map[string]func(*http.Request) (any, error){
		"list": s.list, "result": s.result, "recording": s.recording, "story": s.story, "seek": s.seek,
	} {
		mux.HandleFunc("/api/"+name, s.json(answer))
	}
	mux.HandleFunc("/api/tile", s.tile)
	mux.HandleFunc("/api/perfetto", s.perfetto)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &statusError{http.StatusNotFound, fmt.Errorf("there is nothing at %q", r.URL.Path)})
	})
	return guarded(mux)
}

func (s *Server) static(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := page.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // the browser may have gone
	}
}

// statusError is an error with the HTTP status that says whose it is.
type statusError struct {
	status int
	error
}

func (e *statusError) Unwrap() error { return e.error }

func badRequest(err error) error { return &statusError{http.StatusBadRequest, err} }

// fail answers with an error, and says it in the terminal too.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // nobody waits for it any more
	}
	status := http.StatusUnprocessableEntity
	var known *statusError
	switch {
	case errors.As(err, &known):
		status = known.status
	case errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	}
	if status != http.StatusNotFound || strings.HasPrefix(r.URL.Path, "/api/") {
		s.say(err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // the browser may have gone
}

func (s *Server) json(answer func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := answer(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // the browser may have gone
	}
}

func (s *Server) list(*http.Request) (any, error) {
	found, err := s.files.Find()
	if err != nil {
		return nil, err
	}
	return struct {
		Folder string `json:"folder"`
		*Found
	}{s.files.dir, found}, nil
}

func (s *Server) result(r *http.Request) (any, error) {
	dir, err := pathIn(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.files.Result(dir)
}

// pathIn returns the folder that a request is about.
func pathIn(form url.Values) (string, error) {
	dir := form.Get("path")
	if err := checkPath(dir); err != nil {
		return "", badRequest(err)
	}
	return dir, nil
}

// report sends a result's report.html, shut into a sandbox.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	dir, err := pathIn(r.URL.Query())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	file, err := s.files.openFile(path.Join(dir, reportFile), maxReport)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { _ = file.Close() }() // read only
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.Copy(w, io.LimitReader(file, maxReport)) // the browser may have gone
}

// patience is how long a request waits for a recording before it answers how
// far the loading is.
const patience = 250 * time.Millisecond

// recording describes a recording, or says how far its loading is.
func (s *Server) recording(r *http.Request) (any, error) {
	dir, err := pathIn(r.URL.Query())
	if err != nil {
		return nil, err
	}
	rec, loading, err := s.shelf.get(dir, patience)
	if err != nil {
		return nil, err
	}
	if loading != nil {
		events, percent := loading.progress()
		return map[string]any{"loading": true, "events": events, "percent": percent}, nil
	}
	return map[string]any{
		"start": strconv.FormatInt(rec.Start, 10), // may exceed what a JavaScript number holds exactly
		"span":  rec.Span, "events": rec.Events, "wakes": len(rec.wakes), "cpus": len(rec.cpus),
		"tasks": rec.Tasks, "notes": rec.Notes, "buckets": tileBuckets,
	}, nil
}

// loaded returns a recording that the page has opened before.
func (s *Server) loaded(form url.Values) (*Recording, error) {
	dir, err := pathIn(form)
	if err != nil {
		return nil, err
	}
	rec, loading, err := s.shelf.get(dir, time.Minute)
	if err == nil && loading != nil {
		err = &statusError{http.StatusServiceUnavailable, fmt.Errorf("%s is still being read; ask again", dir)}
	}
	return rec, err
}

func (s *Server) tile(w http.ResponseWriter, r *http.Request) {
	form := r.URL.Query()
	q, err := parseTileRequest(form)
	if err != nil {
		s.fail(w, r, badRequest(err))
		return
	}
	rec, err := s.loaded(form)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	data, err := rec.tile(q)
	if err != nil {
		s.fail(w, r, badRequest(err))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data) // the browser may have gone
}

// story tells a decision as explain --why does: pick is PID@TIME.
func (s *Server) story(r *http.Request) (any, error) {
	form := r.URL.Query()
	dir, err := pathIn(form)
	if err != nil {
		return nil, err
	}
	pick, err := explain.ParsePick(form.Get("pick"))
	if err != nil {
		return nil, badRequest(fmt.Errorf("pick: %w", err))
	}
	where, err := s.files.CheckInside(dir)
	if err != nil {
		return nil, &statusError{http.StatusForbidden, err}
	}
	bundle, err := explain.Open(where)
	if err != nil {
		return nil, err
	}
	select {
	case s.stories <- struct{}{}:
		defer func() { <-s.stories }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	story, err := explain.Why(r.Context(), bundle, explain.Options{}, pick)
	if err != nil {
		return nil, err
	}
	return map[string]string{"text": story.Text()}, nil
}

// seek finds the next or previous moment: what=run of a task, what=wake of a
// task or, without one, of any.
func (s *Server) seek(r *http.Request) (any, error) {
	form := r.URL.Query()
	q, err := parseSeek(form)
	if err != nil {
		return nil, badRequest(err)
	}
	rec, err := s.loaded(form)
	if err != nil {
		return nil, err
	}
	return rec.seek(q), nil
}

// perfetto sends the recording in the form that Perfetto's page reads.
func (s *Server) perfetto(w http.ResponseWriter, r *http.Request) {
	dir, err := pathIn(r.URL.Query())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reader, _, err := s.files.OpenTrace(dir)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { _ = reader.Close() }() // read only
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := export.Write(w, "", reader, export.Options{Format: export.Perfetto}); err != nil {
		panic(http.ErrAbortHandler) // the beginning is sent: break off, so that nobody takes it for whole
	}
}
