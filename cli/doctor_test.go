package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/capture"
)

func TestDiagnosisPutsTheMendBelowWhatIsLacking(t *testing.T) {
	l := diagnosis([]capture.Check{{Name: "root", OK: true, Found: "running as root"}, {Name: "BTF", Found: "none", Mend: "another kernel"}})
	want := "ok       root      running as root\n" +
		"lacking  BTF       none\n" +
		"                   mend: another kernel\n"
	if l.text != want {
		t.Errorf("got:\n%swant:\n%s", l.text, want)
	}
	if got := strings.Join(l.records[1], "|"); got != "BTF|lacking|none|another kernel" {
		t.Errorf("record %q", got)
	}
}

func TestDoctorNamesTheNearestKernel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "version")
	for text, want := range map[string]capture.Check{
		"Linux version 6.8.0-45-generic (buildd@lcy02) (gcc)\n": {Name: "kernel", OK: true, Found: "Linux version 6.8.0-45-generic; judged by the rules of v6.1"},
		"Linux version 2.6.32 (x)\n":                            {Name: "kernel", Found: "Linux version 2.6.32 is older than every profile", Mend: "schedlab kernels lists what there is"},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := checkKernel(file); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := checkKernel(file + "-missing"); got.OK || got.Mend == "" {
		t.Errorf("a missing file: %+v", got)
	}
}
