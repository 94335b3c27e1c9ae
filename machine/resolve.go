package machine

import (
	"path/filepath"
	"strings"
)

// Resolve finds a machine by what a user writes: the path of a YAML file (it
// contains a slash, or ends in .yaml or .yml), a preset name or a spec string.
func Resolve(nameOrPath string) (*Machine, error) {
	if looksLikePath(nameOrPath) {
		return Load(nameOrPath)
	}
	return Parse(nameOrPath)
}

func looksLikePath(s string) bool {
	ext := filepath.Ext(s)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(s, '/')
}
