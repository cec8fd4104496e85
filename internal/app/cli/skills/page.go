package skills

import (
	_ "embed" // for go:embed
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/skill"
)

// body is the page with places, in double braces, for what the commands say of themselves.
//
//go:embed page.md
var body string

// description has what a task is about for which Claude is to read the page.
const description = "Manage colleagues, which are other Claude Code agents, with the command nbs-worker. " +
	"Use it to start a colleague (agent, worker, teammate) with a task of its own, to see who is there and who needs what, " +
	"to send a colleague a message and get its reply, to wait until it is done, to read what it said, " +
	"to ask a one-off question in a separate conversation, to answer what a colleague asks, " +
	"and to stop, resume, repair or dismiss one. " +
	"Use it also if the project has a folder .nbs, if NBS_HANDLE is set, or if nbs-worker ended with an error."

// width is the width of the page, apart from the description.
const width = 100

var blank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{([^}]+)\}\}`) })

// newPage returns the page of this program.
func newPage(f *ui.Factory) (skill.Page, error) {
	text, err := complete(body, f.Tree(), f.Powers)
	version, _, _ := strings.Cut(f.Version, " ")
	return skill.Page{Description: description, Version: version, Body: text}, err
}

// complete fills the places of a page, and adds to each command what it does. Errors: a command, a flag or a place that
// is not known.
func complete(page string, root *cobra.Command, powers map[string]caller.Rule) (string, error) {
	w := &writer{root: root, powers: powers, said: map[string]bool{}}
	isCode := false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			isCode = line == "```sh"
			w.add(line)
		case isCode:
			w.command(line)
		default:
			filled := blank().ReplaceAllStringFunc(line, func(at string) string { return w.fill(strings.Fields(strings.Trim(at, "{}"))) })
			if strings.HasPrefix(line, "- ") && filled != line {
				filled = ui.Hanging(filled, len("- "), width)
			}
			w.add(filled)
		}
	}
	return strings.Join(w.lines, "\n") + "\n", w.err
}

// writer writes a page.
type writer struct {
	root   *cobra.Command
	powers map[string]caller.Rule
	said   map[string]bool // verbs whose purpose stands in the page
	lines  []string
	err    error // the first one
}

func (w *writer) add(lines ...string) { w.lines = append(w.lines, lines...) }

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// manage marks a command for agents that may manage.
const manage = "manage"

// command adds a command, with a comment of what it does: behind it, or above if the line would be too long.
func (w *writer) command(line string) {
	line, comment, _ := strings.Cut(line, " # ")
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != w.root.Name() {
		w.fail("the page has the command %q", line)
		return
	}
	cmd := w.find(words[1])
	if cmd == nil {
		return
	}
	for _, word := range words {
		if name, is := strings.CutPrefix(word, "--"); is && name != "help" && cmd.Flag(name) == nil {
			w.fail("the page names --%s, which is no flag of %s", name, cmd.Name())
		}
	}
	marked := comment == manage || w.powers[cmd.Name()].Right == caller.Manager
	if comment == "" && !w.said[cmd.Name()] || comment == manage {
		comment = begun(cmd.Short)
	}
	if w.said[cmd.Name()] = true; marked {
		comment = manage + ": " + comment
	}
	switch whole := line + " # " + comment; {
	case comment == "":
		w.add(line)
	case len(whole) > width:
		w.add("# "+comment, line)
	default:
		w.add(whole)
	}
}

// begun returns a sentence as it is continued behind a colon.
func begun(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// find returns a command; nil for an unknown name.
func (w *writer) find(name string) *cobra.Command {
	cmd, rest, err := w.root.Find([]string{name})
	if err != nil || len(rest) > 0 || !cmd.HasParent() {
		w.fail("the page names %q, which is no command", name)
		return nil
	}
	return cmd
}

// fill returns what belongs in a place of the page.
func (w *writer) fill(words []string) string {
	switch what := strings.Join(words, " "); {
	case what == "codes":
		_, codes, _ := strings.Cut(ui.WithCodes("", agent.Mapped(ui.ExitCodes, func(row ui.ExitCode) fail.Kind { return row.Code })...), ":\n")
		return "```text\n" + codes + "\n```"
	case what == "verbs of a person":
		return w.verbs(caller.Person)
	case what == "verbs of a manager":
		return w.verbs(caller.Manager)
	case words[0] == "flags" && len(words) > 2:
		return w.flags(w.find(words[1]), words[2:])
	default:
		w.fail("the page has the place %q", what)
		return ""
	}
}

// flags lists flags of a command, as its help does.
func (w *writer) flags(cmd *cobra.Command, names []string) string {
	var lines []string
	for _, name := range names {
		if cmd == nil {
			break
		}
		flag := cmd.Flag(name)
		if flag == nil {
			w.fail("the page names --%s, which is no flag of %s", name, cmd.Name())
			continue
		}
		lines = append(lines, ui.Hanging("- `--"+name+"`: "+flag.Usage, len("- "), width))
	}
	return strings.Join(lines, "\n")
}

// verbs lists the verbs that need a right.
func (w *writer) verbs(right caller.Right) string {
	var found []string
	for _, verb := range slices.Sorted(maps.Keys(w.powers)) {
		if w.powers[verb].Right == right && !strings.Contains(verb, " ") {
			found = append(found, "`"+verb+"`")
		}
	}
	return strings.Join(found, ", ")
}
