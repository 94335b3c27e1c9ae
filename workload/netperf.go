package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// netperf is netperf 2.7 with netserver on the same machine
// (ipc-and-benchmarks.md 6.5), or several such pairs at once.
type netperf struct {
	test              netperfTest
	duration          int // seconds
	pairs             int // 0: not given, one
	send, recv        int // bytes of a call; 0: the test's default
	request, response int // 0: not given
	noDelay           bool
	ignored           bool
	stretch           Stretch
}

// netperfTest is one of the tests that -t names.
type netperfTest struct {
	name, title string
	kind        ChannelKind
	replies     bool // requests and replies; otherwise one way
	fromFile    bool
}

var netperfTests = []netperfTest{
	{name: "TCP_STREAM", title: "MIGRATED TCP STREAM TEST", kind: TCPStream},
	{name: "TCP_SENDFILE", title: "TCP SENDFILE TEST", kind: TCPStream, fromFile: true},
	{name: "TCP_RR", title: "MIGRATED TCP REQUEST/RESPONSE TEST", kind: TCPStream, replies: true},
	{name: "UDP_STREAM", title: "MIGRATED UDP STREAM TEST", kind: UDPSocket},
	{name: "UDP_RR", title: "MIGRATED UDP REQUEST/RESPONSE TEST", kind: UDPSocket, replies: true},
}

// Sizes of sockets that netperf reads and prints, and its defaults for calls.
// Those of TCP are from before it has adapted them.
const (
	netperfTCPSend  = 16384
	netperfTCPRecv  = 131072
	netperfUDP      = 212992
	longestDatagram = 65507
	maxNetperfPairs = 1024
	maxNetperfBytes = 1 << 24
)

func newNetperf() *netperf { return &netperf{test: netperfTests[0], duration: 10} }

// Name implements [Benchmark].
func (b *netperf) Name() string { return "netperf" }

func (b *netperf) options() []option {
	return []option{
		{"t", "", "TEST", strings.Join(netperfTestNames(), ", ") + " (TCP_STREAM)", b.setTest},
		{"l", "", "SECONDS", "length of the test (10)", toInt(&b.duration, 1, maxSeconds)},
		{"H", "", "HOST", "localhost or 127.0.0.1", b.setHost},
		{"", "pairs", "N", "ours: so many of netperf and netserver at once, each with its result (1)", toInt(&b.pairs, 1, maxNetperfPairs)},
		{"P", "", "0|1", "read and ignored: the banner is there", toBool(&b.ignored, true)},
		{"v", "", "LEVEL", "read and ignored", toBool(&b.ignored, true)},
		{"i", "", "MAX,MIN", "read and ignored: one run, repeats are the experiment's", toBool(&b.ignored, true)},
		{"I", "", "LEVEL,WIDTH", "read and ignored, as -i", toBool(&b.ignored, true)},
		{"F", "", "FILE", "read and ignored: the file is in the page cache", toBool(&b.ignored, true)},
		{"c", "", "", "not simulated", notSimulated("the CPU's utilization")},
		{"C", "", "", "not simulated", notSimulated("the CPU's utilization")},
		{"T", "", "CPU,CPU", "not simulated", notSimulated("binding to CPUs")},
		{"f", "", "UNIT", "not simulated", notSimulated("another unit")},
		{"D", "", "SECONDS", "not simulated", notSimulated("interim results")},
	}
}

// testOptions are the flags behind "--".
func (b *netperf) testOptions() []option {
	return []option{
		{"m", "", "BYTES", "of a send (16384; UDP 65507)", toInt(&b.send, 1, maxNetperfBytes)},
		{"M", "", "BYTES", "of a recv (the receive buffer; UDP 65507)", toInt(&b.recv, 1, maxNetperfBytes)},
		{"r", "", "REQUEST,REPLY", "bytes of a request and its reply (1,1)", b.setRequest},
		{"D", "", "", "TCP_NODELAY", toBool(&b.noDelay, true)},
		{"P", "", "PORT", "read and ignored", toBool(&b.ignored, true)},
		{"s", "", "BYTES", "not simulated", notSimulated("another size of the local socket's buffers")},
		{"S", "", "BYTES", "not simulated", notSimulated("another size of the remote socket's buffers")},
		{"b", "", "N", "not simulated", notSimulated("a burst of requests")},
	}
}

