package capture

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// typeWriter makes a description of types, as a compiler would.
type typeWriter struct {
	strings bytes.Buffer
	types   bytes.Buffer
	n       uint32
}

type fakeMember struct {
	name   string
	typ    uint32
	offset int // bytes
}

func newTypeWriter() *typeWriter {
	w := &typeWriter{}
	w.strings.WriteByte(0)
	return w
}

func (w *typeWriter) text(s string) uint32 {
	if s == "" {
		return 0
	}
	at := uint32(w.strings.Len())
	w.strings.WriteString(s + "\x00")
	return at
}

func (w *typeWriter) words(values ...uint32) {
	for _, v := range values {
		_ = binary.Write(&w.types, binary.LittleEndian, v) // into memory
	}
}

func (w *typeWriter) add(name string, kind, vlen int, size uint32, extra ...uint32) uint32 {
	w.words(w.text(name), uint32(kind)<<24|uint32(vlen), size)
	w.words(extra...)
	w.n++
	return w.n
}

func (w *typeWriter) integer(name string, size int, signed bool) uint32 {
	encoding := uint32(8 * size)
	if signed {
		encoding |= 1 << 24
	}
	return w.add(name, btfInt, 0, uint32(size), encoding)
}

func (w *typeWriter) structure(name string, members ...fakeMember) uint32 {
	var extra []uint32
	for _, m := range members {
		extra = append(extra, w.text(m.name), m.typ, uint32(8*m.offset))
	}
	return w.add(name, btfStruct, len(members), 0, extra...)
}

func (w *typeWriter) function(name string, parameters ...string) {
	var extra []uint32
	for _, p := range parameters {
		extra = append(extra, w.text(p), 1)
	}
	proto := w.add("", btfFuncProto, len(parameters), 1, extra...)
	w.add(name, btfFunc, 0, proto)
}

func (w *typeWriter) bytes() []byte {
	var out bytes.Buffer
	typeLen, stringLen := uint32(w.types.Len()), uint32(w.strings.Len())
	_ = binary.Write(&out, binary.LittleEndian, []uint16{btfMagic, 1})
	_ = binary.Write(&out, binary.LittleEndian, []uint32{btfHeaderSize, 0, typeLen, typeLen, stringLen})
	out.Write(w.types.Bytes())
	out.Write(w.strings.Bytes())
	return out.Bytes()
}

// fakeTypes describes a small kernel of the kind of 6.1.
func fakeTypes() []byte {
	w := newTypeWriter()
	s32 := w.integer("int", 4, true)
	u32 := w.integer("unsigned int", 4, false)
	u64 := w.integer("long unsigned int", 8, false)
	s64 := w.integer("long int", 8, true)
	pidT := w.add("pid_t", btfTypedef, 0, s32)
	ptr := w.add("", btfPtr, 0, 0)
	constPtr := w.add("", btfConst, 0, ptr)
	avg := w.structure("sched_avg", fakeMember{"load_avg", u64, 40}, fakeMember{"util_avg", u64, 56})
	entity := w.structure("sched_entity", fakeMember{"avg", avg, 256}, fakeMember{"cfs_rq", ptr, 144})
	unnamed := w.structure("", fakeMember{"wakee_flips", u32, 4}, fakeMember{"recent_used_cpu", s32, 8})
	w.structure("task_struct",
		fakeMember{"pid", pidT, 2000}, fakeMember{"", unnamed, 100}, fakeMember{"wakee_flip_decay_ts", u64, 120},
		fakeMember{"se", entity, 192}, fakeMember{"policy", u32, 1000}, fakeMember{"nr_cpus_allowed", s32, 1004},
		fakeMember{"cpus_ptr", constPtr, 1008})
	w.structure("cfs_rq", fakeMember{"avg", avg, 128}, fakeMember{"rq", ptr, 320})
	cfs := w.n
	w.structure("rq", fakeMember{"cfs", cfs, 256}, fakeMember{"avg_idle", u64, 2600}, fakeMember{"cpu", s32, 2500})
	w.structure("sched_domain", fakeMember{"level", s32, 80}, fakeMember{"span_weight", u32, 232},
		fakeMember{"nr_balance_failed", u32, 96}, fakeMember{"balance_interval", u32, 92})
	w.structure("lb_env", fakeMember{"src_cpu", s32, 16}, fakeMember{"dst_cpu", s32, 20}, fakeMember{"imbalance", s64, 56},
		fakeMember{"migration_type", u32, 100})
	w.function("select_task_rq_fair", "p", "prev_cpu", "wake_flags")
	return w.bytes()
}

