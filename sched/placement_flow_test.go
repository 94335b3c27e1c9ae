package sched

import "testing"

// flowDriver carries out at once what the scheduler asks for, so that a test
// can run tasks through the public calls without a simulator.
type flowDriver struct {
	wakeLists, resched []int
}

func (d *flowDriver) Resched(cpu int)           { d.resched = append(d.resched, cpu) }
func (d *flowDriver) WakeIPI(cpu int)           { d.wakeLists = append(d.wakeLists, cpu) }
func (*flowDriver) NohzKick(int)                {}
func (*flowDriver) ArmTimer(int, int64, *Timer) {}
func (*flowDriver) UnthrottleIPI(int)           {}
func (*flowDriver) ThrottleWork(int)            {}
func (*flowDriver) ArmSliceEnd(int, int64)      {}
func (*flowDriver) StopperKick(int)             {}
func (*flowDriver) BalanceSoftirq(cpu int)      {}

func (d *flowDriver) settle(s *Scheduler, now int64) {
	for len(d.wakeLists)+len(d.resched) > 0 {
		lists := d.wakeLists
		d.wakeLists = nil
		for _, cpu := range lists {
			s.HandleWakeList(now, cpu)
		}
		cpus := d.resched
		d.resched = nil
		for _, cpu := range cpus {
			s.Schedule(now, cpu, false)
		}
	}
}

// On an idle machine two tasks that wake each other and then sleep end up in
// one last-level cache and stay there, wherever they started.
func TestPipePairStaysInOneCache(t *testing.T) {
	for _, profile := range Profiles() {
		t.Run(profile.Name, func(t *testing.T) {
			driver := &flowDriver{}
			s, err := New(NewConfig(xeon8260.build(), profile), driver)
			if err != nil {
				t.Fatal(err)
			}
			now := int64(1_000_000)
			a := s.NewTask(TaskSpec{ID: 1, CPU: 0})
			b := s.NewTask(TaskSpec{ID: 2, CPU: 30}) // the other node
			s.Wake(now, 0, a, false)
			driver.settle(s, now)
			runner, sleeper := a, b
			moves, lastCPUs := 0, [2]int{a.CPU(), b.CPU()}
			for i := range 1000 {
				now += 5_000
				s.Wake(now, runner.CPU(), sleeper, true)
				driver.settle(s, now)
				s.Schedule(now, runner.CPU(), true)
				driver.settle(s, now)
				if s.Current(sleeper.CPU()) != sleeper {
					t.Fatalf("round %d: the wakee does not run on CPU %d", i, sleeper.CPU())
				}
				if err := s.CheckInvariants(); err != nil {
					t.Fatalf("round %d: %v", i, err)
				}
				runner, sleeper = sleeper, runner
				if cpus := [2]int{a.CPU(), b.CPU()}; i >= 10 && cpus != lastCPUs {
					moves++
				}
				lastCPUs = [2]int{a.CPU(), b.CPU()}
				if i >= 10 && !s.SharesCache(a.CPU(), b.CPU()) {
					t.Fatalf("round %d: tasks on CPUs %d and %d", i, a.CPU(), b.CPU())
				}
			}
			t.Logf("on CPUs %d and %d, %d moves after the first ten rounds", a.CPU(), b.CPU(), moves)
		})
	}
}
