package workload

import (
	"fmt"
	"regexp"
	"strconv"
)

// PipeRules is when reads and writes of a pipe wake whom.
type PipeRules uint8

const (
	// PipeShared (up to v5.4): readers and writers sleep non-exclusively on
	// one queue; every write that placed data and every read that freed a slot
	// wakes all of them.
	PipeShared PipeRules = iota
	// PipeExclusive (v5.5 to v6.13): two queues of exclusive waiters; a write
	// into an empty pipe wakes one reader, a read from a full pipe one writer.
	PipeExclusive
	// PipeSlotFreed (from v6.14): as PipeExclusive, but a reader wakes a
	// writer only when it freed a slot of a full pipe.
	PipeSlotFreed
)

// Rules are the differences between kernel versions that channels show.
type Rules struct {
	// Pipe is the wake discipline of pipes.
	Pipe PipeRules
	// SparePages is how many freed pages a pipe keeps for its next writes.
	SparePages uint8
	// SndBuf is net.core.wmem_default: the send buffer of a socket in bytes.
	SndBuf int32
	// SharedInfo is the aligned size of the fragment table that follows the
	// data of every socket buffer.
	SharedInfo int32
	// PagedSend: what does not fit into one page of a stream send is held in
	// page fragments instead of one long allocation.
	PagedSend bool
	// FutexHeld (up to v4.1): a futex wake holds the lock of its hash bucket
	// until it has woken everyone, and whoever it woke waits for that lock when
	// it comes back to the word. Later the wakes follow the unlock.
	FutexHeld bool
	// WheelRoundsUp (from v4.8): a jiffy timer never fires early, so one that
	// is set between two ticks waits for one tick more.
	WheelRoundsUp bool
	// Loopback is what TCP and UDP over the loopback device have.
	Loopback LoopbackRules
}

// kernelRules lists, oldest first, the version from which each set of rules
// holds (ipc-and-benchmarks.md 1.2, 1.3, 2.1, 4.1, 5).
var kernelRules = []struct {
	major, minor int
	rules        Rules
}{
	{3, 2, Rules{Pipe: PipeShared, SparePages: 1, SndBuf: 229376, SharedInfo: 384, FutexHeld: true}},
	{3, 8, Rules{Pipe: PipeShared, SparePages: 1, SndBuf: 212992, SharedInfo: 320, FutexHeld: true}},
	{3, 12, Rules{Pipe: PipeShared, SparePages: 1, SndBuf: 212992, SharedInfo: 320, PagedSend: true, FutexHeld: true}},
	{4, 2, Rules{Pipe: PipeShared, SparePages: 1, SndBuf: 212992, SharedInfo: 320, PagedSend: true}},
	{4, 8, Rules{Pipe: PipeShared, SparePages: 1, SndBuf: 212992, SharedInfo: 320, PagedSend: true, WheelRoundsUp: true}},
	{5, 5, Rules{Pipe: PipeExclusive, SparePages: 1, SndBuf: 212992, SharedInfo: 320, PagedSend: true, WheelRoundsUp: true}},
	{6, 14, Rules{Pipe: PipeSlotFreed, SparePages: 2, SndBuf: 212992, SharedInfo: 320, PagedSend: true, WheelRoundsUp: true}},
}

// RulesFor returns the rules of a kernel named like a profile: "v5.17",
// "v5.17-tip", "v4.14-numa". Versions before v3.2 are an error.
func RulesFor(kernel string) (Rules, error) {
	major, minor, err := parseKernel(kernel)
	if err != nil {
		return Rules{}, err
	}
	for i := len(kernelRules) - 1; i >= 0; i-- {
		k := &kernelRules[i]
		if major > k.major || major == k.major && minor >= k.minor {
			rules := k.rules
			rules.Loopback = loopbackRulesOf(major, minor)
			return rules, nil
		}
	}
	return Rules{}, fmt.Errorf("kernel %q: the oldest version with known pipe and socket rules is v3.2", kernel)
}

// kernelName is vMAJOR.MINOR, perhaps with a stable release number, perhaps
// with the name of a branch.
var kernelName = regexp.MustCompile(`^v(\d{1,3})\.(\d{1,3})(\.\d+)?(-[a-z0-9-]+)?$`)

func parseKernel(kernel string) (major, minor int, err error) {
	parts := kernelName.FindStringSubmatch(kernel)
	if parts == nil {
		return 0, 0, fmt.Errorf("kernel %q: want a version such as v5.17 or v4.14-numa", kernel)
	}
	major, _ = strconv.Atoi(parts[1]) // three digits at most
	minor, _ = strconv.Atoi(parts[2])
	return major, minor, nil
}