func netperfTestNames() []string {
	names := make([]string, len(netperfTests))
	for i := range netperfTests {
		names[i] = netperfTests[i].name
	}
	return names
}

func (b *netperf) setTest(name string) error {
	for _, t := range netperfTests {
		if t.name == strings.ToUpper(name) {
			b.test = t
			return nil
		}
	}
	return fmt.Errorf("there is no test %q here: there are %s", name, strings.Join(netperfTestNames(), ", "))
}

func (b *netperf) setHost(host string) error {
	if host != "localhost" && host != "127.0.0.1" {
		return fmt.Errorf("host %q: there is only this machine, localhost or 127.0.0.1", host)
	}
	return nil
}

// setRequest reads "100,200", or "100" for both.
func (b *netperf) setRequest(arg string) error {
	var sizes []int
	if err := toInts(&sizes, 1, maxNetperfBytes)(arg); err != nil {
		return err
	}
	if len(sizes) > 2 {
		return fmt.Errorf("%q: want the bytes of a request and of its reply", arg)
	}
	b.request, b.response = sizes[0], sizes[len(sizes)-1]
	return nil
}

func (b *netperf) check() error {
	switch {
	case b.test.replies && (b.send > 0 || b.recv > 0):
		return fmt.Errorf("%s has no -m and -M: -r REQUEST,REPLY sets its sizes", b.test.name)
	case !b.test.replies && b.request > 0:
		return fmt.Errorf("%s has no -r: -m and -M set its sizes", b.test.name)
	case b.test.kind == UDPSocket && b.noDelay:
		return fmt.Errorf("%s has no TCP_NODELAY: leave -D out", b.test.name)
	}
	b.setDefaults()
	if longest := max(b.send, b.request, b.response); b.test.kind == UDPSocket && longest > longestDatagram {
		return fmt.Errorf("send: message too long: a datagram has at most %d bytes, not %d", longestDatagram, longest)
	}
	return nil
}

func (b *netperf) setDefaults() {
	fill := func(size *int, by int) {
		if *size == 0 {
			*size = by
		}
	}
	sent, received := netperfTCPSend, netperfTCPRecv
	if b.test.kind == UDPSocket {
		sent, received = longestDatagram, longestDatagram
	}
	fill(&b.send, sent)
	fill(&b.recv, received)
	fill(&b.request, 1)
	fill(&b.response, 1)
}

// SetStretch implements [Scalable]: the test is that much shorter.
func (b *netperf) SetStretch(s Stretch) { b.stretch = s }

func (b *netperf) shortened() bool {
	return b.stretch.Given() && b.stretch.Warmup+b.stretch.Measure < int64(b.duration)*1e9
}

// count is how many pairs there are.
func (b *netperf) count() int { return max(1, b.pairs) }

// rowLabels names the rows of what is sent and received by UDP_STREAM: as mmtests
// does, by the size of the messages, or by the pairs where those are given.
func (b *netperf) rowLabels() (send, recv string) {
	if b.pairs > 0 {
		return "", "recv-" + strconv.Itoa(b.pairs)
	}
	return "send-" + strconv.Itoa(b.send), "recv-" + strconv.Itoa(b.send)
}

