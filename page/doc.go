// Package page makes reports that open in a browser: one file that needs nothing
// else, no network, no fonts, no other script than its own. It adapts to light
// and dark, to narrow screens and to paper, and can be used with a keyboard
// alone.
package page
