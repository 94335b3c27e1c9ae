package workload

import (
	"strings"
	"testing"
)

func mustBenchmark(t *testing.T, command string) Benchmark {
	t.Helper()
	b, err := Parse(strings.Fields(command))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// observed is what a run of 10 s hands back in which each pair sent and received
// so much.
func observed(pairs int, sent, received int64) *Observation {
	obs := &Observation{Marks: []int64{0, 5e9, 15e9}, EndTime: 15e9}
	for range pairs {
		obs.Recorders = append(obs.Recorders, Recorder{Tally: sent}, Recorder{Tally: received})
	}
	return obs
}

// 2,000,000 sends of 16384 bytes in 10 s: 16384 * 8 * 2e5 = 26214.4 Mbit/s.
func TestNetperfOutput(t *testing.T) {
	for command, want := range map[string]string{
		"netperf -t TCP_STREAM": `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost (127.0.0.1) port 0 AF_INET
Recv   Send    Send                          
Socket Socket  Message  Elapsed              
Size   Size    Size     Time     Throughput  
bytes  bytes   bytes    secs.    10^6bits/sec  

131072  16384  16384    10.00    26214.40   
`,
		"netperf -t UDP_STREAM -- -m 1024": `MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost (127.0.0.1) port 0 AF_INET
Socket  Message  Elapsed      Messages                
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992    1024   10.00     2000000      0    1638.40
212992           10.00     1500000           1228.80

`,
		"netperf -t TCP_RR -- -r 32,1024": `MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost (127.0.0.1) port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate         
bytes  Bytes  bytes    bytes   secs.    per sec   

16384  131072 32       1024    10.00    200000.00   
16384  131072
`,
	} {
		if got := mustBenchmark(t, command).Report(observed(1, 2_000_000, 1_500_000)).Text; got != want {
			t.Errorf("%s prints\n%s\nwant\n%s", command, got, want)
		}
	}
}

// The metrics are means over the pairs; UDP has a row for what was sent and one
// for what arrived, which a recv shorter than the datagrams makes less.
func TestNetperfMetrics(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []Metric
	}{
		{"netperf", []Metric{{"Hmean", "", "Mbit/s", "higher", 26214.4}}},
		{"netperf -t TCP_RR", []Metric{{"Hmean", "", "transactions/s", "higher", 200_000}}},
		{"netperf -t UDP_STREAM -- -m 1000 -M 500", []Metric{
			{"Hmean", "send-1000", "Mbit/s", "higher", 1600}, {"Hmean", "recv-1000", "Mbit/s", "higher", 600}}},
		{"netperf -t UDP_STREAM --pairs 3 -- -m 1000", []Metric{
			{"Hmean", "", "Mbit/s", "higher", 1600}, {"Hmean", "recv-3", "Mbit/s", "higher", 1200}}},
	} {
		b := mustBenchmark(t, c.command)
		got := b.Report(observed(b.(*netperf).count(), 2_000_000, 1_500_000)).Metrics
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v, want %+v", c.command, got, c.want)
			continue
		}
		for i := range got {
			if diff := got[i].Value - c.want[i].Value; diff > 1e-6 || diff < -1e-6 || got[i].Label != c.want[i].Label || got[i].Unit != c.want[i].Unit {
				t.Errorf("%s: %+v, want %+v", c.command, got[i], c.want[i])
			}
		}
	}
}

func TestNetperfErrors(t *testing.T) {
	for command, want := range map[string]string{
		"netperf -t TCP_CRR":                "netperf: -t: there is no test \"TCP_CRR\" here: there are TCP_STREAM, TCP_SENDFILE, TCP_RR, UDP_STREAM, UDP_RR",
		"netperf -t UDP_STREAM -- -m 65508": "netperf: send: message too long: a datagram has at most 65507 bytes, not 65508",
		"netperf -t TCP_RR -- -m 64":        "netperf: TCP_RR has no -m and -M: -r REQUEST,REPLY sets its sizes",
		"netperf -- -r 64":                  "netperf: TCP_STREAM has no -r: -m and -M set its sizes",
		"netperf -t UDP_RR -- -r 1,2,3":     `netperf --: -r: "1,2,3": want the bytes of a request and of its reply`,
		"netperf -t UDP_RR -- -D":           "netperf: UDP_RR has no TCP_NODELAY: leave -D out",
		"netperf -H elsewhere":              `netperf: -H: host "elsewhere": there is only this machine, localhost or 127.0.0.1`,
		"netperf -- -x":                     "netperf --: there is no flag -x: there are -m, -M, -r, -D, -P, -s, -S, -b",
		"netperf -m 64":                     "netperf: there is no flag -m: there are -t, ",
		"netperf -T 0,1":                    "netperf: -T: binding to CPUs is not simulated: leave the flag out",
		"hackbench -- -m 1":                 "hackbench: there is no flag --: there are ",
		"tbench":                            "tbench: you need to specify NPROCS, the number of clients",
		"tbench many":                       `tbench: NPROCS: "many" is not a whole number from 1 to 4096`,
		"tbench 4 elsewhere":                `tbench: server "elsewhere": there is only this machine, localhost or 127.0.0.1`,
		"tbench 4 localhost 5":              `tbench: unexpected word "5" behind NPROCS and SERVER`,
		"tbench -c /tmp/my.txt 4":           `tbench: -c/--loadfile: load file "/tmp/my.txt": there is one load only, under the names client.txt, client-tiny.txt, client-tiny`,
	} {
		_, err := Parse(strings.Fields(command))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", command, err, want)
		}
	}
}

// A run that was cut off has no figure.
func TestNetperfFailures(t *testing.T) {
	b := mustBenchmark(t, "netperf")
	if r := b.Report(observed(1, 0, 0)); r.Failure == "" {
		t.Error("nothing was sent, and there is no failure")
	}
	if r := b.Report(&Observation{Marks: []int64{0, -1, -1}}); r.Failure == "" {
		t.Error("the test never began, and there is no failure")
	}
}

func TestNetworkScenariosAreValid(t *testing.T) {
	for _, command := range []string{
		"netperf", "netperf -t TCP_SENDFILE --pairs 3", "netperf -t TCP_RR -- -D", "netperf -t UDP_RR -- -r 100,200",
		"netperf -t UDP_STREAM --pairs 80", "tbench 3", "tbench -t 180 -c client-tiny 2 127.0.0.1",
	} {
		b := mustBenchmark(t, command)
		for range 2 {
			s, err := b.Build(Shape{CPUs: 4, Nodes: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(4); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			b.(Scalable).SetStretch(Stretch{Warmup: 1e6, Measure: 1e6})
		}
	}
}
