package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Suggestions for wrong input.

// OtherNames maps a command line to the words that other tools use for it. A word that is one letter away from a verb,
// such as top from stop, is listed too if it means something different.
var OtherNames = map[string][]string{
	"list":                          {"ps", "status", "agents"},
	"list --usage":                  {"top", "usage", "stats", "metrics"},
	"dash":                          {"dashboard", "ui", "tui", "gui", "monitor"},
	"watch":                         {"follow", "guard", "supervise"},
	"send HANDLE TEXT":              {"say", "message", "prompt", "reply", "talk", "chat"},
	"send --all TEXT":               {"broadcast"},
	"send HANDLE TEXT --wait-reply": {"task"},
	"interrupt HANDLE":              {"esc", "cancel", "abort"},
	"outbox list":                   {"queue"},
	"requests":                      {"asks", "questions", "pending", "approvals"},
	"approve HANDLE":                {"accept", "yes", "permit", "grant"},
	"deny HANDLE":                   {"reject", "refuse", "no", "decline"},
	"answer HANDLE CHOICE":          {"choose", "select"},
	"spawn HANDLE":                  {"new", "create", "launch", "init", "setup"},
	"spawn HANDLE, or for an existing agent: nbs-worker resume HANDLE": {"start"},
	"resume HANDLE":                 {"wake"},
	"resume HANDLE --force":         {"respawn", "reload"},
	"resume HANDLE --force --fresh": {"clear"},
	"stop HANDLE":                   {"kill", "end", "quit", "exit", "terminate", "halt"},
	"stop --all":                    {"shutdown"},
	"pause":                         {"freeze", "suspend"},
	"dismiss HANDLE":                {"rm", "remove", "delete"},
	"session HANDLE":                {"show", "info", "inspect", "view"},
	"logs HANDLE":                   {"log", "tail", "cat", "output", "read", "transcript"},
	"screen HANDLE":                 {"peek", "look"},
	"events":                        {"history", "journal"},
	"doctor":                        {"check"},
	"triage":                        {"health", "diagnose"},
	"recover --all":                 {"heal"},
	"recover HANDLE":                {"repair", "fix"},
	"set HANDLE model=opus":         {"config", "model", "mode"},
	"fork HANDLE NEW":               {"clone", "branch"},
	"rename HANDLE NEW":             {"mv"},
	"schedule list":                 {"cron", "timer"},
	"next":                          {"goto", "jump", "inbox", "needs"},
	"help exit-codes":               {"codes", "code", "exitcodes", "exit-code", "errors"},
	"attach HANDLE":                 {"enter", "open", "focus", "switch", "join", "connect", "fg", "login"},
}

// NoVerb maps words for what nbs-worker does not do to how it is done.
var NoVerb = map[string]string{
	"git": gitHint, "commit": gitHint, "push": gitHint, "pr": gitHint,
	"detach": "in an agent's terminal, press Ctrl-b and then d",
}

const gitHint = "nbs-worker does not run git; to see an agent's folder: nbs-worker session HANDLE; then: git -C FOLDER diff"

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
		if _, err := strconv.Atoi(typed); err == nil {
			return "what the exit codes mean: nbs-worker help exit-codes"
		}
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
