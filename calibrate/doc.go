// Package calibrate fits cost parameters to what a machine did under an
// unpatched kernel, and says how well a cost file predicts it. It can see
// baseline figures only: the reader of published tables ([ReadBaseline]) drops
// every other column, and parameters that only patched kernels pay are refused
// ([sim.Costs.With]).
package calibrate
