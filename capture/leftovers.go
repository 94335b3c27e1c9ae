package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// A capture that was killed outright (SIGKILL, a crash) leaves its instance and
// its probes behind. Both carry the process that made them in their names, its
// number and its starting time, so that the next capture recognises those whose
// process is gone and removes them; and the name of the instance says whether
// the scheduler's statistics were off before.

const (
	instancePrefix = "schedlab-"
	groupPrefix    = "schedlab_"
	statsWereOff   = "-stats0"
)

// owner is the process that a capture belongs to.
type owner struct{ pid, start string }

func (o owner) instance(statsOff bool) string {
	name := instancePrefix + o.pid + "-" + o.start
	if statsOff {
		name += statsWereOff
	}
	return name
}

func (o owner) group() string { return groupPrefix + o.pid + "_" + o.start }

// self returns this process.
func self(k kernelFS) (owner, error) {
	data, err := k.ReadFile("/proc/self/stat")
	if err != nil {
		return owner{}, fmt.Errorf("%w; capture needs /proc: mount -t proc proc /proc", err)
	}
	pid, start, ok := parseStat(string(data))
	if !ok {
		return owner{}, fmt.Errorf("/proc/self/stat: %q is not understood", firstLine(string(data)))
	}
	return owner{pid, start}, nil
}

// startField is where /proc/PID/stat has the starting time, counted from the
// field behind the name.
const startField = 19

// parseStat takes "PID (name) S ..." apart; the name may hold anything.
func parseStat(stat string) (pid, start string, ok bool) {
	open, shut := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return "", "", false
	}
	pid = strings.TrimSpace(stat[:open])
	fields := strings.Fields(stat[shut+1:])
	if _, err := strconv.ParseUint(pid, 10, 32); err != nil || len(fields) <= startField {
		return "", "", false
	}
	return pid, fields[startField], true
}

// lives reports whether the process is still there.
func (o owner) lives(k kernelFS) bool {
	data, err := k.ReadFile("/proc/" + o.pid + "/stat")
	if err != nil {
		return false
	}
	_, start, ok := parseStat(string(data))
	return !ok || start == o.start
}

// sweep removes what dead captures have left behind and says what it did. Those
// of living ones are left alone.
func sweep(k kernelFS, tracing string) (notes []string, err error) {
	var failed []error
	names, err := k.ReadDir(filepath.Join(tracing, "instances"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		o, statsOff, ok := parseInstance(name)
		if !ok || o.lives(k) {
			continue
		}
		if err := removeInstance(k, filepath.Join(tracing, "instances", name)); err != nil {
			failed = append(failed, err)
			continue
		}
		notes = append(notes, fmt.Sprintf("removed the trace instance %s that a killed capture had left behind", name))
		if statsOff {
			failed = append(failed, ignoreMissing(k.WriteFile(statsPath, "0")))
			notes = append(notes, "switched the scheduler's statistics off again, as they were before it")
		}
	}
	removed, err := sweepProbes(k, tracing)
	return append(notes, removed...), errors.Join(append(failed, err)...)
}

func removeInstance(k kernelFS, dir string) error {
	for _, file := range []string{"tracing_on", "events/enable"} {
		if err := ignoreMissing(k.WriteFile(filepath.Join(dir, file), "0")); err != nil {
			return fmt.Errorf("%s, left behind by a killed capture: %w", filepath.Join(dir, file), err)
		}
	}
	if err := ignoreMissing(k.Remove(dir)); err != nil {
		return fmt.Errorf("%s, left behind by a killed capture: %w; is somebody reading it?", dir, err)
	}
	return nil
}

func parseInstance(name string) (o owner, statsOff, ok bool) {
	rest, ours := strings.CutPrefix(name, instancePrefix)
	if !ours {
		return owner{}, false, false
	}
	rest, statsOff = strings.CutSuffix(rest, statsWereOff)
	o, ok = parseOwner(rest, "-")
	return o, statsOff, ok
}

func parseOwner(text, sep string) (owner, bool) {
	pid, start, found := strings.Cut(text, sep)
	_, pidErr := strconv.ParseUint(pid, 10, 32)
	_, startErr := strconv.ParseUint(start, 10, 64)
	return owner{pid, start}, found && pidErr == nil && startErr == nil
}

// sweepProbes removes the probes of dead captures.
func sweepProbes(k kernelFS, tracing string) (notes []string, err error) {
	file := filepath.Join(tracing, "kprobe_events")
	data, err := k.ReadFile(file)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var failed []error
	for _, line := range strings.Split(string(data), "\n") {
		group, name, ok := parseDefinition(line)
		if !ok {
			continue
		}
		rest, ours := strings.CutPrefix(group, groupPrefix)
		o, valid := parseOwner(rest, "_")
		if !ours || !valid || o.lives(k) {
			continue
		}
		if err := k.WriteFile(file, fmt.Sprintf("-:%s/%s\n", group, name)); err != nil {
			failed = append(failed, fmt.Errorf("probe %s/%s, left behind by a killed capture: %w", group, name, err))
			continue
		}
		notes = append(notes, fmt.Sprintf("removed the probe %s/%s that a killed capture had left behind", group, name))
	}
	return notes, errors.Join(failed...)
}

// parseDefinition reads "p:group/name function ..." and "r4:group/name ...".
func parseDefinition(line string) (group, name string, ok bool) {
	head, _, _ := strings.Cut(line, " ")
	_, full, found := strings.Cut(head, ":")
	if !found {
		return "", "", false
	}
	group, name, ok = strings.Cut(full, "/")
	return group, name, ok
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 80)]
}
