// Package quota answers what another CPU limit would do to a service: it
// simulates the service under many limits (cpu.max, cpu.max.burst) and numbers
// of threads, finds the smallest limit that keeps a latency, and says in words
// why a service is throttled that uses less than its limit.
package quota
