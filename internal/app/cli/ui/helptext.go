package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Help fits a terminal of 80 columns, or a narrower one if its width is known.
const (
	helpWidth  = 80
	leastWidth = 50
)

// PrintHelp prints the help of a command.
func (f *Factory) PrintHelp(cmd *cobra.Command, _ []string) {
	width := helpWidth
	if f.Streams.Width > 0 {
		width = max(leastWidth, min(width, f.Streams.Width))
	}
	fmt.Fprint(cmd.OutOrStdout(), helpOf(cmd, width))
}

// ForPage formats the help of a command for a manual page, which shows indented lines unchanged.
func ForPage(cmd *cobra.Command) {
	const width, own = 73, 2 // of 80, without the page's indent; the first two spaces of a text's block are not shown
	cmd.Long, cmd.Example = filled(cmd.Long, width+own), filledExamples(cmd.Example, width)
}

// helpOf returns the help of a command, in lines of at most width columns.
func helpOf(cmd *cobra.Command, width int) string {
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	help := filled(long, width) + "\n"
	if !cmd.Runnable() && !cmd.HasSubCommands() {
		return help
	}
	usage := cmd.UsageString()
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		if asIs := flags.FlagUsages(); asIs != "" {
			usage = strings.Replace(usage, strings.TrimRight(asIs, " \n"), strings.TrimRight(flags.FlagUsagesWrapped(width), " \n"), 1)
		}
	}
	if cmd.Example != "" {
		usage = strings.Replace(usage, cmd.Example, filledExamples(cmd.Example, width), 1)
	}
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(usage, "\n"), "\n") { // the usage line, the command lists
		out.WriteString(strings.Join(refilled([]string{line}, width), "\n") + "\n")
	}
	return help + "\n" + out.String()
}

// filled wraps paragraphs and indented entries to width columns. Lines that fit do not change.
func filled(text string, width int) string {
	var out, part []string
	flush := func() {
		out, part = append(out, refilled(part, width)...), nil
	}
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			flush()
			out = append(out, "")
			continue
		case len(part) > 0 && (indentOf(part[0]) == 0) != (indentOf(line) == 0), len(part) > 0 && indentOf(line) > 0 && indentOf(line) <= indentOf(part[0]):
			flush()
		}
		part = append(part, line)
	}
	flush()
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// entry matches the first line of an indented entry: a term, and its description.
var entry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^( +\S+(?: \S+)*  +)(\S.*)$`) })

// refilled returns the lines of a paragraph or an entry, each of at most width columns.
func refilled(part []string, width int) []string {
	isWide := func(line string) bool { return columns(line) > width }
	isOfFile := func(line string) bool { return strings.Contains(line, " # ") } // of an example file: its lines matter
	if !slices.ContainsFunc(part, isWide) || slices.ContainsFunc(part, isOfFile) {
		return part
	}
	lead, rest := strings.Repeat(" ", indentOf(part[0])), part[0]
	hang := indentOf(part[0])
	if hang > 0 {
		hang += 4
	}
	if found := entry().FindStringSubmatch(part[0]); found != nil {
		lead, rest = found[1], found[2]
		hang = columns(lead)
	}
	if len(part) > 1 {
		hang = indentOf(part[1])
	}
	words := []string{rest}
	for _, line := range part[1:] {
		words = append(words, strings.TrimLeft(line, " "))
	}
	first := wrapped(strings.Join(words, " "), width-columns(lead))
	lines := []string{lead + first[0]}
	if len(first) > 1 {
		for _, line := range wrapped(strings.Join(first[1:], " "), width-hang) {
			lines = append(lines, strings.Repeat(" ", hang)+line)
		}
	}
	return lines
}

// commented matches an example followed by a comment.
var commented = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*\S.*\S)\s+# (.+)$`) })

// filledExamples wraps examples to width columns. A comment goes above its example, and a command continues on the next
// line in shell syntax.
func filledExamples(examples string, width int) string {
	var out []string
	for _, line := range strings.Split(examples, "\n") {
		if found := commented().FindStringSubmatch(line); found != nil && columns(line) > width {
			line = found[1]
			for _, words := range wrapped(found[2], width-len("  # ")) {
				out = append(out, "  # "+words)
			}
		}
		for columns(line) > width {
			cut := breakOf(line, width-len(" \\"))
			if cut < 0 {
				break
			}
			out, line = append(out, line[:cut]+" \\"), "      "+line[cut+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// breakOf returns the last unquoted space in a command, within width columns; -1 if no space qualifies.
func breakOf(command string, width int) int {
	cut, quote := -1, rune(0)
	for i, r := range command {
		switch {
		case i > width:
			return cut
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'', r == '"':
			quote = r
		case r == ' ' && strings.TrimSpace(command[:i]) != "":
			cut = i
		}
	}
	return cut
}
