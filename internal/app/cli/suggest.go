package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
)

// What to type in place of what was typed.

// otherNames are the words by which other tools call what a verb does, by the line to type. A word that is one letter
// away from a verb, such as top from stop, is here too when it means something else.
var otherNames = map[string][]string{
	"list":                          {"ps", "status", "agents", "cost", "costs"},
	"list --usage":                  {"top", "usage", "stats", "metrics"},
	"watch":                         {"dashboard", "ui", "tui", "monitor", "follow"},
	"send HANDLE TEXT":              {"tell", "say", "message", "prompt", "reply", "talk", "chat"},
	"send --all TEXT":               {"broadcast"},
	"send HANDLE TEXT --wait-reply": {"ask", "task"},
	"interrupt HANDLE":              {"esc", "cancel", "abort"},
	"outbox list":                   {"queue"},
	"spawn HANDLE":                  {"new", "create", "launch", "init", "setup"},
	"spawn HANDLE, or for an agent that is there nbs-worker resume HANDLE": {"start"},
	"resume HANDLE":                 {"wake"},
	"resume HANDLE --force":         {"restart", "respawn", "reload"},
	"resume HANDLE --force --fresh": {"clear"},
	"resume --down":                 {"up"},
	"stop HANDLE":                   {"kill", "end", "quit", "exit", "terminate", "halt"},
	"stop --all":                    {"down", "shutdown"},
	"pause":                         {"freeze", "suspend"},
	"dismiss HANDLE":                {"rm", "remove", "delete"},
	"session HANDLE":                {"show", "info", "inspect", "view"},
	"logs HANDLE":                   {"log", "tail", "cat", "output"},
	"screen HANDLE":                 {"peek", "look"},
	"events":                        {"history", "journal"},
	"doctor":                        {"check"},
	"triage":                        {"health", "diagnose"},
	"recover --all":                 {"heal"},
	"recover HANDLE":                {"repair", "fix"},
	"set HANDLE model=opus":         {"config", "model", "mode"},
	"ask @HANDLE TEXT --fork":       {"fork", "clone", "branch"},
	"schedule list":                 {"cron", "timer"},
	"attach HANDLE":                 {"enter", "open", "focus", "switch", "join", "connect", "fg", "login"},
}

// noVerb are words for what nbs-worker does not do, and how it is done.
var noVerb = map[string]string{
	"approve": answerHint, "answer": answerHint, "accept": answerHint, "deny": answerHint, "reject": answerHint, "yes": answerHint, "no": answerHint,
	"rename": renameHint, "mv": renameHint,
	"diff": gitHint, "git": gitHint, "commit": gitHint, "push": gitHint, "pr": gitHint, "worktree": gitHint,
	"detach": "in an agent's terminal, press Ctrl-b and then d",
}

const (
	renameHint = "a name stays; to take the conversation over under another one, with the ID that session shows: nbs-worker dismiss OLD --keep, " +
		"nbs-worker spawn NEW --session-id ID"
	answerHint = "a person answers a question in the agent's terminal: nbs-worker attach HANDLE"
	gitHint    = "nbs-worker leaves git to you; to see an agent's folder: nbs-worker session HANDLE; then: git -C FOLDER diff"
)

// errUnknownCommand is the error for words of which the first is no command of parent.
func errUnknownCommand(parent *cobra.Command, words ...string) error {
	hint := suggestion(parent, words[0])
	if len(words) > 1 {
		if handle, err := agent.ParseHandle(words[1]); err == nil {
			if words[0] == "status" {
				hint = "did you mean: nbs-worker session HANDLE" // of one agent; without a handle it is list
			}
			hint = strings.ReplaceAll(hint, "HANDLE", string(handle))
		}
	}
	return fail.Errorf(fail.BadInput, "unknown command %s", human.Quote(words[0])).Hint("%s", hint)
}

// suggestion is what to type in the place of a word that is no command of parent.
func suggestion(parent *cobra.Command, typed string) string {
	if !parent.HasParent() {
		for ours, words := range otherNames {
			if slices.Contains(words, typed) {
				return "did you mean: nbs-worker " + ours
			}
		}
		if hint := noVerb[typed]; hint != "" {
			return hint
		}
	}
	var names []agent.Handle
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, agent.Handle(cmd.Name()))
		}
	}
	if near := agent.Handle(typed).Nearest(names); near != "" {
		return "did you mean: " + parent.CommandPath() + " " + string(near)
	}
	return parent.CommandPath() + " --help"
}

