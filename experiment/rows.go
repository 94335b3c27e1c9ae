package experiment

import "strings"

// row is one row of a benchmark: the flags it adds to the command.
type row struct {
	label string
	args  []string
	at    position
}

// expandRows is the product of the flags' values, the first flag varying
// slowest. The label joins the values with "/" ("22 MB/8").
func expandRows(flags []rowFlag) []row {
	if len(flags) == 0 {
		return []row{{label: NoRow}}
	}
	rows := []row{{}}
	for _, f := range flags {
		var next []row
		for _, r := range rows {
			for i := range f.values {
				next = append(next, r.with(f.flag.value, f.labels[i], f.values[i]))
			}
		}
		rows = next
	}
	return rows
}

// with adds a flag and its value. A value may go on with more flags ("4 -j 4").
func (r row) with(flag string, label, value text) row {
	labels := []string{label.value}
	if r.label != "" {
		labels = []string{r.label, label.value}
	}
	args := append(r.args[:len(r.args):len(r.args)], flag)
	args = append(args, strings.Fields(value.value)...)
	return row{label: strings.Join(labels, "/"), args: args, at: value.at}
}

// quickRows replaces the values of the flags that quick names.
func quickRows(flags, quick []rowFlag) []rowFlag {
	replaced := append([]rowFlag{}, flags...)
	for i := range replaced {
		for _, q := range quick {
			if q.flag.value == replaced[i].flag.value {
				replaced[i] = q
			}
		}
	}
	return replaced
}

func rowLabels(rows []row) []string {
	labels := make([]string, len(rows))
	for i := range rows {
		labels[i] = rows[i].label
	}
	return labels
}
