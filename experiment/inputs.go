package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/workload"
)

// Inputs lists the files the results depend on: the experiment itself, then
// those it names, in the order of the file.
func (x *Experiment) Inputs() []InputFile { return x.files }

// Name is the experiment file as it was given.
func (x *Experiment) Name() string { return x.src.name }

func hashInput(path string, data []byte) InputFile {
	sum := sha256.Sum256(data)
	return InputFile{Path: filepath.ToSlash(path), SHA256: hex.EncodeToString(sum[:])}
}

// readInputs hashes every file that the experiment names and loads the
// published table.
func (x *Experiment) readInputs() error {
	x.files = []InputFile{hashInput(x.src.name, x.src.text)}
	named := append([]text{}, x.machines...)
	for i := range x.variants {
		named = append(named, x.variants[i].machine)
	}
	named = append(named, x.costs)
	for _, t := range named {
		if err := x.readInput(t); err != nil {
			return err
		}
	}
	if err := x.readWorkloads(); err != nil {
		return err
	}
	if x.published == nil {
		return nil
	}
	file, err := x.published.load(x)
	x.files = append(x.files, file)
	return err
}

// readWorkloads hashes the files that benchmarks read, and names them from here
// instead of from the experiment's folder.
func (x *Experiment) readWorkloads() error {
	for i := range x.benchmarks {
		if err := x.readWorkload(x.benchmarks[i].run, x.benchmarks[i].command); err != nil {
			return err
		}
	}
	for i := range x.environments {
		for _, job := range x.environments[i].background {
			if err := x.readWorkload(job.run, job.command); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Experiment) readWorkload(run text, command []string) error {
	i := workload.InputFile(command)
	if i < 0 {
		return nil
	}
	file := text{value: command[i], at: run.at}
	command[i] = relativeTo(x.folder, command[i])
	return x.readFile(file)
}

func (x *Experiment) readInput(t text) error {
	if !isPath(t.value) {
		return nil
	}
	return x.readFile(t)
}

func (x *Experiment) readFile(t text) error {
	data, err := smallfile.Read(relativeTo(x.folder, t.value), maxInputBytes)
	if err != nil {
		return x.src.errorAt(t.at, "%q cannot be read: %s; paths begin at the experiment file's folder", t.value, pathCause(err))
	}
	file := hashInput(t.value, data)
	for _, have := range x.files {
		if have == file {
			return nil
		}
	}
	x.files = append(x.files, file)
	return nil
}

// isPath tells a file from a built-in name or a spec string.
func isPath(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return strings.ContainsAny(name, `/\`)
}

// path is where a named file lies; names that are no paths stay as they are.
func (x *Experiment) path(name string) string {
	if !isPath(name) {
		return name
	}
	return relativeTo(x.folder, name)
}

func values(list []text) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].value
	}
	return names
}

func (x *Experiment) machineNames() []string { return values(x.machines) }

func (x *Experiment) variantNames() []string {
	names := make([]string, len(x.variants))
	for i := range x.variants {
		names[i] = x.variants[i].name.value
	}
	return names
}

func (x *Experiment) benchmarkNames() []string {
	names := make([]string, len(x.benchmarks))
	for i := range x.benchmarks {
		names[i] = x.benchmarks[i].name.value
	}
	return names
}

func (x *Experiment) environmentNames() []string {
	names := make([]string, len(x.environments))
	for i := range x.environments {
		names[i] = x.environments[i].name.value
	}
	return names
}
