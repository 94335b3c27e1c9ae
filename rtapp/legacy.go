package rtapp

// Before its events, rt-app described a thread by how long it works in each
// period: exec, period and deadline, with locks that it takes meanwhile. Some of
// its example files still do. The work and the period say the same as a run and
// a timer of today; the locks have no counterpart of which the file tells
// enough, and a remark says that they are left out.

// legacyKeys are the keys of such a task that today's grammar lacks.
const legacyWork, legacyLocks, legacyResources = "exec", "lock_order", "resources"

func isLegacy(body *node) bool {
	for i := range body.members {
		if body.members[i].key == legacyWork {
			return true
		}
	}
	return false
}

var legacyKeys = []string{legacyWork, "period", "deadline", legacyLocks, legacyResources}

func (p *parser) legacyTask(t *Task, body *node) error {
	work := Event{Kind: Run, Key: legacyWork}
	timer := Event{Kind: Timer, Key: "period", Ref: uniquePrefix, Unique: true}
	ps := p.properties()
	for i := range body.members {
		m := &body.members[i]
		if !ps.once(m) {
			return ps.err
		}
		var err error
		switch m.key {
		case legacyWork:
			work.Pos = Pos{m.at}
			work.Micros, err = p.integer(m.key, m.value, 0, maxMicros)
			p.remark(m.at, "task %s is in the grammar that rt-app had before its events: exec is taken as a run, period as a timer", quote(t.Name))
		case "period":
			timer.Pos = Pos{m.at}
			timer.Micros, err = p.integer(m.key, m.value, 1, maxMicros)
		case "deadline":
			_, err = p.integer(m.key, m.value, 1, maxMicros)
			p.remark(m.at, "deadline: not simulated, it was for a log of misses")
		case legacyLocks:
			err = p.want(array, m.key, m.value)
			p.remark(m.at, "lock_order: not simulated; write lock, unlock, wait and signal events instead")
		case legacyResources:
			err = p.want(object, m.key, m.value)
		default:
			known := false
			if known, err = p.attribute(&t.Attributes, m); !known {
				err = p.unknown(m, "task "+quote(t.Name), append(legacyKeys, attributeKeys...))
			}
		}
		if err != nil {
			return err
		}
	}
	events := []Event{work}
	if timer.Micros > 0 {
		events = append(events, timer)
	}
	t.Phases = []Phase{{Name: t.Name, Pos: t.Pos, Loop: 1, Events: events}}
	return nil
}
