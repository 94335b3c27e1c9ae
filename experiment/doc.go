// Package experiment turns an experiment file (docs/experiment.md) into cells,
// runs them over a [Runner], and reduces what they report to tables.
//
// The steps are [Load] (the file alone is checked), [Experiment.Plan] (the
// cells, in a fixed order), [Plan.Check] (what only the runner knows: machines,
// kernels, features, flags), [Execute] (a pool of workers, a [Journal] of
// finished cells), and [Results.Tables].
//
// Nothing in a result depends on the number of workers, on the order in which
// cells finish, on the clock, or on whether the run was interrupted.
package experiment
