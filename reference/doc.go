// Package reference describes in Markdown what can be named: kernels with their
// features and tunables, benchmarks with their flags, machines, cost parameters
// and file formats. It takes all of it from the code that uses it, so that it
// says what is.
package reference
