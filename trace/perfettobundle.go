package trace

import "google.golang.org/protobuf/encoding/protowire"

// This file walks a bundle: the events of one CPU over a while, as messages, as
// compact arrays, or both.

// bundleCursor yields the entries of one bundle in the order of time.
type bundleCursor struct {
	events  protoFields // of the bundle; those with bundleEvent are left
	message eventMessage
	more    bool // message is set

	compact compactSched
}

// eventMessage is an FtraceEvent of which time, thread and content are known.
type eventMessage struct {
	time    int64
	pid     int32
	flags   ContextFlag
	known   bool // flags were given
	content protoField
}

// open starts at a bundle; it reports what is wrong, or "".
func (c *bundleCursor) open(bundle []byte) string {
	c.events = protoFields{rest: bundle}
	c.compact.reset()
	fields := protoFields{rest: bundle}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		if f.id == bundleCompact && f.isBytes() {
			c.compact.add(f.bytes)
		}
	}
	fault := ""
	if fields.fault || c.compact.fault {
		fault = "a bundle that is cut off or damaged"
	}
	if compactFault := c.compact.start(); compactFault != "" {
		fault = compactFault
	}
	if !c.nextMessage() && c.events.fault {
		fault = "a bundle that is cut off or damaged"
	}
	return fault
}

// nextMessage moves to the next event that is a message.
func (c *bundleCursor) nextMessage() bool {
	for {
		f, ok := c.events.next()
		if !ok {
			c.more = false
			return false
		}
		if f.id == bundleEvent && f.isBytes() {
			c.message.parse(f.bytes)
			c.more = true
			return true
		}
	}
}

func (m *eventMessage) parse(message []byte) {
	*m = eventMessage{pid: UnknownPID}
	fields := protoFields{rest: message}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		switch {
		case f.id == eventTimestamp:
			m.time = int64(f.number)
		case f.id == eventPID:
			m.pid = int32(f.number)
		case f.id == eventFlags && !f.isBytes():
			m.flags, m.known = ContextFlag(f.number), true
		default:
			m.content = f
		}
	}
	if fields.fault {
		m.content = protoField{}
	}
}

// source tells where the next entry of a bundle stands.
type source uint8

const (
	fromNothing source = iota
	fromMessage
	fromSwitch
	fromWaking
)

// next returns the earliest entry left.
func (c *bundleCursor) next() (from source, time int64) {
	if c.more {
		from, time = fromMessage, c.message.time
	}
	// A waking comes before the switch that it leads to.
	if c.compact.waking.more && (from == fromNothing || c.compact.waking.time < time) {
		from, time = fromWaking, c.compact.waking.time
	}
	if c.compact.switches.more && (from == fromNothing || c.compact.switches.time < time) {
		from, time = fromSwitch, c.compact.switches.time
	}
	return from, time
}

// compactSched is the compact arrays of a bundle.
type compactSched struct {
	columns  [compactFields][]byte
	comms    [][]byte
	switches compactRow
	waking   compactRow
	fault    bool // a message that is damaged
}

// compactRow is the present row of one table: its time, and cursors over the
// other columns.
type compactRow struct {
	more    bool
	time    int64
	times   varints
	columns [5]varints
	values  [5]uint64
}

func (c *compactSched) reset() {
	c.columns = [compactFields][]byte{}
	c.comms = c.comms[:0]
	c.switches.more, c.waking.more, c.fault = false, false, false
}

// add collects the columns of a message.
func (c *compactSched) add(message []byte) {
	fields := protoFields{rest: message}
	for {
		f, ok := fields.next()
		if !ok {
			c.fault = c.fault || fields.fault
			return
		}
		switch {
		case f.id == compactIntern && f.isBytes():
			c.comms = append(c.comms, f.bytes)
		case f.id <= 0 || f.id >= compactFields:
		case f.isBytes():
			c.columns[f.id] = joinBytes(c.columns[f.id], f.bytes)
		default: // not packed
			c.columns[f.id] = joinBytes(c.columns[f.id], protowire.AppendVarint(nil, f.number))
		}
	}
}

// joinBytes concatenates; the first part is not copied.
func joinBytes(a, b []byte) []byte {
	if len(a) == 0 {
		return b
	}
	return append(a[:len(a):len(a)], b...)
}

var (
	switchColumns = [5]int{compactSwitchState, compactSwitchPID, compactSwitchPrio, compactSwitchComm, 0}
	wakingColumns = [5]int{compactWakingPID, compactWakingCPU, compactWakingPrio, compactWakingComm, compactWakingFlags}
)

// start moves to the first rows.
func (c *compactSched) start() string {
	faultS := c.switches.open(c, compactSwitchTime, switchColumns)
	faultW := c.waking.open(c, compactWakingTime, wakingColumns)
	if faultS != "" {
		return faultS
	}
	return faultW
}

func (r *compactRow) open(c *compactSched, timeColumn int, columns [5]int) string {
	r.time = 0
	r.times = varints{c.columns[timeColumn]}
	rows := r.times.count()
	fault := ""
	for i, column := range columns {
		r.columns[i] = varints{c.columns[column]}
		// The flags of a waking came later; older traces have none.
		optional := column == 0 || column == compactWakingFlags && len(c.columns[column]) == 0
		if !optional && r.columns[i].count() != rows {
			fault = "compact columns of different lengths"
		}
	}
	r.advance()
	return fault
}

// advance moves to the next row.
func (r *compactRow) advance() {
	delta, ok := r.times.next()
	r.more = ok
	if !ok {
		return
	}
	r.time += int64(delta)
	for i := range r.columns {
		r.values[i], _ = r.columns[i].next()
	}
}

func (c *compactSched) comm(index uint64, names *Names) Name {
	if index >= uint64(len(c.comms)) {
		return NoName
	}
	return names.intern(c.comms[index])
}
