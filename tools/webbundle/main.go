// Webbundle bundles a page's TypeScript into one file, the same bytes each time.
//
//	webbundle ENTRY.ts OUT.js
package main

import (
	"fmt"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "webbundle: usage: webbundle ENTRY.ts OUT.js")
		os.Exit(2)
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{os.Args[1]}, Outfile: os.Args[2], Bundle: true, Write: true,
		Target: api.ES2022, Format: api.FormatIIFE, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		Banner:   map[string]string{"js": "// Generated from the TypeScript beside it by go generate; do not edit."},
		LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 || len(result.Warnings) > 0 {
		os.Exit(1)
	}
}
