package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/trace"
)

// Bounds of what is looked at below the folder, so that a hostile one cannot
// keep the page busy.
const (
	maxDepth   = 10
	maxEntries = 200_000
	maxFound   = 5_000
	maxReport  = 64 << 20 // bytes of a report.html
)

// The files of a result that are shown.
const (
	resultsFile = "results.csv"
	reportFile  = "report.html"
)

// Found is what a folder holds. Paths are relative to it, with slashes.
type Found struct {
	Results    []FoundResult    `json:"results"`
	Recordings []FoundRecording `json:"recordings"`
	// Notes says what was left out and why.
	Notes []string `json:"notes"`
}

// FoundResult is a folder that compare or reproduce wrote.
type FoundResult struct {
	Path   string `json:"path"`
	Report bool   `json:"report"` // there is a report.html
}

// FoundRecording is a folder with a trace.
type FoundRecording struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // of the trace's file
	trace string // its file's path
}

// Library is a folder with results and recordings. Everything is opened through
// an [os.Root]: neither ".." nor a symbolic link leads out of the folder.
type Library struct {
	dir  string // absolute, without links
	root *os.Root
}

// OpenLibrary opens a folder.
func OpenLibrary(dir string) (*Library, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such folder; compare --out and run --trace make folders to serve", dir)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder; name the folder of a result (compare --out) or of a recording (run --trace), or one that holds some", dir)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Library{dir: dir, root: root}, nil
}

// Close releases the folder.
func (l *Library) Close() error { return l.root.Close() }

// Find lists what the folder holds now, by path.
func (l *Library) Find() (*Found, error) {
	s := search{files: l, found: &Found{Results: []FoundResult{}, Recordings: []FoundRecording{}, Notes: []string{}}}
	if err := s.folder(".", 0); err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	return s.found, nil
}

// search is one walk over the folder.
type search struct {
	files   *Library
	found   *Found
	entries int
}

// errFull ends a search that has found enough.
var errFull = errors.New("full")

// maxNotes bounds what is said about a folder.
const maxNotes = 50

func (s *search) note(format string, args ...any) {
	if len(s.found.Notes) < maxNotes {
		s.found.Notes = append(s.found.Notes, fmt.Sprintf(format, args...))
	}
}

