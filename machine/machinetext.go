package machine

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
)

// sysPrefix is where CPUs and nodes live in a running machine.
const sysPrefix = "/sys/devices/system/"

// isMachineText recognises a capture's machine.txt: lines that begin with the
// path of a file in sysfs.
func isMachineText(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("/sys/"))
}

// parseMachineText reads "path: value" lines of sysfs files. Lines of other
// kernel files, such as the scheduler's domains in debugfs, are passed over.
func parseMachineText(data []byte) (*draft, error) {
	tree := newMemFS()
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxSysfsFile)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if !strings.HasPrefix(line, "/sys/") && !strings.HasPrefix(line, "/proc/") {
			return nil, atLine(number, "%q is not a line such as %scpu/cpu0/topology/thread_siblings_list: 0-1", abbreviate(line), sysPrefix)
		}
		if !strings.HasPrefix(line, sysPrefix) {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, atLine(number, "%q has no colon between the path and the value", abbreviate(line))
		}
		tree.add(strings.TrimPrefix(name, "/"), []byte(value))
	}
	if err := lines.Err(); err != nil {
		return nil, atLine(number+1, "%w", err)
	}
	sys, err := findSysfs(tree)
	if err != nil {
		return nil, errors.New("no line under " + sysPrefix + "cpu/ names a CPU")
	}
	return readSysfs(sys)
}
