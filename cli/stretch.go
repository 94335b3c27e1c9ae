package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/workload"
)

// parseStretch reads "400ms,300ms", or "400ms,300ms,2s" where the warm-up may
// take longer until the benchmark is steady.
func parseStretch(flag, text string) (workload.Stretch, error) {
	var s workload.Stretch
	fields := []*int64{&s.Warmup, &s.Measure, &s.Settle}
	parts := strings.Split(text, ",")
	ok := len(parts) == 2 || len(parts) == 3
	for i := 0; ok && i < len(parts); i++ {
		length, err := time.ParseDuration(parts[i])
		ok = err == nil && length >= 0 && length <= experiment.MaxStretch
		*fields[i] = int64(length)
	}
	if !ok || s.Measure == 0 {
		return workload.Stretch{}, fmt.Errorf("%s %q must be WARMUP,MEASURE or WARMUP,MEASURE,SETTLE: lengths of time such as 400ms,300ms, each at most %v", flag, text, experiment.MaxStretch)
	}
	return s, nil
}
