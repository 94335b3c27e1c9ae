package machine

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memFS is a read-only tree of small files in memory: an unpacked archive, or
// the lines of a machine.txt.
type memFS struct {
	files map[string][]byte
	dirs  map[string][]fs.DirEntry
}

func newMemFS() *memFS {
	return &memFS{files: make(map[string][]byte), dirs: map[string][]fs.DirEntry{".": nil}}
}

// add stores a file and the directories above it. name is slash-separated,
// without a leading slash; the first of two files with one name stays.
func (m *memFS) add(name string, data []byte) {
	name = path.Clean(name)
	if _, have := m.files[name]; have || !fs.ValidPath(name) || name == "." {
		return
	}
	if _, isDir := m.dirs[name]; isDir {
		return
	}
	m.files[name] = data
	m.link(name, memEntry{path.Base(name), int64(len(data)), false})
}

func (m *memFS) link(name string, entry fs.DirEntry) {
	dir := path.Dir(name)
	_, have := m.dirs[dir]
	m.dirs[dir] = append(m.dirs[dir], entry)
	if !have && dir != "." {
		m.link(dir, memEntry{path.Base(dir), 0, true})
	}
}

func (m *memFS) Open(name string) (fs.File, error) {
	if data, ok := m.files[name]; ok {
		return &memFile{memEntry{path.Base(name), int64(len(data)), false}, bytes.NewReader(data)}, nil
	}
	if entries, err := m.ReadDir(name); err == nil {
		return &memDir{memEntry{path.Base(name), 0, true}, entries}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (m *memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, ok := m.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return sorted, nil
}

type memFile struct {
	memEntry
	io.Reader
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.memEntry, nil }
func (f *memFile) Close() error               { return nil }

// memDir is an open directory with the entries that are still to be read.
type memDir struct {
	memEntry
	left []fs.DirEntry
}

func (d *memDir) Stat() (fs.FileInfo, error) { return d.memEntry, nil }
func (d *memDir) Close() error               { return nil }
func (d *memDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	batch := d.left[:n]
	d.left = d.left[n:]
	return batch, nil
}

// memEntry is both a directory entry and its file information.
type memEntry struct {
	name string
	size int64
	dir  bool
}

func (e memEntry) Name() string               { return e.name }
func (e memEntry) Size() int64                { return e.size }
func (e memEntry) IsDir() bool                { return e.dir }
func (e memEntry) ModTime() time.Time         { return time.Time{} }
func (e memEntry) Sys() any                   { return nil }
func (e memEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e memEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e memEntry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
