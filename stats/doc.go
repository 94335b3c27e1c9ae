// Package stats holds the statistics that schedlab's tables are made of: the
// means, percentages and significance marks of mmtests as they were in April
// 2022 (mechanisms.md 13), confidence intervals, verdicts, and the long form in
// which results and published tables are exchanged.
//
// The package states its assumption: samples of one row and one variant are
// independent runs of one configuration, told apart only by their seed.
package stats
