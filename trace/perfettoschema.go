package trace

// This file has the numbers of Perfetto's messages that matter here
// (protos/perfetto/trace in its repository).

// Fields of Trace and TracePacket.
const (
	traceFieldPacket = 1

	packetFtrace      = 1
	packetProcessTree = 2
	packetSequence    = 10
	packetFtraceStats = 34
	packetSystemInfo  = 45
	packetCompressed  = 50
	packetDefaults    = 59
	// maxPacketField is above every field that a TracePacket has; those for
	// tests end at 900, vendors' extensions at 9999.
	maxPacketField = 10_000
)

// Fields of FtraceEventBundle and FtraceEventBundle.CompactSched.
const (
	bundleCPU         = 1
	bundleEvent       = 2
	bundleLost        = 3
	bundleCompact     = 4
	bundleError       = 8
	bundlePreviousEnd = 10
	bundleDescriptor  = 11
	bundleLastField   = 11
	bundleBrokenPage  = 512

	compactSwitchTime  = 1
	compactSwitchState = 2
	compactSwitchPID   = 3
	compactSwitchPrio  = 4
	compactIntern      = 5
	compactSwitchComm  = 6
	compactWakingTime  = 7
	compactWakingPID   = 8
	compactWakingCPU   = 9
	compactWakingPrio  = 10
	compactWakingComm  = 11
	compactWakingFlags = 12
	compactFields      = 13
)

// Fields of FtraceEvent and GenericFtraceEvent.
const (
	eventTimestamp = 1
	eventPID       = 2
	eventPrint     = 3
	eventFlags     = 5
	eventGeneric   = 327
	eventKprobe    = 542

	printText = 2

	kprobeName = 1

	genericName  = 1
	genericField = 2

	genericFieldName   = 1
	genericFieldText   = 3
	genericFieldInt    = 4
	genericFieldUint   = 5
	genericSiteField   = "site"   // where a probe was hit
	genericDetailField = "detail" // the printed form of an event kept by name
)

// protoEvent is how FtraceEvent carries a kind: the number of its message, and
// in it the number of each field by slot (0: not carried).
type protoEvent struct {
	number int32
	fields []int32
}

var protoEvents = [numKinds]protoEvent{
	KindSwitch:       {4, []int32{1, 2, 3, 4, 5, 6, 7}},
	KindWakeup:       {17, []int32{1, 2, 3, 4, 5}},
	KindWaking:       {20, []int32{1, 2, 3, 4, 5}},
	KindSoftirqEntry: {24, []int32{1}},
	KindSoftirqExit:  {25, []int32{1}},
	KindSoftirqRaise: {26, []int32{1}},
	KindAttach:       {67, []int32{1, 2, 6, 7, 3, 4}},
	KindWakeupNew:    {114, []int32{1, 2, 3, 4, 5}},
	KindExec:         {237, []int32{1, 2, 3}},
	KindExit:         {238, []int32{1, 2, 4, 0}},
	KindFork:         {239, []int32{1, 2, 3, 4}},
	KindFree:         {240, []int32{1, 2, 3}},
	KindMigrate:      {491, []int32{1, 2, 3, 4, 5}},
}

// kindsByProto maps the numbers of messages.
var kindsByProto = func() map[int32]Kind {
	kinds := make(map[int32]Kind)
	for kind := range protoEvents {
		if number := protoEvents[kind].number; number != 0 {
			kinds[number] = Kind(kind)
		}
	}
	return kinds
}()

// slot returns the slot of a field, or -1.
func (p *protoEvent) slot(field int32) int {
	for slot, number := range p.fields {
		if number == field && number != 0 {
			return slot
		}
	}
	return -1
}

// otherProtoEvents names messages that are often seen and not understood here.
var otherProtoEvents = map[int32]string{
	11: "cpu_frequency", 12: "cpu_frequency_limits", 13: "cpu_idle", 18: "sched_blocked_reason", 19: "sched_cpu_hotplug",
	21: "ipi_entry", 22: "ipi_exit", 23: "ipi_raise", 36: "irq_handler_entry", 37: "irq_handler_exit",
	56: "workqueue_activate_work", 57: "workqueue_execute_end", 58: "workqueue_execute_start", 59: "workqueue_queue_work",
	113: "suspend_resume", 235: "task_newtask", 236: "task_rename", 241: "sched_process_hang", 242: "sched_process_wait",
	551: "hrtimer_start", 552: "hrtimer_cancel", 553: "hrtimer_expire_entry", 554: "hrtimer_expire_exit",
	559: "local_timer_entry", 560: "local_timer_exit",
}
