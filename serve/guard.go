package serve

import (
	"fmt"
	"net"
	"net/http"
	"slices"
)

// pagePolicy lets the page load its own script and style and ask its own
// server; nothing inline, nothing from elsewhere.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// reportPolicy lets a report.html, which anybody may have written, draw itself
// and do nothing else: it has an origin of its own and can ask no server.
const reportPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
	"font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded answers reads of a browser on this machine and nothing else.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !ownHost(r):
			http.Error(w, fmt.Sprintf("schedlab serve answers to localhost, 127.0.0.1 and [::1] only, not to %q", r.Host), http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "schedlab serve only shows: use GET or HEAD", http.StatusMethodNotAllowed)
		case fromElsewhere(r):
			http.Error(w, "schedlab serve gives its data to its own page only", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ownHost reports whether the Host header names this machine and the port that
// was connected to. A page of another site whose name was made to resolve to
// 127.0.0.1 (DNS rebinding) sends its own name.
func ownHost(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	_, ownPort, err := net.SplitHostPort(local.String())
	return err == nil && port == ownPort && slices.Contains([]string{"localhost", "127.0.0.1", "::1", "[::1]"}, host)
}

// fromElsewhere reports whether a browser says that another site's page asks;
// only following a link to the page itself is fine.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.URL.Path != "/"
	}
	return false
}
