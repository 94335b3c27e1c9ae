package workload

import "slices"

// tbenchOp is one operation of tbench's load: the bytes that client and server
// send for it, and those of file data among them, which its throughput counts.
type tbenchOp struct {
	kind        int // index into tbenchKinds
	sent, reply int64
	payload     int64
}

// tbenchKinds are the operations as dbench 4.0 lists them for its sockets.
var tbenchKinds = [...]string{
	"Flush", "Close", "LockX", "Rename", "ReadX", "WriteX", "Unlink", "FIND_FIRST", "SET_FILE_INFORMATION",
	"QUERY_FILE_INFORMATION", "QUERY_PATH_INFORMATION", "QUERY_FS_INFORMATION", "NTCreateX",
}

const (
	opFlush = iota
	opClose
	opLockX
	opRename
	opReadX
	opWriteX
	opUnlink
	opFindFirst
	opSetFile
	opQueryFile
	opQueryPath
	opQueryFS
	opNTCreateX
)

const (
	tbenchHeader   = 4  // bytes that say how long the rest is
	transferHeader = 59 // of a read or a write, beside the data
)

// tbenchMix is mmtests' client-tiny, 3573 lines, as 200 operations in the same
// proportions (ipc-and-benchmarks.md 6.4). What is neither the shortest nor the
// longest transfer there has the mean of the others.
var tbenchMix = []struct {
	tbenchOp
	count int
}{
	{tbenchOp{opNTCreateX, 155, 87, 0}, 34},
	{readX(4096), 36},
	{readX(61440), 7},
	{readX(5714), 11},
	{tbenchOp{opQueryPath, 137, 71, 0}, 33},
	{tbenchOp{opClose, 47, 39, 0}, 25},
	{writeX(65536), 5},
	{writeX(4096), 4},
	{writeX(1), 3},
	{writeX(17720), 5},
	{tbenchOp{opFindFirst, 116, 39 + 5*90, 0}, 8},
	{tbenchOp{opFindFirst, 116, 39 + 6*90, 0}, 4},
	{tbenchOp{opUnlink, 125, 39, 0}, 7},
	{tbenchOp{opQueryFS, 59, 71, 0}, 6},
	{tbenchOp{opQueryFile, 59, 71, 0}, 5},
	{tbenchOp{opSetFile, 71, 47, 0}, 3},
	{tbenchOp{opFlush, 41, 39, 0}, 2},
	{tbenchOp{opRename, 214, 39, 0}, 1},
	{tbenchOp{opLockX, 51, 39, 0}, 1},
}

func readX(data int64) tbenchOp {
	return tbenchOp{opReadX, transferHeader, transferHeader + data, data}
}

func writeX(data int64) tbenchOp { return tbenchOp{opWriteX, transferHeader + data, 55, data} }

// tbenchLoad is the mix in an order in which each operation comes as evenly as
// it can.
func tbenchLoad() []tbenchOp {
	type placed struct {
		at float64 // its part of the way
		tbenchOp
	}
	var all []placed
	for _, m := range tbenchMix {
		for i := range m.count {
			all = append(all, placed{(float64(i) + 0.5) / float64(m.count), m.tbenchOp})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	load := make([]tbenchOp, len(all))
	for i := range all {
		load[i] = all[i].tbenchOp
	}
	return load
}