// Report implements [Benchmark]. The text is what the pairs print on stdout, one
// after the other; the metrics are means over them.
func (b *netperf) Report(obs *Observation) Report {
	from, to := obs.Marks[netFromMark], obs.Marks[netToMark]
	if from < 0 || to <= from {
		return Report{Failure: "did not finish"}
	}
	seconds := float64(to-from) / 1e9
	report := Report{}
	var text strings.Builder
	var sent, received float64
	for pair := range b.count() {
		s, r := netSent(pair), netReceived(pair)
		if obs.Recorders[s].Tally == 0 {
			return Report{Failure: fmt.Sprintf("pair %d has not sent anything: the run is too short", pair)}
		}
		sent += float64(obs.Recorders[s].Tally) / seconds
		received += float64(obs.Recorders[r].Tally) / seconds
		b.write(&text, obs.Recorders[s].Tally, obs.Recorders[r].Tally, seconds)
	}
	pairs := float64(b.count())
	report.Text = text.String()
	report.Metrics = b.metrics(sent/pairs, received/pairs)
	if b.shortened() {
		report.Notes = append(report.Notes, fmt.Sprintf("a run shorter than -l %d: %s", b.duration, b.stretch))
	}
	return report
}

// metrics are those of calls a second, the mean of the pairs.
func (b *netperf) metrics(sent, received float64) []Metric {
	rate := func(label, unit string, value float64) Metric {
		return Metric{Statistic: "Hmean", Label: label, Unit: unit, Better: "higher", Value: value}
	}
	switch {
	case b.test.replies:
		return []Metric{rate("", "transactions/s", sent)}
	case b.test.kind == UDPSocket:
		send, recv := b.rowLabels()
		return []Metric{rate(send, "Mbit/s", sent*b.megabits()), rate(recv, "Mbit/s", received*b.arriving())}
	}
	return []Metric{rate("", "Mbit/s", sent*b.megabits())}
}

// megabits is how many a message has, of 10^6 bits.
func (b *netperf) megabits() float64 { return float64(8*b.send) / 1e6 }

// arriving is how many of them a recv returns: the rest of a longer datagram is
// lost.
func (b *netperf) arriving() float64 { return float64(8*min(b.send, b.recv)) / 1e6 }

const netperfAddresses = " from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost (127.0.0.1) port 0 AF_INET"

// write writes what one netperf prints.
func (b *netperf) write(text *strings.Builder, sent, received int64, seconds float64) {
	text.WriteString(b.test.title + netperfAddresses)
	local := netperfTCPSend
	remote := netperfTCPRecv
	if b.test.kind == UDPSocket {
		local, remote = netperfUDP, netperfUDP
	}
	rate := float64(sent) / seconds
	switch {
	case b.test.replies:
		text.WriteString(" : first burst 0\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\n" +
			"Send   Recv   Size     Size    Time     Rate         \nbytes  Bytes  bytes    bytes   secs.    per sec   \n\n")
		fmt.Fprintf(text, "%-6d %-6d %-6d   %-6d  %-6.2f   %7.2f   \n%-6d %-6d\n", local, remote, b.request, b.response, seconds, rate, local, remote)
	case b.test.kind == UDPSocket:
		text.WriteString("\nSocket  Message  Elapsed      Messages                \nSize    Size     Time         Okay Errors   Throughput\n" +
			"bytes   bytes    secs            #      #   10^6bits/sec\n\n")
		fmt.Fprintf(text, "%6d   %5d   %-7.2f   %7d %6d    %7.2f\n%6d           %-7.2f   %7d           %7.2f\n\n",
			local, b.send, seconds, sent, 0, rate*b.megabits(), remote, seconds, received, float64(received)/seconds*b.arriving())
	default:
		text.WriteString("\nRecv   Send    Send                          \nSocket Socket  Message  Elapsed              \n" +
			"Size   Size    Size     Time     Throughput  \nbytes  bytes   bytes    secs.    10^6bits/sec  \n\n")
		fmt.Fprintf(text, "%6d %6d %6d    %-6.2f   %7.2f   \n", remote, local, b.send, seconds, rate*b.megabits())
	}
}
