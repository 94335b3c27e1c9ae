package rtapp

import (
	"errors"
	"testing"
)

// Whatever a file holds, it is read or refused at a place inside it; and a line
// in front of it moves every place by one line and changes nothing else.
func FuzzParse(f *testing.F) {
	f.Add(`{"tasks": {"T": {"run": 1, "suspend", "sleep": 2, /* c */ "timer": {"ref": "unique", "period": 5},}}}`)
	f.Add(`{"tasks": {"T": {"phases": {"p": {"loop": 3, "run": 1}}, "cpus": [0, 1]}}, "global": {"duration": 2,}}`)
	f.Add(`{"tasks": {"T": {"exec": 1, "period": 5, "lock_order": ["a"]}}}`)
	f.Add("{\"tasks\" // x\n : {\"\\u00e4\" : {\"yield\"\n}}}")
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f", []byte(text))
		below, errBelow := Parse("f", []byte("\n"+text))
		if (err == nil) != (errBelow == nil) {
			t.Fatalf("got %v, one line further down %v", err, errBelow)
		}
		if err != nil {
			checkMistake(t, text, err, errBelow)
			return
		}
		if len(file.Tasks) != len(below.Tasks) {
			t.Fatalf("%d tasks, one line further down %d", len(file.Tasks), len(below.Tasks))
		}
		for i := range file.Tasks {
			for j := range file.Tasks[i].Phases {
				phase := &file.Tasks[i].Phases[j]
				if len(phase.Events) == 0 {
					t.Fatalf("phase %q of task %q has no events", phase.Name, file.Tasks[i].Name)
				}
				for _, e := range phase.Events {
					if text[e.Pos.offset] != '"' {
						t.Fatalf("event %q is not at %s", e.Key, file.At(e.Pos))
					}
				}
			}
		}
	})
}

func checkMistake(t *testing.T, text string, err, below error) {
	t.Helper()
	var a, b *Error
	if !errors.As(err, &a) || !errors.As(below, &b) {
		t.Fatalf("%v and %v are no *Error", err, below)
	}
	if a.Line == 0 && b.Line == 0 {
		return
	}
	if b.Line != a.Line+1 || b.Column != a.Column {
		t.Fatalf("at %d:%d, one line further down at %d:%d\n%q", a.Line, a.Column, b.Line, b.Column, text)
	}
	if a.Excerpt == "" {
		t.Fatalf("%v: nothing is shown", a)
	}
}