// hintsOf are the remedies of an error. A handle that no agent has is followed by this line for the agent that was
// probably meant. A resume that is to be repeated with --force keeps its other flags.
func (f *factory) hintsOf(err error) []string {
	hints := fail.HintsOf(err)
	if absent, ok := errors.AsType[*store.AbsentError](err); ok && absent.Near != "" {
		hints = append([]string{"did you mean: " + f.lineFor(absent.Handle, absent.Near)}, hints...)
	}
	if slip, ok := errors.AsType[*agent.SlipError](err); ok {
		if near, exactly := f.lineWith(slip.Name, slip.Near), f.lineWith(slip.Name, slip.Exactly); near != exactly { // else it is not on this line
			hints = append(hints, "did you mean: "+near, "or, if there is such a model: "+exactly)
		}
	}
	const again, force = "nbs-worker resume ", " --force"
	for i, hint := range hints {
		before, rest, isResume := strings.Cut(hint, again)
		handle, isForced := strings.CutSuffix(rest, force)
		if f.verb == "resume" && fail.KindOf(err) == fail.Conflict && isResume && isForced { // nothing was begun
			hints[i] = before + f.lineFor(agent.Handle(handle), agent.Handle(handle)) + force
		}
	}
	return hints
}

// lineWith is this command line with a value in the place of another.
func (f *factory) lineWith(old, value string) string {
	words := []string{"nbs-worker"}
	for i := 0; i < len(f.args); i++ {
		arg := f.args[i]
		switch {
		case isGlobal(arg):
			i += globalWords(arg) - 1 // a hint repeats it by itself
			continue
		case arg == old:
			arg = value
		case strings.HasSuffix(arg, "="+old):
			arg = strings.TrimSuffix(arg, old) + value
		}
		words = append(words, lineQuote(arg))
	}
	return strings.Join(words, " ")
}

// lineJoining is this command line with the words that follow one of its words as a single one.
func (f *factory) lineJoining(before string, words []string) string {
	line, left, begun := []string{"nbs-worker"}, words, false
	for i := 0; i < len(f.args); i++ {
		arg := f.args[i]
		switch {
		case isGlobal(arg):
			i += globalWords(arg) - 1
			continue
		case begun && len(left) > 0 && arg == left[0]:
			if left = left[1:]; len(left) > 0 {
				continue
			}
			arg = strings.Join(words, " ")
		}
		begun = begun || arg == before
		line = append(line, lineQuote(arg))
	}
	return strings.Join(line, " ")
}

// isGlobal reports whether an argument is a flag that says on which project or server a command acts.
func isGlobal(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--root" || name == "--tmux-socket"
}

// globalWords is how many arguments such a flag has, with its value.
func globalWords(arg string) int {
	if strings.Contains(arg, "=") {
		return 1
	}
	return 2
}

// lineFor is this command line for one agent of those that it names, under the name that is to stand there.
func (f *factory) lineFor(handle, name agent.Handle) string {
	words, named := []string{"nbs-worker"}, false
	others := slices.DeleteFunc(slices.Clone(f.handles), handle.Same)
	for i := 0; i < len(f.args); i++ {
		arg := f.args[i]
		bare := strings.TrimPrefix(arg, "@")
		other := slices.IndexFunc(others, agent.Handle(arg).Same)
		switch {
		case isGlobal(arg):
			i += globalWords(arg) - 1
		case arg == "--all", arg == "--down":
		case other >= 0:
			others = slices.Delete(others, other, other+1)
		case !named && handle.Same(agent.Handle(bare)):
			named = true
			words = append(words, strings.TrimSuffix(arg, bare)+string(name))
		default:
			words = append(words, lineQuote(arg))
		}
	}
	const verb = 2 // words
	if !named {
		words = slices.Insert(words, min(verb, len(words)), string(name))
	}
	return strings.Join(words, " ")
}
