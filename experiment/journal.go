package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// journalFormat is the version of the journal's lines.
const journalFormat = 1

// Journal keeps the outcomes of finished cells in a file, one JSON line each,
// after a first line that says what they belong to. A nil *Journal keeps
// nothing.
type Journal struct {
	path  string
	scope string

	mu      sync.Mutex
	file    *os.File
	done    map[string]*Outcome // by fingerprint
	resumed int                 // how many the file held when it was opened
	notices []string
	err     error
}

type journalHeader struct {
	Journal int    `json:"schedlab_journal"`
	Scope   string `json:"scope"`
}

type journalLine struct {
	Cell        string   `json:"cell"`
	Seed        uint64   `json:"seed"`
	Fingerprint string   `json:"fingerprint"`
	Outcome     *Outcome `json:"outcome"`
}

// OpenJournal opens or creates a journal. Scope is what outcomes depend on
// besides the cell (Experiment.Scope): a journal of another scope is begun
// anew. A torn last line is cut off, a damaged one is passed over. The error is
// for a file that cannot be written, or that somebody else writes now.
func OpenJournal(path, scope string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockJournal(file); err != nil {
		return nil, errors.Join(fmt.Errorf("another schedlab is writing to %s (%w); wait for it, or write --out with another folder", path, err), file.Close())
	}
	j := &Journal{path: path, scope: scope, file: file, done: map[string]*Outcome{}}
	if err := j.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *Journal) load() error {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	header, lines, _ := bytes.Cut(whole, []byte("\n"))
	if !j.sameScope(header) {
		return j.begin(len(whole) > 0)
	}
	if len(whole) < len(data) {
		j.notices = append(j.notices, "the last line of "+j.path+" was cut short; its cell runs again")
		if err := j.file.Truncate(int64(len(whole))); err != nil {
			return err
		}
	}
	j.loadLines(lines)
	return nil
}

func (j *Journal) sameScope(header []byte) bool {
	var h journalHeader
	return json.Unmarshal(header, &h) == nil && h == journalHeader{journalFormat, j.scope}
}

func (j *Journal) begin(replaces bool) error {
	if replaces {
		j.notices = append(j.notices, j.path+" is from another build of schedlab or from other input files; every cell runs again")
	}
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	_, err := j.file.Write(jsonLine(journalHeader{journalFormat, j.scope}))
	return err
}

func (j *Journal) loadLines(lines []byte) {
	for number := 2; len(lines) > 0; number++ {
		var line []byte
		line, lines, _ = bytes.Cut(lines, []byte("\n"))
		var l journalLine
		if err := json.Unmarshal(line, &l); err != nil || l.Fingerprint == "" || l.Outcome == nil {
			j.notices = append(j.notices, fmt.Sprintf("%s:%d is damaged; its cell runs again", j.path, number))
			continue
		}
		j.done[l.Fingerprint] = l.Outcome
	}
	j.resumed = len(j.done)
}

// jsonLine encodes a value that always has an encoding, with its line end.
// encoding/json writes the shortest decimal that reads back as the same float64.
func jsonLine(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // no NaN or infinity passes validated()
	}
	return append(data, '\n')
}

// fingerprint identifies everything a cell's outcome depends on.
func fingerprint(c *Cell) string {
	sum := sha256.Sum256(jsonLine(c))
	return hex.EncodeToString(sum[:])
}

// Fingerprint identifies everything that the cell's outcome depends on besides
// the program and the files that it names.
func (c *Cell) Fingerprint() string { return fingerprint(c) }

// Lookup returns the outcome of a finished cell, nil when it has none.
func (j *Journal) Lookup(c *Cell) *Outcome {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[fingerprint(c)]
}

// Add keeps the outcome of a cell. A failing write is remembered (Err) and does
// not stop the run. Each line is one write, so a kill tears at most the last.
func (j *Journal) Add(c *Cell, o *Outcome) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[fingerprint(c)] = o
	if _, err := j.file.Write(lineOf(c, o)); err != nil && j.err == nil {
		j.err = err
	}
}

func lineOf(c *Cell, o *Outcome) []byte {
	return jsonLine(journalLine{Cell: c.Key, Seed: c.Seed, Fingerprint: fingerprint(c), Outcome: o})
}

// Len is the number of finished cells that the file held when it was opened.
func (j *Journal) Len() int {
	if j == nil {
		return 0
	}
	return j.resumed
}

// Notices are what a user should know about the state the file was in.
func (j *Journal) Notices() []string {
	if j == nil {
		return nil
	}
	return j.notices
}

// Err is the first write that failed: cells since then are not kept.
func (j *Journal) Err() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close closes the file and keeps it.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}

// Remove closes and deletes the file.
func (j *Journal) Remove() error {
	if j == nil {
		return nil
	}
	err := os.Remove(j.path)
	if errors.Is(err, fs.ErrNotExist) { // the same command, run twice at once, was quicker
		err = nil
	}
	return errors.Join(j.file.Close(), err)
}

// Settle rewrites the file in the order of the plan, so that it is the same
// bytes however many workers wrote it, and closes it. Cells of other plans, and
// those whose runner failed, are not in it.
func (j *Journal) Settle(r *Results) error {
	if j == nil {
		return nil
	}
	var out bytes.Buffer
	out.Write(jsonLine(journalHeader{journalFormat, j.scope}))
	for i := range r.Plan.Cells {
		c := &r.Plan.Cells[i]
		if o := j.Lookup(c); o != nil {
			out.Write(lineOf(c, o))
		}
	}
	temporary := j.path + ".new"
	if err := os.WriteFile(temporary, out.Bytes(), 0o644); err != nil {
		return err
	}
	return errors.Join(os.Rename(temporary, j.path), j.file.Close())
}

// Scope is what outcomes depend on besides their cells: the program (a hash of
// it) and the files that cells name.
func (x *Experiment) Scope(program string) string {
	h := sha256.New()
	h.Write(framed(program))
	for _, f := range x.files[1:] { // not the experiment: its cells have fingerprints
		h.Write(framed(f.Path))
		h.Write(framed(f.SHA256))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// framed puts a string's length in front, so that two lists of strings never
// hash alike.
func framed(s string) []byte { return fmt.Appendf(nil, "%d:%s", len(s), s) }

// CacheJournal is where a plan without an output folder keeps its finished
// cells: in the user's cache, under a hash of the experiment's bytes, the
// options that choose cells, and the scope.
func (p *Plan) CacheJournal(scope string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range []string{string(p.experiment.src.text), p.experiment.src.name, strconv.FormatBool(p.Quick),
		strconv.FormatUint(p.Seed, 10), scope} {
		h.Write(framed(part))
	}
	return filepath.Join(cache, "schedlab", "unfinished", hex.EncodeToString(h.Sum(nil)[:16])+".jsonl"), nil
}

// ProgramHash is the SHA-256 of the running executable.
func ProgramHash() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
