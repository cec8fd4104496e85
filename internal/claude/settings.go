package claude

import (
	"encoding/json"
	"slices"
	"strings"
)

// hookTimeout is how long claude waits for a hook of ours, in seconds; then it goes on without it.
const hookTimeout = 10

// answersTimeout is the same for the hook that waits for an answer to a dialog: a minute more than it waits by itself.
// 2.1.197 ends a hook at once whose timeout does not fit into 31 bits of milliseconds.
const answersTimeout = 12*60*60 + 60

// reported are the events for which an agent's claude calls our hook. A granted permission shows only when its tool
// has ended.
var reported = []string{
	"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "PermissionRequest", "Notification",
	"PostToolUse", "PostToolUseFailure", "PreCompact", "PostCompact", "SessionEnd",
}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

// hookFor returns the hook of an event.
func hookFor(program, event string, answers bool) hookCommand {
	call, quiet, timeout := "hook", " >/dev/null", hookTimeout
	switch {
	case event == "SessionStart":
		quiet = "" // its output goes to the model: the briefing of a start
	case event == "PermissionRequest" && answers:
		call, quiet, timeout = "hook --answers", "", answersTimeout
	}
	return hookCommand{Type: "command", Command: reporting(program, call, quiet), Timeout: timeout}
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// Closed are folders that the file tools of an agent may not use, in any permission mode. Claude's sandbox and the
// user decide what its shell may do.
type Closed struct {
	Edits []string // nothing in them is edited
	All   []string // nothing in them is read either
}

// Permissions are the permission rules in Claude's settings.
type Permissions struct {
	Deny []string `json:"deny"`
}

// Rules returns the permission rules that close the folders.
func (c Closed) Rules() Permissions {
	p := Permissions{Deny: []string{}}
	for _, folder := range append(slices.Clone(c.Edits), c.All...) {
		p.Deny = append(p.Deny, "Edit("+below(folder)+")")
	}
	for _, folder := range c.All {
		p.Deny = append(p.Deny, "Read("+below(folder)+")")
	}
	return p
}

// below returns the pattern that matches everything in a folder. It replaces each character with a meaning in a
// pattern or a rule by '?', which matches any character: how to escape it depends on Claude's version.
func below(folder string) string {
	return "/" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}()!#\\ ", r) || r < ' ' {
			return '?'
		}
		return r
	}, folder) + "/**"
}

// Settings returns the value of --settings for every agent. It adds to the user's own settings files and does not
// change them. It sets hooks and a status line through which claude reports to program, the path of nbs-worker, and
// rules that keep the agent out of the closed folders. It skips the warning that would hold an agent in mode
// bypassPermissions until a person answers. It turns off features that change the prompt: vim's keys, in which Escape
// does not interrupt, and the drawing for screen readers. It keeps the conversation and the hold on a usage limit in the
// user's hand: claude does not compact an idle conversation, nor go on by itself after a limit, except as chosen. Of the
// status line it sets only the command: Claude takes the other fields, such as padding, from the user's. With answers, a
// hook waits beside each dialog for an answer.
func Settings(program string, closed Closed, chosen Chosen, answers bool) string {
	hooks := make(map[string][]hookGroup, len(reported))
	for _, event := range reported {
		hooks[event] = []hookGroup{{Hooks: []hookCommand{hookFor(program, event, answers)}}}
	}
	text, _ := json.Marshal(struct { // of strings and numbers: it cannot fail
		SkipBypassWarning bool                   `json:"skipDangerousModePermissionPrompt"`
		EditorMode        string                 `json:"editorMode"`
		ScreenReader      bool                   `json:"axScreenReader"`
		Env               map[string]string      `json:"env"`
		Hooks             map[string][]hookGroup `json:"hooks"`
		StatusLine        hookCommand            `json:"statusLine"`
		Permissions       Permissions            `json:"permissions"`
		byItself
	}{true, "normal", false, map[string]string{ScreenReaderVariable: "0"}, hooks, hookCommand{Type: "command", Command: reporting(program, "statusline", "")}, closed.Rules(), chosen.rest()})
	return plain(string(text))
}

// plain undoes the encoder's escapes for HTML.
func plain(text string) string {
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(text)
}

// reporting returns the shell command with which claude calls us. A program that was moved or removed must not fail
// the agent: then the command calls the one on the PATH, or none.
func reporting(program, verb, redirect string) string {
	call := verb + redirect + " 2>/dev/null || "
	own := ""
	if program != "" {
		own = "'" + strings.ReplaceAll(program, "'", `'\''`) + "' " + call
	}
	return own + "nbs-worker " + call + ":"
}
