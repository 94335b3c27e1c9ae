// Package reproduction puts kept results of the published documents' experiments
// beside the published tables again, without simulating, and writes
// docs/reproduction.md from them.
package reproduction

//go:generate go run ./generate ../../docs/reproduction ../../docs/reproduction.md