// folder looks at a folder and what is below it.
func (s *search) folder(dir string, depth int) error {
	entries, err := s.read(dir)
	if err != nil {
		s.note("%s: left out: %v", dir, err)
		return nil
	}
	if s.entries += len(entries); s.entries > maxEntries {
		s.note("more than %d files: the rest is left out; serve a folder further down", maxEntries)
		return errFull
	}
	s.look(dir, entries)
	if len(s.found.Results)+len(s.found.Recordings) >= maxFound {
		s.note("more than %d results and recordings: the rest is left out; serve a folder further down", maxFound)
		return errFull
	}
	for _, e := range entries {
		below := path.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			s.link(below)
		case !e.IsDir() || strings.HasPrefix(e.Name(), "."):
		case depth == maxDepth:
			s.note("%s: left out: deeper than %d folders", below, maxDepth)
		default:
			if err := s.folder(below, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// read lists a folder, at most as much of it as is looked at.
func (s *search) read(dir string) ([]fs.DirEntry, error) {
	file, err := s.files.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // read only
	entries, err := file.ReadDir(maxEntries + 1 - s.entries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// link notes a symbolic link to a folder: it is not followed, since links may
// go in circles, and out.
func (s *search) link(name string) {
	info, err := s.files.root.Stat(filepath.FromSlash(name))
	if err != nil {
		s.note("%s: a symbolic link that leads out of the folder or nowhere: left out", name)
	} else if info.IsDir() {
		s.note("%s: a symbolic link to a folder is not followed", name)
	}
}

// look notes what a folder itself is.
func (s *search) look(dir string, entries []fs.DirEntry) {
	named := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	if named(resultsFile) && s.files.isFile(path.Join(dir, resultsFile)) {
		report := named(reportFile) && s.files.isFile(path.Join(dir, reportFile))
		s.found.Results = append(s.found.Results, FoundResult{Path: dir, Report: report})
	}
	if slices.ContainsFunc(traceNames, named) {
		if r, ok := s.files.recording(dir); ok {
			s.found.Recordings = append(s.found.Recordings, r)
		}
	}
}

// isFile reports whether there is a regular file inside the folder.
func (l *Library) isFile(name string) bool {
	info, err := l.root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// traceNames are the files that a recording's trace may be; package explain
// takes the same in the same order.
var traceNames = []string{"trace.txt.gz", "trace.txt", "trace.dat", "trace.dat.gz", "perf.data", "trace.perfetto-trace", "trace.pftrace"}

// recording finds the trace in a folder.
func (l *Library) recording(dir string) (FoundRecording, bool) {
	for _, name := range traceNames {
		file := path.Join(dir, name)
		info, err := l.root.Stat(filepath.FromSlash(file))
		if err == nil && info.Mode().IsRegular() {
			return FoundRecording{Path: dir, Bytes: info.Size(), trace: file}, true
		}
	}
	return FoundRecording{}, false
}

// checkPath refuses what is not a plain path inside. The root would refuse to
// leave the folder as well; this says so in words.
func checkPath(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("%q is not the path of a folder inside the one that is served", name)
	}
	return nil
}

// OpenTrace opens the trace of a recording. The file tells how much of it has
// been read; the reader closes it.
func (l *Library) OpenTrace(dir string) (trace.Reader, *os.File, error) {
	if err := checkPath(dir); err != nil {
		return nil, nil, err
	}
	found, ok := l.recording(dir)
	if !ok {
		return nil, nil, fmt.Errorf("%s: no recording there: none of %s is a file inside the folder that is served", dir, strings.Join(traceNames, ", "))
	}
	file, err := l.root.Open(filepath.FromSlash(found.trace))
	if err != nil {
		return nil, nil, err
	}
	reader, err := trace.OpenFile(file)
	return reader, file, err
}

// openFile opens a regular file of at most limit bytes.
func (l *Library) openFile(name string, limit int64) (*os.File, error) {
	if err := checkPath(name); err != nil {
		return nil, err
	}
	info, err := l.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d MB are more than the %d MB that this page shows", name, info.Size()>>20, limit>>20)
	}
	return l.root.Open(filepath.FromSlash(name))
}

// describing are the files beside a trace that package explain reads.
var describing = []string{"machine.txt", "tunables.txt", "cgroups.txt"}

// maxDescription bounds them: a machine of 8192 CPUs is described by some MB.
const maxDescription = 64 << 20

// CheckInside makes sure that what belongs to a recording lies inside the
// folder, for a reader that takes a path; it returns that path.
func (l *Library) CheckInside(dir string) (string, error) {
	if err := checkPath(dir); err != nil {
		return "", err
	}
	for _, name := range slices.Concat(traceNames, describing) {
		if err := l.checkFile(path.Join(dir, name)); err != nil {
			return "", err
		}
	}
	if err := l.checkParentMachine(dir); err != nil {
		return "", err
	}
	return filepath.Join(l.dir, filepath.FromSlash(dir)), nil
}

// checkFile accepts a file that is not there, or a regular one inside.
func (l *Library) checkFile(name string) error {
	info, err := l.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s is refused: %w", name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is refused: not a regular file", name)
	case slices.Contains(describing, path.Base(name)) && info.Size() > maxDescription:
		return fmt.Errorf("%s is refused: %d MB are too large for a description", name, info.Size()>>20)
	}
	return nil
}

// checkParentMachine looks at the machine.txt above a recording, which is its
// machine when it has none of its own. Above the served folder itself only this
// one file may be read, and only if it is no link.
func (l *Library) checkParentMachine(dir string) error {
	if dir != "." {
		return l.checkFile(path.Join(path.Dir(dir), "machine.txt"))
	}
	above := filepath.Join(filepath.Dir(l.dir), "machine.txt")
	info, err := os.Lstat(above)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is refused: not a regular file", above)
	}
	return nil
}