func TestFieldsAreFoundByPath(t *testing.T) {
	types, err := parseTypes(fakeTypes())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want kernelField
	}{
		{"task_struct.pid", kernelField{2000, 4, true}},                        // through a typedef
		{"task_struct.wakee_flips", kernelField{104, 4, false}},                // 100 of the unnamed part + 4
		{"task_struct.se.avg.load_avg", kernelField{192 + 256 + 40, 8, false}}, // nested
		{"task_struct.cpus_ptr", kernelField{1008, 8, false}},                  // a const pointer
		{"rq.cfs.avg.load_avg", kernelField{256 + 128 + 40, 8, false}},
		{"lb_env.imbalance", kernelField{56, 8, true}},
		{"task_struct.se", kernelField{192, 0, false}}, // no number
	} {
		got, err := types.field(c.path)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.path, got, err, c.want)
		}
	}
	for path, want := range map[string]string{
		"nothing.x":             "no struct nothing",
		"task_struct.no":        "task_struct has no no",
		"task_struct.se.avg.no": "task_struct.se.avg has no no",
		"task_struct.pid.x":     "task_struct.pid has no x",
	} {
		if _, err := types.field(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", path, err, want)
		}
	}
	names, known := types.parameters("select_task_rq_fair")
	if !known || strings.Join(names, " ") != "p prev_cpu wake_flags" {
		t.Errorf("parameters %v, %v, want p prev_cpu wake_flags", names, known)
	}
}

func TestBrokenTypesAreErrors(t *testing.T) {
	good := fakeTypes()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":    {nil, "too short"},
		"no magic": {append([]byte{0, 0}, good[2:]...), "magic number"},
		"cut off":  {good[:len(good)/2], "beyond the end"},
	} {
		if _, err := parseTypes(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// Damage must be an error or a wrong answer, never a panic or an endless walk.
func TestDamagedTypesDoNotPanic(t *testing.T) {
	good := fakeTypes()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := append([]byte(nil), good...)
		for range 1 + rng.IntN(8) {
			data[rng.IntN(len(data))] = byte(rng.Uint32())
		}
		tryTypes(data)
	}
}

func FuzzTypes(f *testing.F) {
	f.Add(fakeTypes())
	f.Fuzz(func(_ *testing.T, data []byte) { tryTypes(data) })
}

func tryTypes(data []byte) {
	types, err := parseTypes(data)
	if err != nil {
		return
	}
	b := &probeBuilder{types: types, has: func(string) bool { return true }}
	b.allProbes()
}

// The running kernel, where it describes itself, has everything that the probes
// want to read.
func TestRunningKernelHasTheFields(t *testing.T) {
	data, err := os.ReadFile(btfPath)
	if err != nil {
		t.Logf("left out: %v", err)
		return
	}
	types, err := parseTypes(data)
	if err != nil {
		t.Fatal(err)
	}
	b := &probeBuilder{types: types, has: func(name string) bool { _, known := types.funcs[name]; return known }}
	for _, p := range b.allProbes() {
		t.Log(p.definition("g"))
		for _, f := range p.fetches {
			if strings.Contains(f.expr, "+0($arg1)") && f.name != "cfs" {
				t.Errorf("%s of %s is read at offset 0 of a structure", f.name, p.name)
			}
		}
	}
	for _, note := range b.notes {
		if strings.Contains(note, "without") {
			t.Error(note)
		}
	}
}
