// Package sched is the Linux fair scheduler as a pure state machine.
//
// It does no I/O, starts no goroutine, reads no clock and draws no random
// number (the driver may bring dice: [Config]). Whoever drives it (a simulator in virtual time, a real trace) tells
// it the time with every call and is told what the scheduler wants through the
// small [Driver] interface: reschedule this CPU, kick that one. What a call
// did (CPUs probed, queues locked, tasks moved) is counted in [Work]; a
// [Prices] list turns the counts into nanoseconds where the kernel itself
// measures time (scan cost, newidle cost).
//
// One mechanism lives in one file:
//
//	task.go entity.go runqueue.go timeline.go    state
//	weight.go pelt.go loadavg.go cfs.go group.go time and shares
//	delayed.go eligible.go                       what a driver tells of EEVDF, and what balancing asks of it
//	domain.go topology.go                        sched domains and groups from a machine
//	wake.go affine.go idlesibling.go idlest.go   placement
//	cluster.go remotequeue.go                    clusters, wake lists
//	ttwu.go schedule.go tick.go                  wakeup, context switch, tick
//	balance.go imbalance.go detach.go active.go  load balancing; balance414.go is v4.14's,
//	balance612.go                                of v6.12 and v7.2
//	newidle.go newidlerate.go nohz.go            its other triggers
//	llcpref.go llcbalance.go                     preferred caches of processes (v7.2)
//	profile.go feature.go tunable.go             what differs between kernel versions, as data
//	decision.go stat.go work.go                  why, how often, at what cost
//
// Rules and constants follow docs/mechanisms.md; comments name its sections.
package sched
