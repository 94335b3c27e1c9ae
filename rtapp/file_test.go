package rtapp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("x.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// onePhase is a workload of one task with these events.
func onePhase(events string) string {
	return `{"tasks": {"T": {` + events + `}, "other": {"run": 1}}}`
}

var ignorePlaces = cmpopts.IgnoreTypes(Pos{})

func TestEveryEventIsRead(t *testing.T) {
	for text, want := range map[string]Event{
		`"run": 20000`:      {Kind: Run, Key: "run", Micros: 20000},
		`"run7": 5`:         {Kind: Run, Key: "run7", Micros: 5},
		`"runtime": 5`:      {Kind: Runtime, Key: "runtime", Micros: 5},
		`"runtime1": 5`:     {Kind: Runtime, Key: "runtime1", Micros: 5},
		`"sleep_a": 80`:     {Kind: Sleep, Key: "sleep_a", Micros: 80},
		`"mem": 1000`:       {Kind: Mem, Key: "mem", Count: 1000},
		`"iorun": 1000`:     {Kind: IORun, Key: "iorun", Count: 1000},
		`"lock": "m"`:       {Kind: Lock, Key: "lock", Ref: "m"},
		`"unlock": "m"`:     {Kind: Unlock, Key: "unlock", Ref: "m"},
		`"signal": "c"`:     {Kind: Signal, Key: "signal", Ref: "c"},
		`"broad": "c"`:      {Kind: Broadcast, Key: "broad", Ref: "c"},
		`"broadcast": "c"`:  {Kind: Broadcast, Key: "broadcast", Ref: "c"},
		`"barrier1": "b"`:   {Kind: Barrier, Key: "barrier1", Ref: "b"},
		`"resume": "other"`: {Kind: Resume, Key: "resume", Ref: "other"},
		`"suspend": "T"`:    {Kind: Suspend, Key: "suspend", Ref: "T"},
		`"suspend"`:         {Kind: Suspend, Key: "suspend", Ref: "T"},
		`"yield": ""`:       {Kind: Yield, Key: "yield"},
		`"yield"`:           {Kind: Yield, Key: "yield"},
		`"fork": "other"`:   {Kind: Fork, Key: "fork", Ref: "other"},
		`"sem_post": "s"`:   {Kind: SemPost, Key: "sem_post", Ref: "s"},
		`"sem_wait": "s"`:   {Kind: SemWait, Key: "sem_wait", Ref: "s"},

		`"wait": {"ref": "c", "mutex": "m"}`: {Kind: Wait, Key: "wait", Ref: "c", Mutex: "m"},
		`"wait": {}`:                         {Kind: Wait, Key: "wait", Ref: "unknown", Mutex: "unknown"},
		`"sync": {"ref": "c", "mutex": "m"}`: {Kind: Sync, Key: "sync", Ref: "c", Mutex: "m"},

		`"timer": {"ref": "tick", "period": 6000}`: {Kind: Timer, Key: "timer", Ref: "tick", Micros: 6000},
		`"timer0": {"ref": "uniqueA", "period": 9, "mode": "absolute"}`: {
			Kind: Timer, Key: "timer0", Ref: "uniqueA", Micros: 9, Unique: true, Absolute: true},
		`"timer": {"ref": "unique", "period": 9, "mode": "relative"}`: {Kind: Timer, Key: "timer", Ref: "unique", Micros: 9, Unique: true},

		`"memrun": {"type": "chase", "size": 4096, "count": 7}`: {
			Kind: MemRun, Key: "memrun", Count: 7, Memory: Memory{Type: "chase", Size: 4096, Stride: 64}},
		`"memrun_a": {"type": "chase", "size": 4096, "stride": 128, "pattern": "sequential", "count": 7, "ref": "shared"}`: {
			Kind: MemRun, Key: "memrun_a", Count: 7, Ref: "shared", Memory: Memory{Type: "chase", Size: 4096, Stride: 128, Sequential: true}},
		`"memrun": {"type": "read", "size": 10, "count": 30}`: {
			Kind: MemRun, Key: "memrun", Count: 30, Memory: Memory{Type: "read", Size: 10, Stride: 64}},
	} {
		got := parse(t, onePhase(text)).Tasks[0].Phases[0].Events
		if diff := cmp.Diff([]Event{want}, got, ignorePlaces); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Comments, trailing commas, keys that occur twice and keys without a value are
// what rt-app's own files hold. Events keep the order of the file.
func TestTheFreedomsOfTheFormat(t *testing.T) {
	f := parse(t, `{
	/* one */ "tasks" : { // two
		"T" : {
			"run" : 1, "sleep" : 2, "run" : 3, "suspend" /* nothing */ , "run" : 4, "yield",
		},
		"T" : { "run" : 5, },
	},
	"global" : { "duration" : 2, },
}`)
	var keys []string
	for _, e := range f.Tasks[0].Phases[0].Events {
		keys = append(keys, e.Key)
	}
	if want := []string{"run", "sleep", "run", "suspend", "run", "yield"}; !cmp.Equal(keys, want) {
		t.Errorf("events %v, want %v", keys, want)
	}
	if f.Tasks[1].Name != "T1" {
		t.Errorf("the second T is named %q, want T1 as workgen names it", f.Tasks[1].Name)
	}
	if f.Global.Duration != 2 {
		t.Errorf("duration %d, want 2", f.Global.Duration)
	}
}

func TestDefaultsWithAndWithoutGlobal(t *testing.T) {
	without := parse(t, onePhase(`"run": 1`)).Global
	if without.Duration != -1 || without.Log.Enabled || without.DefaultPolicy != Other || without.MemBuffer != 4194304 {
		t.Errorf("without global: %+v", without)
	}
	with := parse(t, `{"global": {}, "tasks": {"T": {"run": 1}}}`).Global
	if with.Duration != -1 || !with.Log.Enabled || with.Log.Buffer != 0 || with.LogDir != "./" || with.LogBasename != "rt-app" {
		t.Errorf("with an empty global: %+v", with)
	}
}

func TestGlobalSettings(t *testing.T) {
	g := parse(t, `{"tasks": {"T": {"run": 1}}, "global": {"duration": 6, "calibration": 128, "default_policy": "SCHED_BATCH",
		"log_size": 2, "logdir": "/tmp", "log_basename": "b", "ftrace": "main,STATS", "gnuplot": true, "pi_enabled": true,
		"lock_pages": false, "io_device": "/dev/sda", "mem_buffer_size": 1048576, "cumulative_slack": true}}`).Global
	want := Global{Given: true, Duration: 6, Calibration: 128, DefaultPolicy: Batch, Log: LogMode{true, 2 << 20}, LogDir: "/tmp",
		LogBasename: "b", MemBuffer: 1048576, CumulativeSlack: true, Ftrace: Setting[string]{Value: "main,STATS"},
		Gnuplot: Setting[bool]{Value: true}, PIEnabled: Setting[bool]{Value: true}, IODevice: Setting[string]{Value: "/dev/sda"}}
	if diff := cmp.Diff(want, g, ignorePlaces); diff != "" {
		t.Error(diff)
	}
	for mode, enabled := range map[string]bool{`"file"`: true, `"auto"`: true, `"Auto"`: true, `"disable"`: false, `"Disable"`: false, "0": false, "1": true} {
		g := parse(t, `{"tasks": {"T": {"run": 1}}, "global": {"log_size": `+mode+`}}`).Global
		if g.Log.Enabled != enabled {
			t.Errorf("log_size %s: logs %v, want %v", mode, g.Log.Enabled, enabled)
		}
	}
}

// A loop beside the events is the phase's: the task then runs its one phase
// once. Without it the task runs for ever.
func TestLoopsOfTasksAndPhases(t *testing.T) {
	for text, want := range map[string][2]int64{
		`"run": 1`:                    {-1, 1},
		`"run": 1, "loop": 10`:        {1, 10},
		`"run": 1, "loop": -1`:        {1, -1},
		`"phases": {"p": {"run": 1}}`: {-1, 1},
		`"loop": 3, "phases": {"p": {"loop": 10, "run": 1}}`: {3, 10},
	} {
		task := parse(t, onePhase(text)).Tasks[0]
		if got := [2]int64{task.Loop, task.Phases[0].Loop}; got != want {
			t.Errorf("%s: task and phase loop %v, want %v", text, got, want)
		}
	}
}

func TestAttributesOfTasksAndPhases(t *testing.T) {
	f := parse(t, `{"tasks": {"T": {"instance": 3, "delay": 500, "policy": "SCHED_BATCH", "priority": -5, "cpus": [2, 3], "taskgroup": "/a/b",
		"dl-runtime": 100, "util_min": 10, "nodes_membind": [0],
		"phases": {"p": {"cpus": [0], "policy": "SCHED_FIFO", "priority": 30, "run": 1}, "q": {"taskgroup": "", "run": 1}}}}}`)
	task := f.Tasks[0]
	want := Task{Name: "T", Instances: 3, Delay: 500, Loop: -1,
		Attributes: Attributes{CPUs: []int{2, 3}, Policy: Batch, HasPriority: true, Priority: Setting[int64]{Value: -5}, Taskgroup: "/a/b",
			Slice: Setting[int64]{Value: 100}, UtilClamps: []Setting[string]{{Value: "util_min"}}, NodesMembind: Setting[[]int]{Value: []int{0}}},
		Phases: []Phase{
			{Name: "p", Loop: 1, Attributes: Attributes{CPUs: []int{0}, Policy: FIFO, HasPriority: true, Priority: Setting[int64]{Value: 30}},
				Events: []Event{{Key: "run", Micros: 1}}},
			{Name: "q", Loop: 1, Events: []Event{{Key: "run", Micros: 1}}},
		}}
	if diff := cmp.Diff(want, task, ignorePlaces); diff != "" {
		t.Error(diff)
	}
}

// Each mistake is one sentence with its line and column; both are counted from
// 1, the column in characters.
func TestMistakesHaveAPlace(t *testing.T) {
	for text, want := range map[string]string{
		``:             `x.json:1:1: not readable as JSON: parsing value: unexpected EOF`,
		`[]`:           `x.json:1:1: a workload is an object in { } with "tasks", not a list in [ ]`,
		`{}`:           `x.json:1:1: nothing in it; a workload needs "tasks"`,
		`{"task": {}}`: `x.json:1:2: there is no "task" in a workload file; did you mean "tasks"?`,
		"{\n \"tasks\": {\"ä\": {\"run\": 1.5}}}":                   `x.json:2:25: "run" is 1.5; it takes a whole number from 0 up`,
		`{"tasks": {"T": {"run": "1"}}}`:                            `x.json:1:25: "run" takes a number, not a string`,
		`{"tasks": {"T": {"run"}}}`:                                 `x.json:1:23: "run" has no value; it takes a number`,
		`{"tasks": {"T": {"run" 1}}}`:                               `x.json:1:24: not readable as JSON: invalid character '1' after object name`,
		`{"tasks": {"T": {"suspend", "run" 1}}}`:                    `x.json:1:35: not readable as JSON: invalid character '1' after object name`,
		"{\"tasks\": {\"T\": {\"run\": 1}}":                         `x.json:1:28: not readable as JSON: parsing object after value: unexpected EOF`,
		`{"tasks": {"T": {"loop": 1}}}`:                             `x.json:1:12: task "T" has no events; give it a "run", "sleep" or "timer"`,
		`{"tasks": {"T": {"rum": 1}}}`:                              `x.json:1:18: there is no "rum" in task "T"; did you mean "run"?`,
		`{"tasks": {"T": {"run": 1, "loop": 1, "loop": 2}}}`:        `x.json:1:39: "loop" is already set in line 1; keep one of the two`,
		`{"tasks": {"T": {"run": 1, "phases": {"p": {"run": 1}}}}}`: `x.json:1:18: "run" stands beside "phases" and would never happen; move it into one of the phases`,
		`{"tasks": {"T": {"phases": {}}}}`:                          `x.json:1:18: task "T" has no phases; list at least one`,
		`{"tasks": {"T": {"phases": {"p": {}}}}}`:                   `x.json:1:29: phase "p" has no events; give it a "run", "sleep" or "timer"`,
		`{"tasks": {"T": {"run": 1, "policy": "SCHED_OTER"}}}`:      `x.json:1:38: there is no policy "SCHED_OTER"; did you mean "SCHED_OTHER"?`,
		`{"tasks": {"T": {"run": 1, "priority": 100}}}`:             `x.json:1:40: "priority" is 100; it takes a whole number from -20 to 99`,
		`{"tasks": {"T": {"run": 1, "cpus": []}}}`:                  `x.json:1:36: "cpus" is empty; name at least one, or leave the key out`,
		`{"tasks": {"T": {"run": 1, "cpus": [-1]}}}`:                `x.json:1:37: "cpus" is -1; it takes a whole number from 0 up`,
		`{"tasks": {"T": {"run": 1, "taskgroup": "a"}}}`:            `x.json:1:41: taskgroup "a" must begin with a slash`,
		`{"tasks": {"T": {"timer": {"rf": "a"}}}}`:                  `x.json:1:28: there is no "rf" in "timer"; did you mean "ref"?`,
		`{"tasks": {"T": {"timer": {"mode": "abs"}}}}`:              `x.json:1:36: there is no mode "abs"; choose relative or absolute`,
		`{"tasks": {"T": {"timer": 5}}}`:                            `x.json:1:27: "timer" takes an object in { }, not a number`,
		`{"tasks": {"T": {"lock": ""}}}`:                            `x.json:1:26: "lock" needs a name`,
		`{"tasks": {"T": {"fork": "U"}}}`:                           `x.json:1:18: "fork": there is no task "U"; did you mean "T"?`,
		`{"tasks": {"T": {"memrun": {"type": "read"}}}}`:            `x.json:1:28: "memrun" needs a type, a size and a count`,
		`{"tasks": {"a/b": {"run": 1}}}`:                            `x.json:1:12: "a/b": the task's name becomes part of a file's name, so it needs a letter and no slash`,
		`{"tasks": {}, "global": {"duration": "2"}}`:                `x.json:1:38: "duration" takes a number, not a string`,
		`{"tasks": {}, "global": {"calibration": "cpu0"}}`:          `x.json:1:41: "calibration" is "cpu0"; it takes a CPU such as "CPU0", or a number of nanoseconds`,
		`{"tasks": {}, "global": {"log_size": "big"}}`:              `x.json:1:38: "log_size" is "big"; it takes "file", "disable", "auto" or a number of megabytes`,
		`{"tasks": {}, "global": {"ftrace": "tsk"}}`:                `x.json:1:36: there is no category "tsk"; did you mean "task"?`,
		`{"tasks": {}, "global": {"gnuplot": 1}}`:                   `x.json:1:37: "gnuplot" takes true or false, not a number`,
	} {
		_, err := Parse("x.json", []byte(text))
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%s: got %v, want an *Error", text, err)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestSharedBuffersMustAgree(t *testing.T) {
	const one = `"memrun_a": {"type": "chase", "size": 4096, "count": 1, "ref": "b"}, `
	for second, want := range map[string]string{
		`"memrun_b": {"type": "chase", "size": 4096, "count": 9, "ref": "b"}`:                          "",
		`"memrun_b": {"type": "read", "size": 64, "count": 9, "ref": "b"}`:                             "", // another resource
		`"memrun_b": {"type": "chase", "size": 8192, "count": 1}`:                                      "",
		`"memrun_b": {"type": "chase", "size": 8192, "count": 1, "ref": "b"}`:                          "x.json:1:99: ",
		`"memrun_b": {"type": "chase", "size": 4096, "count": 1, "stride": 32, "ref": "b"}`:            "x.json:1:99: ",
		`"memrun_b": {"type": "chase", "size": 4096, "count": 1, "pattern": "sequential", "ref": "b"}`: "x.json:1:99: ",
	} {
		_, err := Parse("x.json", []byte(onePhase(one+second)))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", second, err, want)
		}
	}
}

// Files that are long in every way the format allows take no more time than
// their length.
func TestLongFilesAreReadInTime(t *testing.T) {
	repeated := func(item string, n int) string { return strings.Repeat(item, n) }
	for name, text := range map[string]string{
		"bare keys":     `{"tasks": {"T": {` + repeated(`"yield",`, 100_000) + `}}}`,
		"same names":    `{"tasks": {` + repeated(`"T": {"run": 1},`, 50_000) + `}}`,
		"remarks":       `{"tasks": {"T": {` + repeated("\"suspend\": \"a\",\n", 50_000) + `}}}`,
		"lines":         repeated("\n", 900_000) + `{"tasks": {"T": {"run": 1 2}}}`,
		"comments":      repeated("/**/", 200_000) + `{"tasks": {"T": {"run": 1}}}`,
		"open comments": `{"tasks"` + repeated("/*", 400_000),
	} {
		begin := time.Now()
		f, err := Parse("x.json", []byte(text))
		if err == nil {
			for _, r := range f.Remarks {
				_ = f.At(r.Pos)
			}
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: %v for %d bytes (%v)", name, took, len(text), err)
		}
	}
}

func TestAMistakeIsShown(t *testing.T) {
	_, err := Parse("x.json", []byte("{\n\t\"tasks\" : {\n\t\t\"T\" : {\n\t\t\t\"run\" : true\n\t\t}\n\t}\n}\n"))
	want := "x.json:4:12: \"run\" takes a number, not true or false\n" +
		"     2 | \t\"tasks\" : {\n     3 | \t\t\"T\" : {\n>    4 | \t\t\t\"run\" : true\n       | \t\t\t        ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nested":        strings.Repeat(`{"a":`, 1<<20),
		"nested lists":  strings.Repeat(`[`, 1<<20),
		"too long":      `{"tasks": {}}` + strings.Repeat(" ", maxFileBytes),
		"open string":   `{"tasks": {"T`,
		"open comment":  `{"tasks": /* `,
		"slash":         `{"tasks"/`,
		"backslash":     `{"tasks\`,
		"invalid UTF-8": "{\"tasks\": {\"\xff\": 1}}",
	} {
		if _, err := Parse("x.json", []byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The grammar before the events: work and period are understood, the locks are
// named as left out.
func TestTheGrammarBeforeTheEvents(t *testing.T) {
	f := parse(t, `{"tasks": {"T": {"exec": 1000, "period": 10000, "deadline": 8000, "lock_order": ["m"], "resources": {"m": {"duration": 1}}}}}`)
	want := []Event{{Kind: Run, Key: "exec", Micros: 1000}, {Kind: Timer, Key: "period", Micros: 10000, Ref: "unique", Unique: true}}
	if diff := cmp.Diff(want, f.Tasks[0].Phases[0].Events, ignorePlaces); diff != "" {
		t.Error(diff)
	}
	if len(f.Remarks) != 3 || !strings.HasPrefix(f.Remarks[2].Text, "lock_order: not simulated") {
		t.Errorf("remarks %v, want one each on exec, deadline and lock_order", f.Remarks)
	}
}

func TestASuspendUnderAnotherNameIsRemarked(t *testing.T) {
	f := parse(t, onePhase(`"suspend": "B"`))
	want := []Remark{{Text: `suspend: rt-app does not use "B"; the thread is suspended as "T", its task's name`}}
	if diff := cmp.Diff(want, f.Remarks, ignorePlaces); diff != "" {
		t.Error(diff)
	}
}

// examples are rt-app's published files: how many tasks and events each has,
// counted by hand.
var examples = map[string][2]int{
	"custom-slice.json": {2, 2}, "example1.json": {1, 2}, "example2.json": {1, 2}, "example3.json": {1, 4}, "example4.json": {2, 6},
	"example5.json": {2, 17}, "example6.json": {1, 4}, "example8.json": {1, 3}, "example9.json": {3, 10}, "example10.json": {1, 2},
	"example11.json": {1, 6}, "mp3-long.json": {5, 24}, "spreading-tasks.json": {2, 12}, "template.json": {1, 3},
}

func TestPublishedExamplesLoad(t *testing.T) {
	shared := os.Getenv("SCHEDLAB_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	folder := filepath.Join(shared, "inputs", "rt-app")
	if _, err := os.Stat(folder); err != nil {
		t.Logf("left out: no shared inputs at %s; set SCHEDLAB_SHARED", folder)
		return
	}
	for name, want := range examples {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		f, err := Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		got := [2]int{len(f.Tasks), 0}
		for i := range f.Tasks {
			for j := range f.Tasks[i].Phases {
				got[1] += len(f.Tasks[i].Phases[j].Events)
			}
		}
		if got != want {
			t.Errorf("%s: %v tasks and events, want %v", name, got, want)
		}
	}
}
