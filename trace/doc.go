// Package trace reads and writes recordings of the Linux scheduler.
//
// One event model serves every format: a reader fills an Event, whatever the
// file was, and a writer prints it. What a kind of event carries is data (see
// schema.go), so a reader, a writer and a summary all follow the same table.
//
//	r, err := trace.Open("trace.txt.gz") // ftrace text, trace.dat, perf.data, Perfetto; also gzipped
//	defer r.Close()
//	var e trace.Event
//	for {
//		err := r.Next(&e)
//		if err == io.EOF {
//			break
//		}
//		if e.Kind == trace.KindSwitch {
//			s := e.Switch()
//			...
//		}
//	}
//	fmt.Print(r.Stats())
//
// What the recorder did not say is a value of its own (UnknownCPU, UnknownPID,
// Unknown, UnknownState), never a guess. What is damaged, lost, out of order or
// doubled is counted in Stats, and the first damage is kept as a Warning with
// its byte offset; reading goes on behind it.
package trace
