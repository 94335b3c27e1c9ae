package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Imported is a machine read from something that describes a real one.
type Imported struct {
	Machine *Machine
	// Format says what the input was taken for, e.g. "lscpu -p".
	Format string
	// Notes says, one sentence each, what the input does not tell and was
	// assumed, and what was repaired as Linux would.
	Notes []string
}

// maxImportBytes bounds a description read into memory; the largest real one
// known, hwloc XML of a 4,096-CPU machine with I/O devices, has a tenth of it.
const maxImportBytes = 64 << 20

// Import reads a machine from path, finding out by itself what that is:
//
//   - a directory: "/" for the running machine, or a copy of a sysfs tree (the
//     folder that holds sys/, or sys/ itself)
//   - a .tar, .tar.gz or .tar.bz2 of such a copy
//   - the output of lscpu -J, lscpu -J -e or lscpu -p
//   - an hwloc (lstopo) XML export, version 1, 2 or 3
//   - a capture's machine.txt: "path: value" lines of sysfs
//   - a machine in YAML, as [Load] reads it
//
// Errors name the file and, where there is one, the line.
func Import(path string) (*Imported, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		imported, err := ImportSysfs(os.DirFS(path), importName(path))
		return imported, inFile(path, err)
	}
	data, err := readAtMost(path, maxImportBytes)
	if err != nil {
		return nil, err
	}
	format, err := formatOf(path, data)
	if err != nil {
		return nil, inFile(path, err)
	}
	imported, err := format.read(path, data)
	if err != nil {
		return nil, inFile(path, err)
	}
	imported.Format = format.name
	return imported, nil
}

// inFile puts the path before an error that does not begin with it already.
func inFile(path string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), path+":") {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// lineError is an error at a line of the input.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

func atLine(line int, format string, args ...any) error {
	return &lineError{line, fmt.Errorf(format, args...)}
}

func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than %d MiB, no description of a machine is", path, limit>>20)
	}
	return data, nil
}

// importName is the name an imported machine gets: its file's, without the
// endings that only say the format.
func importName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || abs == "/" {
		return "local"
	}
	name := filepath.Base(abs)
	if name == "machine.txt" || name == "sys" {
		name = filepath.Base(filepath.Dir(abs))
	}
	for _, ending := range []string{".gz", ".bz2", ".tar", ".tgz", ".xml", ".json", ".txt", ".csv"} {
		if trimmed := strings.TrimSuffix(name, ending); trimmed != "" {
			name = trimmed
		}
	}
	if name == "/" {
		return "local"
	}
	return name
}

// inputFormat is one kind of file that Import knows.
type inputFormat struct {
	name  string
	match func(data []byte) bool
	read  func(path string, data []byte) (*Imported, error)
}

// inputFormats are tried in order; the YAML of schedlab itself comes last
// because almost any text is YAML.
func inputFormats() []inputFormat {
	return []inputFormat{
		{"sysfs archive", isArchive, readArchive},
		{"hwloc XML", startsWith("<"), readNamed(parseHwloc)},
		{"lscpu -J", startsWith("{"), readNamed(parseLscpuJSON)},
		{"machine.txt", isMachineText, readNamed(parseMachineText)},
		{"lscpu -p", isLscpuParsable, readNamed(parseLscpuParsable)},
		{"YAML", isMachineYAML, readYAML},
	}
}

var errUnknownFormat = errors.New("not a description of a machine that can be read: give a sysfs tree or its .tar.bz2, hwloc XML, the output of lscpu -J, lscpu -J -e or lscpu -p, a capture's machine.txt, or schedlab's own YAML")

// formatOf trusts the ending of a YAML file, so that an error in it is told as
// one, and else looks at the content.
func formatOf(path string, data []byte) (inputFormat, error) {
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return inputFormat{name: "YAML", read: readYAML}, nil
	}
	return sniff(data)
}

func sniff(data []byte) (inputFormat, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return inputFormat{}, errors.New("the file is empty")
	}
	for _, f := range inputFormats() {
		if f.match(data) {
			return f, nil
		}
	}
	return inputFormat{}, errUnknownFormat
}

func startsWith(prefix string) func([]byte) bool {
	return func(data []byte) bool {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		return bytes.HasPrefix(bytes.TrimSpace(data), []byte(prefix))
	}
}

// readNamed adapts a parser that yields a draft.
func readNamed(parse func([]byte) (*draft, error)) func(string, []byte) (*Imported, error) {
	return func(path string, data []byte) (*Imported, error) {
		return finishImport(importName(path), data, parse)
	}
}

func finishImport(name string, data []byte, parse func([]byte) (*draft, error)) (*Imported, error) {
	d, err := parse(data)
	if err != nil {
		return nil, err
	}
	d.name = name
	m, notes, err := d.assemble()
	if err != nil {
		return nil, err
	}
	return &Imported{Machine: m, Notes: notes}, nil
}

// ImportSysfs reads a machine from a file system that holds a sysfs tree: the
// root of a machine, a copy of it, or sys/ itself.
func ImportSysfs(fsys fs.FS, name string) (*Imported, error) {
	tree, err := findSysfs(fsys)
	if err != nil {
		return nil, err
	}
	d, err := readSysfs(tree)
	if err != nil {
		return nil, err
	}
	d.name = name
	m, notes, err := d.assemble()
	if err != nil {
		return nil, err
	}
	return &Imported{Machine: m, Format: "sysfs", Notes: notes}, nil
}

func readYAML(path string, data []byte) (*Imported, error) {
	m, err := parseYAML(path, data)
	if err != nil {
		return nil, err
	}
	return &Imported{Machine: m}, nil
}

// isMachineYAML looks for the one key every machine in YAML has.
func isMachineYAML(data []byte) bool {
	return bytes.HasPrefix(data, []byte("nodes:")) || bytes.Contains(data, []byte("\nnodes:"))
}
