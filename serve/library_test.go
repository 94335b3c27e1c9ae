package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write makes a file below dir, and the folders above it.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, dir, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func library(t *testing.T, dir string) *Library {
	t.Helper()
	l, err := OpenLibrary(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func find(t *testing.T, l *Library) (results, recordings []string, found *Found) {
	t.Helper()
	found, err := l.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found.Results {
		results = append(results, r.Path)
	}
	for _, r := range found.Recordings {
		recordings = append(recordings, r.Path)
	}
	return results, recordings, found
}

const smallResult = "benchmark,statistic,row,variant,value\nb,Amean,1,v,0.5\n"

func TestFindListsResultsAndRecordings(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"one/results.csv": smallResult, "one/report.html": "<p>", "one/traces/x/a/trace.txt.gz": "z", "one/traces/x/b/trace.txt.gz": "z",
		"two/results.csv": smallResult, "captures/6.1/hb/trace.dat": "z", "captures/6.1/machine.txt": "m", ".git/results.csv": smallResult,
		"empty/file": "",
	} {
		write(t, dir, name, content)
	}
	results, recordings, found := find(t, library(t, dir))
	if !slices.Equal(results, []string{"one", "two"}) || !found.Results[0].Report || found.Results[1].Report {
		t.Errorf("results %+v, want one with a report and two without", found.Results)
	}
	if !slices.Equal(recordings, []string{"captures/6.1/hb", "one/traces/x/a", "one/traces/x/b"}) {
		t.Errorf("recordings %v", recordings)
	}
	// The folder itself may be one.
	if results, _, _ := find(t, library(t, filepath.Join(dir, "two"))); !slices.Equal(results, []string{"."}) {
		t.Errorf("results %v in the result's own folder, want it", results)
	}
}

// secret is what lies outside and must not be seen.
const secret = "secret,benchmark,statistic,row,variant,value\n"

func TestNothingOutsideIsRead(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "results.csv", secret)
	write(t, outside, "report.html", secret)
	write(t, outside, "trace.txt", smallTrace)
	write(t, outside, "machine.txt", secret)
	link(t, outside, dir, "folder")
	for _, name := range []string{"results.csv", "report.html", "trace.txt"} {
		write(t, dir, "linked/other", "")
		link(t, filepath.Join(outside, name), filepath.Join(dir, "linked"), name)
	}
	write(t, dir, "bundle/trace.txt", smallTrace)
	link(t, filepath.Join(outside, "machine.txt"), filepath.Join(dir, "bundle"), "machine.txt")
	write(t, dir, "below/bundle/trace.txt", smallTrace)
	link(t, filepath.Join(outside, "machine.txt"), filepath.Join(dir, "below"), "machine.txt")
	l := library(t, dir)

	results, recordings, found := find(t, l)
	if len(results) != 0 || !slices.Equal(recordings, []string{"below/bundle", "bundle"}) {
		t.Errorf("results %v and recordings %v, want the two that are no links", results, recordings)
	}
	if len(found.Notes) == 0 || !strings.Contains(strings.Join(found.Notes, "\n"), "folder: a symbolic link that leads out") {
		t.Errorf("notes %q, want the link named", found.Notes)
	}
	other := filepath.Base(outside)
	for _, path := range []string{"linked", "folder", "../" + other, "linked/../../" + other, outside, "/etc", "..", "", "./linked", "linked/", `..\` + other, "linked\x00"} {
		if r, err := l.Result(path); err == nil {
			t.Errorf("result %q was read: %v", path, r.Columns)
		}
		if reader, _, err := l.OpenTrace(path); err == nil {
			t.Errorf("trace %q was opened: %v", path, reader.Close())
		}
		if file, err := l.openFile(path+"/"+reportFile, maxReport); err == nil {
			t.Errorf("report %q was opened: %v", path, file.Close())
		}
	}
	for _, path := range []string{"linked", "bundle", "below/bundle", "../" + other} {
		if where, err := l.CheckInside(path); err == nil {
			t.Errorf("%s was accepted as lying inside: %s", path, where)
		}
	}
}

// A link inside that stays inside is only another name.
func TestLinksInsideAreFine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/trace.txt", smallTrace)
	write(t, dir, "again/note", "")
	link(t, "../real/trace.txt", filepath.Join(dir, "again"), "trace.txt")
	link(t, "real", dir, "folder")
	link(t, ".", dir, "circle")
	l := library(t, dir)
	_, recordings, _ := find(t, l)
	if !slices.Equal(recordings, []string{"again", "real"}) {
		t.Errorf("recordings %v, want again and real", recordings)
	}
	if _, err := l.CheckInside("again"); err != nil {
		t.Error(err)
	}
}

// A capture that is served alone has its machine in the folder above: that one
// file may be read, unless it is a link.
func TestMachineAboveTheFolder(t *testing.T) {
	above := t.TempDir()
	write(t, above, "machine.txt", "m")
	write(t, above, "capture/trace.txt", smallTrace)
	l := library(t, filepath.Join(above, "capture"))
	where, err := l.CheckInside(".")
	if err != nil || filepath.Base(where) != "capture" {
		t.Errorf("%q, %v; want the folder of the capture", where, err)
	}
	if err := os.Remove(filepath.Join(above, "machine.txt")); err != nil {
		t.Fatal(err)
	}
	link(t, "/etc/hostname", above, "machine.txt")
	if _, err := l.CheckInside("."); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v for a link, want a refusal", err)
	}
}

func TestHostileFoldersEnd(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("d/", maxDepth+3)
	write(t, dir, deep+"results.csv", smallResult)
	for i := range 300 {
		write(t, dir, fmt.Sprintf("links/%d", i), "")
		link(t, "/nowhere", filepath.Join(dir, "links"), fmt.Sprintf("l%d", i))
	}
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	results, _, found := find(t, library(t, dir))
	if len(results) != 0 || len(found.Notes) == 0 || len(found.Notes) > maxNotes {
		t.Errorf("results %v, %d notes; want none, and at most %d", results, len(found.Notes), maxNotes)
	}
	if !strings.Contains(strings.Join(found.Notes, "\n"), "deeper than 10 folders") {
		t.Errorf("notes %q do not tell of the depth", found.Notes)
	}
}

func TestWrongResults(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"empty":   {"", "is empty"},
		"columns": {"a,b\n1,2\n", `no column "benchmark" in line 1`},
		"ragged":  {smallResult + "b,Amean\n", "record on line 3: wrong number of fields"},
		"quote":   {smallResult + "b,\"Amean,1,v,0.5\n", "line 3"},
		"long":    {smallResult + strings.Repeat("b,Amean,1,v,0.5\n", maxResultRows), "more than 200000 lines"},
	} {
		write(t, dir, name+"/results.csv", c.content)
		_, err := library(t, dir).Result(name)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name+"/results.csv") {
			t.Errorf("%s: error %v, want the file and %q in it", name, err, c.want)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder", "results.csv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := library(t, dir).Result("folder"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder results.csv: error %v", err)
	}
	write(t, dir, "huge/results.csv", "")
	if err := os.Truncate(filepath.Join(dir, "huge", "results.csv"), maxResultBytes+1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := library(t, dir).Result("huge"); err == nil || !strings.Contains(err.Error(), "65 MB are more than the 64 MB") {
		t.Errorf("65 MB: error %v", err)
	}
}

// A small file that unpacks to a lot is read up to the limit and not beyond.
func TestPackedRecordingIsBounded(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	line := []byte("          <idle>-0     [001] d....   100.000005: softirq_entry: vec=7 [action=SCHED]\n")
	for range 50_000 {
		if _, err := zip.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "bomb/trace.txt.gz", packed.String())
	limits := DefaultLimits
	limits.Bytes = 1 << 20
	rec, _, err := newShelf(context.Background(), library(t, dir), limits).get("bomb", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	// 1 MiB holds 12,336 lines of 85 bytes and a part of the next.
	if rec.Events > 12_400 || len(rec.Notes) == 0 || !strings.Contains(rec.Notes[0], "only the first") {
		t.Errorf("%d events, notes %q; want what 1 MiB holds, and a note", rec.Events, rec.Notes)
	}
}

func TestOpenLibraryWantsAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "not a folder; name", file + "-not": "there is no such folder; compare --out"} {
		if _, err := OpenLibrary(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", path, err, want)
		}
	}
}
