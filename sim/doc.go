// Package sim executes task programs in virtual time on a machine, under the
// scheduler of package sched.
//
// Time is int64 nanoseconds and every decision is an integer: the same run
// gives the same bytes on any computer. One simulation is one goroutine.
//
//	sim.go          build and run: the main loop over events
//	eventqueue.go   tournament over the CPUs' next events
//	cpu.go          one CPU: what it executes and how fast (SMT)
//	interrupt.go    ticks, timers, IPIs, softirq: the order of mechanisms.md 15.1
//	idle.go         how deep idle CPUs sleep: the menu governor
//	task.go         one task: where its program stands
//	execute.go      the instruction interpreter
//	switch.go       context switches, idle entry and exit
//	cost.go         what everything costs; costs/*.json hold the numbers
//	cache.go        cache refill and line transfers by distance
//	result.go       what a run measured
//
// A CPU executes one segment at a time: kernel overhead it owes, then one
// instruction. System calls are not preempted (preemption none, voluntary and
// lazy honour need_resched when they return); work in user mode is, at the
// next interrupt.
package sim
