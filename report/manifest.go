package report

import (
	"encoding/json"
	"io"
)

// Manifest says what an output folder was made from. It holds nothing that a
// second run of the same request would change: no time, no machine name, no
// number of workers.
type Manifest struct {
	Program string          `json:"program"` // SHA-256 of the executable
	Version string          `json:"version"`
	Command []string        `json:"command"` // the flags that decide the results
	Seed    uint64          `json:"seed"`
	Inputs  []ManifestInput `json:"inputs"`
	Cells   []ManifestCell  `json:"cells"`
	Notes   []string        `json:"notes"` // how figures came about: stretches simulated, scaling
}

// ManifestInput is a file that the results depend on.
type ManifestInput struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ManifestCell is one simulation and its seed.
type ManifestCell struct {
	Key    string `json:"key"`
	Seed   uint64 `json:"seed"`
	Failed string `json:"failed,omitempty"`
}

// Write writes the manifest as JSON.
func (m *Manifest) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}
