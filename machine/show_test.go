package machine

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata/show anew")

func render(t *testing.T, m *Machine, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := m.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestShowGolden compares every format of small machines with files that a
// reader can check by eye; go test ./machine -update writes them.
func TestShowGolden(t *testing.T) {
	uneven, err := Load("testdata/uneven.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		m       *Machine
		formats []string
	}{
		{mustParse(t, "2n2l2c2t"), []string{"text", "svg", "yaml"}},
		{mustParse(t, "16n16c2t"), []string{"text"}},
		{uneven, []string{"text", "json", "csv", "yaml", "svg"}},
	} {
		for _, format := range test.formats {
			golden(t, filepath.Join("testdata", "show", test.m.Name+"."+format), render(t, test.m, format))
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

// TestTextFits checks the width, and that every thread of a drawn machine and
// every LLC of a summarised one appears.
func TestTextFits(t *testing.T) {
	for _, spec := range []string{"xeon-8260", "hsw-ex", "1n1c8t", "64n32c2t", "1024n4c1t", "1n4096c1t", "2n32l64c1t"} {
		m := mustParse(t, spec)
		text := render(t, m, "text")
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > textWidth {
				t.Errorf("%s: a line of %d columns: %s", spec, n, line)
			}
		}
		if got := len(drawnLLC.FindAllString(text, -1)); got != m.Counts().LLCs {
			t.Errorf("%s: %d LLCs drawn, want %d", spec, got, m.Counts().LLCs)
		}
	}
}

var drawnLLC = regexp.MustCompile(`LLC \d+ · `)

func TestNamesCannotMoveTheCursor(t *testing.T) {
	m := mustParse(t, "1n1c1t")
	m.Name = "a\x1b[2Jb<&\n"
	for _, format := range []string{"text", "svg"} {
		if out := render(t, m, format); strings.Contains(out, "\x1b") || !strings.Contains(out, "a?[2Jb") {
			t.Errorf("%s shows the name raw: %.200q", format, out)
		}
	}
	if again := roundTrip(t, m); again.Name != m.Name {
		t.Errorf("YAML makes %q of %q", again.Name, m.Name)
	}
}

// TestSVGIsXML reads the drawing as XML and counts the boxes: one for the
// machine, one per node, LLC, core and CPU.
func TestSVGIsXML(t *testing.T) {
	for _, spec := range []string{"xeon-8260", "2n4l6c2t", "1n1c1t"} {
		m := mustParse(t, spec)
		boxes := 0
		decoder := xml.NewDecoder(strings.NewReader(render(t, m, "svg")))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
				boxes++
			}
		}
		c := m.Counts()
		if want := 1 + c.Nodes + c.LLCs + c.Cores + c.CPUs; boxes != want {
			t.Errorf("%s: %d boxes, want %d", spec, boxes, want)
		}
	}
}

func TestJSONAndCSV(t *testing.T) {
	m := mustParse(t, "xeon-8260")
	var decoded struct {
		Name  string
		Nodes []struct{ CPUs string }
		CPUs  []struct{ Core, LLC, Node int }
	}
	if err := json.Unmarshal([]byte(render(t, m, "json")), &decoded); err != nil {
		t.Fatal(err)
	}
	// mechanisms.md 0.4: CPU 48 is the second thread of core 0, node 0.
	if c := decoded.CPUs[48]; decoded.Name != "xeon-8260" || c.Core != 0 || c.LLC != 0 || decoded.Nodes[0].CPUs != "0-23,48-71" {
		t.Errorf("%+v", decoded)
	}
	records, err := csv.NewReader(strings.NewReader(render(t, m, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records[1+72], ","); len(records) != 97 || got != "72,1,24,,1,1,1,1024" {
		t.Errorf("%d lines, CPU 72 is %s, want 97 and 72,1,24,,1,1,1,1024", len(records), got)
	}
}

func TestUnknownFormat(t *testing.T) {
	err := mustParse(t, "1n1c1t").Write(io.Discard, "png")
	if err == nil || !strings.Contains(err.Error(), "use one of text, json, csv, yaml, svg") {
		t.Errorf("error %v", err)
	}
}
