package sched

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// WriteMax changes a limit as writing text to cpu.max does: "50000 100000" is a
// quota and a period in microseconds, "50000" keeps the period, and "max" in
// place of the quota is no limit. Whether the values are in range is for
// [Scheduler.SetLimit] to say.
func (l *Limit) WriteMax(text string) error {
	words := strings.Fields(text)
	if len(words) < 1 || len(words) > 2 {
		return fmt.Errorf("cpu.max is %q, but must be a quota and a period in microseconds, such as \"50000 100000\", or \"max\"", text)
	}
	changed := *l
	changed.Quota = Unlimited
	if words[0] != "max" {
		quota, err := microseconds("the quota of cpu.max", words[0])
		if err != nil {
			return fmt.Errorf("%w, or max for no limit", err)
		}
		changed.Quota = quota
	}
	if len(words) == 2 {
		period, err := microseconds("the period of cpu.max", words[1])
		if err != nil {
			return err
		}
		changed.Period = period
	}
	*l = changed
	return nil
}

// WriteBurst changes a limit as writing text, microseconds, to cpu.max.burst
// does.
func (l *Limit) WriteBurst(text string) error {
	burst, err := microseconds("cpu.max.burst", strings.TrimSpace(text))
	if err == nil {
		l.Burst = burst
	}
	return err
}

// longestQuota is what the kernel takes at most, so that no sum overflows: 2^44
// - 1 microseconds.
const longestQuota = 1<<44 - 1

func microseconds(what, text string) (int64, error) {
	us, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s must be a whole number of microseconds, not %q", what, text)
	case us < 0:
		return 0, fmt.Errorf("%s is negative: %s", what, text)
	case us > min(longestQuota, math.MaxInt64/1000):
		return 0, fmt.Errorf("%s is more than %d microseconds: %s", what, int64(longestQuota), text)
	}
	return us * 1000, nil
}

// Max is the limit as cpu.max shows it.
func (l Limit) Max() string {
	if l.Quota == Unlimited {
		return fmt.Sprintf("max %d", l.Period/1000)
	}
	return fmt.Sprintf("%d %d", l.Quota/1000, l.Period/1000)
}
