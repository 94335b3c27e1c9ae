package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/reference says what the code says; go generate ./cmd/schedlab mends it.
func TestReferenceIsCurrent(t *testing.T) {
	folder := t.TempDir()
	if err := writeReference(newRootCommand(), folder); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join(repository, "docs", "reference")
	kept, err := os.ReadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(fresh) || len(fresh) < 7 {
		t.Errorf("docs/reference has %d files, %d are generated", len(kept), len(fresh))
	}
	for _, file := range fresh {
		want, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(committed, file.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("docs/reference/%s is not what the code says; run go generate ./cmd/schedlab\n%.1500s", file.Name(), diff)
		}
	}
}
