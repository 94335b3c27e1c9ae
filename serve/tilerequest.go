package serve

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// tileBuckets is how many buckets of time a tile has.
const tileBuckets = 256

// maxTileRows bounds the rows of one tile, and so the work of one request.
const maxTileRows = 128

// rowKind says what the rows of a timeline are.
type rowKind uint8

const (
	cpuRows rowKind = iota
	taskRows
)

// tileRequest names one tile: index counts tiles of its level from the start of
// the recording.
type tileRequest struct {
	kind  rowKind
	level int
	index int64
	rows  []int
}

// start is the first moment of the tile, in ns since the recording's start.
func (q *tileRequest) start() int64 { return q.index * tileBuckets << q.level }

func (q *tileRequest) span() int64 { return tileBuckets << q.level }

// parseTileRequest reads mode=cpu|task, level, index and rows=0-31,40.
func parseTileRequest(form url.Values) (*tileRequest, error) {
	q := &tileRequest{}
	var err error
	if q.kind, err = parseRowKind(form.Get("mode")); err != nil {
		return nil, err
	}
	level, err := strconv.ParseUint(form.Get("level"), 10, 8)
	if err != nil || level > maxLevel {
		return nil, fmt.Errorf("level is %q; write a number from 0 to %d", form.Get("level"), maxLevel)
	}
	q.level = int(level)
	index, err := strconv.ParseUint(form.Get("index"), 10, 63)
	if err != nil || index > 1<<62/uint64(q.span()) {
		return nil, fmt.Errorf("index is %q; write a number that lies within 2^62 ns at this level", form.Get("index"))
	}
	q.index = int64(index)
	if q.rows, err = parseRows(form.Get("rows")); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return q, nil
}

func parseRowKind(mode string) (rowKind, error) {
	switch mode {
	case "cpu":
		return cpuRows, nil
	case "task":
		return taskRows, nil
	}
	return 0, fmt.Errorf("mode is %q; choose cpu or task", mode)
}

// parseRows reads numbers and ranges: 3,8-12.
func parseRows(text string) ([]int, error) {
	var rows []int
	for part := range strings.SplitSeq(text, ",") {
		firstText, lastText, isRange := strings.Cut(part, "-")
		if !isRange {
			lastText = firstText
		}
		first, errFirst := strconv.ParseUint(firstText, 10, 31)
		last, errLast := strconv.ParseUint(lastText, 10, 31)
		if errFirst != nil || errLast != nil || last < first {
			return nil, fmt.Errorf("there is %q; write numbers and ranges such as 3,8-12", part)
		}
		if last-first >= maxTileRows-uint64(len(rows)) {
			return nil, errTooMany
		}
		for n := first; n <= last; n++ {
			rows = append(rows, int(n))
		}
	}
	return rows, nil
}

var errTooMany = errors.New("these are more than " + strconv.Itoa(maxTileRows) + "; ask for fewer at a time")
