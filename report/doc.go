// Package report renders comparisons: the text tables of mmtests, the long form
// as CSV, Parquet and JSON, a self-contained HTML page, and the manifest of an
// output folder. Everything it writes is a function of what it is given.
package report
