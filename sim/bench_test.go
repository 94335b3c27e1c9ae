package sim

import "testing"

// BenchmarkHackbenchPipes is the speed that the project promises: 12 groups
// on 96 CPUs.
func BenchmarkHackbenchPipes(b *testing.B) {
	var switches, messages int64
	for range b.N {
		b.StopTimer()
		m, _ := build(b, "2n24c2t", "v5.17", "hackbench", "-g", "12", "-l", "400", "-P", "-p")
		b.StartTimer()
		r := run(b, m)
		switches += r.Switches
		messages += r.Messages
	}
	b.ReportMetric(float64(switches)/b.Elapsed().Seconds(), "switches/s")
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkHogs has five endless loops per CPU: what is left is ticks,
// switches and balancing.
func BenchmarkHogs(b *testing.B) {
	for _, c := range []struct{ name, machine, hogs string }{
		{"8", "1n8c1t", "40"}, {"64", "2n32c1t", "320"}, {"256", "4n64c1t", "1280"},
	} {
		b.Run(c.name+"cpus", func(b *testing.B) {
			var switches int64
			for range b.N {
				b.StopTimer()
				m, _ := build(b, c.machine, "v5.17", "while1", "-n", c.hogs, "--time", "20")
				b.StartTimer()
				switches += run(b, m).Switches
			}
			b.ReportMetric(float64(switches)/b.Elapsed().Seconds(), "switches/s")
		})
	}
}

// BenchmarkSwitches has nothing but switches: every CPU's pair of tasks hands
// a token back and forth, on 96 and on 1,024 CPUs.
func BenchmarkSwitches(b *testing.B) {
	for _, c := range []struct{ name, machine string }{{"96cpus", "3n16c2t"}, {"1024cpus", "32n16c2t"}} {
		b.Run(c.name, func(b *testing.B) {
			var switches int64
			for range b.N {
				b.StopTimer()
				m := tokenRings(b, c.machine)
				b.StartTimer()
				switches += run(b, m).Switches
			}
			b.ReportMetric(float64(switches)/b.Elapsed().Seconds(), "switches/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(switches), "ns/switch")
		})
	}
}

// BenchmarkScale compares a switch on 96 CPUs with one on 1,024: the same
// last-level caches of 32 CPUs, the same five tasks per CPU.
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct{ name, machine, groups string }{
		{"96cpus", "3n16c2t", "12"}, {"1024cpus", "32n16c2t", "128"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var switches, messages int64
			for range b.N {
				b.StopTimer()
				m, _ := build(b, c.machine, "v5.17", "hackbench", "-g", c.groups, "-l", "400", "-P", "-p")
				b.StartTimer()
				r := run(b, m)
				switches += r.Switches
				messages += r.Messages
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(switches), "ns/switch")
			b.ReportMetric(float64(messages)/float64(switches), "messages/switch")
		})
	}
}
