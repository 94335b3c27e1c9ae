//go:build invariants

package sim

const alwaysCheck = true
