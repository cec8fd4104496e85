package claude

import (
	"encoding/json"
	"slices"
	"strings"
)

// hookTimeout is how long claude waits for a hook of ours, in seconds; it goes on without.
const hookTimeout = 10

// reported are the events of which an agent's claude tells us. A permission that was
// granted shows only when its tool has ended.
var reported = []string{
	"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "PermissionRequest", "Notification",
	"PostToolUse", "PostToolUseFailure", "PreCompact", "PostCompact", "SessionEnd",
}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// Closed are folders that the file tools of an agent are kept out of, in each permission mode.
// What its shell may do is for Claude's sandbox and for the user to say.
type Closed struct {
	Edits []string // nothing in them is edited
	All   []string // nothing in them is read either
}

type permissions struct {
	Deny []string `json:"deny"`
}

// rules are the permission rules that say so.
func (c Closed) rules() permissions {
	p := permissions{Deny: []string{}}
	for _, folder := range append(slices.Clone(c.Edits), c.All...) {
		p.Deny = append(p.Deny, "Edit("+below(folder)+")")
	}
	for _, folder := range c.All {
		p.Deny = append(p.Deny, "Read("+below(folder)+")")
	}
	return p
}

// below is the pattern of all that is in a folder. In place of characters that mean something
// in a pattern, or in a rule, it has the one that stands for any: how they are escaped depends
// on Claude's version.
func below(folder string) string {
	return "/" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}()!#\\ ", r) || r < ' ' {
			return '?'
		}
		return r
	}, folder) + "/**"
}

// Settings is what every agent is started with, in addition to the user's own settings
// files, which are not touched: hooks and a status line through which claude reports to
// the program, nbs-worker's path, and rules that keep it out of what is closed to it. The
// warning that they skip would otherwise hold an agent whose mode is bypassPermissions until
// somebody answers. Of the status line ours names the command only: the fields that are missing here, such as padding, Claude takes from the user's.
func Settings(program string, closed Closed) string {
	hooks := make(map[string][]hookGroup, len(reported))
	for _, event := range reported {
		quiet := " >/dev/null"
		if event == "SessionStart" {
			quiet = "" // what it prints the model is told: the briefing of a start
		}
		hooks[event] = []hookGroup{{Hooks: []hookCommand{{Type: "command", Command: reporting(program, "hook", quiet), Timeout: hookTimeout}}}}
	}
	text, _ := json.Marshal(struct { // of strings and numbers: it cannot fail
		SkipBypassWarning bool                   `json:"skipDangerousModePermissionPrompt"`
		Hooks             map[string][]hookGroup `json:"hooks"`
		StatusLine        hookCommand            `json:"statusLine"`
		Permissions       permissions            `json:"permissions"`
	}{true, hooks, hookCommand{Type: "command", Command: reporting(program, "statusline", "")}, closed.rules()})
	return plain(string(text))
}

// plain undoes what the encoder does to be safe within HTML.
func plain(text string) string {
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(text)
}

// reporting is the shell command by which claude calls us. A program that was moved or
// removed must not fail the agent: then the one on the PATH is called, or none.
func reporting(program, verb, redirect string) string {
	call := verb + redirect + " 2>/dev/null || "
	own := ""
	if program != "" {
		own = "'" + strings.ReplaceAll(program, "'", `'\''`) + "' " + call
	}
	return own + "nbs-worker " + call + ":"
}
