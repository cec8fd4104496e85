package ui

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

// Suggestions for wrong input.

// OtherNames maps a command line to the words that other tools use for it. A word that is one letter away from a verb,
// such as top from stop, is listed too if it means something different.
var OtherNames = map[string][]string{
	"list":                          {"ps", "status", "agents", "cost", "costs"},
	"list --usage":                  {"top", "usage", "stats", "metrics"},
	"watch":                         {"dashboard", "ui", "tui", "monitor", "follow"},
	"send HANDLE TEXT":              {"tell", "say", "message", "prompt", "reply", "talk", "chat"},
	"send --all TEXT":               {"broadcast"},
	"send HANDLE TEXT --wait-reply": {"ask", "task"},
	"interrupt HANDLE":              {"esc", "cancel", "abort"},
	"outbox list":                   {"queue"},
	"spawn HANDLE":                  {"new", "create", "launch", "init", "setup"},
	"spawn HANDLE, or for an existing agent: nbs-worker resume HANDLE": {"start"},
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

// NoVerb maps words for what nbs-worker does not do to how it is done.
var NoVerb = map[string]string{
	"approve": answerHint, "answer": answerHint, "accept": answerHint, "deny": answerHint, "reject": answerHint, "yes": answerHint, "no": answerHint,
	"rename": renameHint, "mv": renameHint,
	"diff": gitHint, "git": gitHint, "commit": gitHint, "push": gitHint, "pr": gitHint, "worktree": gitHint,
	"detach": "in an agent's terminal, press Ctrl-b and then d",
}

const (
	renameHint = "an agent cannot be renamed; to continue its conversation under another name, with the ID that session shows: nbs-worker dismiss OLD --keep, " +
		"nbs-worker spawn NEW --session-id ID"
	answerHint = "questions are answered in the agent's terminal: nbs-worker attach HANDLE"
	gitHint    = "nbs-worker does not run git; to see an agent's folder: nbs-worker session HANDLE; then: git -C FOLDER diff"
)

// ErrUnknownCommand returns the error for words that do not begin with a command of parent.
func ErrUnknownCommand(parent *cobra.Command, words ...string) error {
	hint := suggestion(parent, words[0])
	if len(words) > 1 {
		if handle, err := agent.ParseHandle(words[1]); err == nil {
			if words[0] == "status" {
				hint = "did you mean: nbs-worker session HANDLE" // for one agent; without a handle it is list
			}
			hint = strings.ReplaceAll(hint, "HANDLE", string(handle))
		}
	}
	return fail.Errorf(fail.BadInput, "unknown command %s", human.Quote(words[0])).Hint("%s", hint)
}

// suggestion returns what to type instead of an unknown command of parent.
func suggestion(parent *cobra.Command, typed string) string {
	if !parent.HasParent() {
		for ours, words := range OtherNames {
			if slices.Contains(words, typed) {
				return "did you mean: nbs-worker " + ours
			}
		}
		if hint := NoVerb[typed]; hint != "" {
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

// hintsOf returns the remedies of an error. For an unknown handle it adds this command line with the handle that was
// probably meant. A resume that is to be repeated with --force keeps its other flags.
func (f *Factory) hintsOf(err error) []string {
	hints := fail.HintsOf(err)
	if absent, ok := errors.AsType[*store.AbsentError](err); ok && absent.Near != "" {
		hints = append([]string{"did you mean: " + f.lineFor(absent.Handle, absent.Near)}, hints...)
	}
	if slip, ok := errors.AsType[*agent.SlipError](err); ok {
		if near, exactly := f.lineWith(slip.Name, slip.Near), f.lineWith(slip.Name, slip.Exactly); near != exactly { // it is on this line
			hints = append(hints, "did you mean: "+near, "or, if there is such a model: "+exactly)
		}
	}
	const again, force = "nbs-worker resume ", " --force"
	for i, hint := range hints {
		before, rest, isResume := strings.Cut(hint, again)
		handle, isForced := strings.CutSuffix(rest, force)
		if f.Verb == "resume" && fail.KindOf(err) == fail.Conflict && isResume && isForced { // nothing was started
			hints[i] = before + f.lineFor(agent.Handle(handle), agent.Handle(handle)) + force
		}
	}
	return hints
}

// lineWith returns this command line with one value replaced.
func (f *Factory) lineWith(old, value string) string {
	words := []string{"nbs-worker"}
	for i := 0; i < len(f.Args); i++ {
		arg := f.Args[i]
		switch {
		case isGlobal(arg):
			i += globalWords(arg) - 1 // hints add it anyway
			continue
		case arg == old:
			arg = value
		case strings.HasSuffix(arg, "="+old):
			arg = strings.TrimSuffix(arg, old) + value
		}
		words = append(words, LineQuote(arg))
	}
	return strings.Join(words, " ")
}

// LineJoining returns this command line with the given words after one of its words joined into one.
func (f *Factory) LineJoining(before string, words []string) string {
	line, left, begun := []string{"nbs-worker"}, words, false
	for i := 0; i < len(f.Args); i++ {
		arg := f.Args[i]
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
		line = append(line, LineQuote(arg))
	}
	return strings.Join(line, " ")
}

// isGlobal reports whether an argument is a flag that selects the project or the tmux server.
func isGlobal(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--root" || name == "--tmux-socket"
}

// globalWords returns how many arguments such a flag takes, with its value.
func globalWords(arg string) int {
	if strings.Contains(arg, "=") {
		return 1
	}
	return 2
}

// lineFor returns this command line for only one of its agents, under the given name.
func (f *Factory) lineFor(handle, name agent.Handle) string {
	words, named := []string{"nbs-worker"}, false
	others := slices.DeleteFunc(slices.Clone(f.handles), handle.Same)
	for i := 0; i < len(f.Args); i++ {
		arg := f.Args[i]
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
			words = append(words, LineQuote(arg))
		}
	}
	const verb = 2 // words
	if !named {
		words = slices.Insert(words, min(verb, len(words)), string(name))
	}
	return strings.Join(words, " ")
}
