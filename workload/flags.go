package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// option is one flag of a benchmark, spelled as the real tool spells it: a
// letter, a long name, or both.
type option struct {
	letter string // "g", or "" for none
	long   string // "groups"
	arg    string // "NUM", or "" for a flag without argument
	help   string
	set    func(arg string) error
}

// HelpError is what parsing returns when a command line asks for help.
type HelpError struct {
	Text string
}

func (e *HelpError) Error() string { return e.Text }

// optionSet is the command line of one benchmark.
type optionSet struct {
	tool    string // how messages name it
	options []option
	operand *option // what may stand without a flag, nil: nothing
	// behind are the flags that may follow a "--", nil: there is none.
	behind []option
	dashes bool // an underscore in a long name may be written as a dash, and the other way round
}

// parse applies the arguments that follow the tool's name, in the manner of
// getopt_long: "-g 12", "-g12", "-pP", "--groups=12", "--groups 12".
func (o *optionSet) parse(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--" && o.behind != nil:
			test := optionSet{tool: o.tool + " --", options: o.behind}
			return test.parse(args)
		case arg == "-h" || arg == "--help":
			return &HelpError{Text: o.help()}
		case strings.HasPrefix(arg, "--"):
			args, err = o.parseLong(arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = o.parseLetters(arg[1:], args)
		case o.operand != nil:
			err = o.operand.set(arg)
		default:
			err = fmt.Errorf("unexpected argument %q: there are only flags: %s", arg, o.names())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.tool, err)
		}
	}
	return nil
}

func (o *optionSet) parseLong(text string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(text, "=")
	opt := o.find(func(opt *option) bool { return o.spelled(opt.long) == o.spelled(name) && name != "" })
	if opt == nil {
		return nil, o.unknown("--" + name)
	}
	if opt.arg == "" {
		if hasValue {
			return nil, fmt.Errorf("--%s takes no argument", name)
		}
		return rest, opt.apply("")
	}
	if hasValue {
		return rest, opt.apply(value)
	}
	return opt.applyNext(rest)
}

// parseLetters applies a word of letters, of which the last may have its
// argument in the rest of the word or in the next one.
func (o *optionSet) parseLetters(letters string, rest []string) ([]string, error) {
	for i, r := range letters {
		letter := string(r)
		opt := o.find(func(opt *option) bool { return opt.letter == letter })
		if opt == nil {
			return nil, o.unknown("-" + letter)
		}
		if opt.arg == "" {
			if err := opt.apply(""); err != nil {
				return nil, err
			}
			continue
		}
		if attached := letters[i+len(letter):]; attached != "" {
			return rest, opt.apply(attached)
		}
		return opt.applyNext(rest)
	}
	return rest, nil
}

// spelled is a long name as names are compared.
func (o *optionSet) spelled(name string) string {
	if o.dashes {
		return strings.ReplaceAll(name, "_", "-")
	}
	return name
}

func (o *optionSet) find(matches func(*option) bool) *option {
	for i := range o.options {
		if matches(&o.options[i]) {
			return &o.options[i]
		}
	}
	return nil
}

func (o *optionSet) unknown(flag string) error {
	return fmt.Errorf("there is no flag %s: there are %s", flag, o.names())
}

// names lists the flags on one line.
func (o *optionSet) names() string {
	names := make([]string, len(o.options))
	for i := range o.options {
		names[i] = o.options[i].name()
	}
	return strings.Join(names, ", ")
}

// help lists the flags, one a line.
func (o *optionSet) help() string {
	var b strings.Builder
	if o.operand != nil {
		fmt.Fprintf(&b, "  %-24s %s\n", o.operand.arg, o.operand.help)
	}
	writeHelp(&b, o.options)
	if o.behind != nil {
		fmt.Fprintf(&b, "  %-24s %s\n", "--", "then flags of the test:")
		writeHelp(&b, o.behind)
	}
	return b.String()
}

func writeHelp(b *strings.Builder, options []option) {
	for i := range options {
		opt := &options[i]
		name := opt.name()
		if opt.arg != "" {
			name += " " + opt.arg
		}
		fmt.Fprintf(b, "  %-24s %s\n", name, opt.help)
	}
}

func (opt *option) name() string {
	switch {
	case opt.letter == "":
		return "--" + opt.long
	case opt.long == "":
		return "-" + opt.letter
	}
	return "-" + opt.letter + "/--" + opt.long
}

func (opt *option) apply(arg string) error {
	if err := opt.set(arg); err != nil {
		return fmt.Errorf("%s: %w", opt.name(), err)
	}
	return nil
}

func (opt *option) applyNext(rest []string) ([]string, error) {
	if len(rest) == 0 {
		return nil, fmt.Errorf("%s needs an argument: %s", opt.name(), opt.arg)
	}
	return rest[1:], opt.apply(rest[0])
}

// toInt stores a whole number in [least, most].
func toInt(target *int, least, most int) func(string) error {
	return func(arg string) error {
		n, err := strconv.Atoi(arg)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a whole number from %d to %d", arg, least, most)
		}
		*target = n
		return nil
	}
}

// toInts stores whole numbers in [least, most] that commas separate.
func toInts(target *[]int, least, most int) func(string) error {
	return func(arg string) error {
		var numbers []int
		for _, word := range strings.Split(arg, ",") {
			var n int
			if err := toInt(&n, least, most)(word); err != nil {
				return err
			}
			numbers = append(numbers, n)
		}
		*target = numbers
		return nil
	}
}

// maxRunTime is the longest that a benchmark can be asked to run: an hour, of
// which a simulation takes long enough.
const maxRunTime = time.Hour

// toSeconds stores a time given in seconds as nanoseconds.
func toSeconds(target *int64) func(string) error {
	const longest = int64(maxRunTime / time.Second)
	return func(arg string) error {
		s, err := strconv.ParseFloat(arg, 64)
		if err != nil || math.IsNaN(s) || s < 1e-9 || s > float64(longest) {
			return fmt.Errorf("%q is not a number of seconds from 1e-9 to %d", arg, longest)
		}
		*target = int64(math.Round(s * 1e9))
		return nil
	}
}

func toBool(target *bool, value bool) func(string) error {
	return func(string) error {
		*target = value
		return nil
	}
}

// notSimulated refuses a flag that the real tool has.
func notSimulated(why string) func(string) error {
	return func(string) error { return fmt.Errorf("%s is not simulated: leave the flag out", why) }
}
