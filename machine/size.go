package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// sizeUnits are the endings that sysfs, lscpu and people write; all are powers
// of 1024.
var sizeUnits = []struct {
	ending string
	bytes  int64
}{
	{"KiB", kib}, {"MiB", mib}, {"GiB", 1 << 30},
	{"kB", kib}, {"KB", kib}, {"MB", mib}, {"GB", 1 << 30},
	{"K", kib}, {"k", kib}, {"M", mib}, {"G", 1 << 30}, {"B", 1},
}

// maxCacheSize bounds cache sizes to 1 TiB.
const maxCacheSize = 1 << 40

// parseSize reads "32K", "35.75 MiB" or a number of bytes.
func parseSize(s string) (int64, error) {
	text, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(text, u.ending); ok {
			text, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	whole, err := strconv.ParseFloat(text, 64)
	if err != nil || !(whole >= 0 && whole*float64(unit) <= maxCacheSize) {
		return 0, fmt.Errorf("%q is not a size such as 32K, 1M or 35.75M", abbreviate(s))
	}
	return int64(whole * float64(unit)), nil
}

// formatSize writes bytes as parseSize reads them exactly.
func formatSize(n int64) string {
	switch {
	case n != 0 && n%(1<<30) == 0:
		return fmt.Sprintf("%dG", n>>30)
	case n != 0 && n%mib == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n != 0 && n%kib == 0:
		return fmt.Sprintf("%dK", n>>10)
	}
	return strconv.FormatInt(n, 10)
}
