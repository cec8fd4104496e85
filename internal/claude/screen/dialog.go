package screen

import (
	"cmp"
	"slices"

	"nbs-worker/internal/claude/live"
)

// Dialog is a question of claude to a person.
type Dialog string

// The first-run dialogs. While one is open there is no registry entry. Onboarding and Login cannot be answered
// beforehand.
const (
	DialogTrust      Dialog = "trust"
	DialogAddDir     Dialog = "add-dir" // for --add-dir of a folder that is not trusted; since 2.1.329, at each start
	DialogAPIKey     Dialog = "api-key"
	DialogBypass     Dialog = "bypass-warning"
	DialogOnboarding Dialog = "onboarding"
	DialogLogin      Dialog = "login"
)

// The other dialogs at a start. They too appear before there is a registry entry.
const (
	DialogConfig   Dialog = "configuration" // .claude.json cannot be read
	DialogSettings Dialog = "settings"      // a settings file is not valid, or a rule in it
	DialogMCP      Dialog = "mcp-server"    // the project brings a server that was not approved yet
	DialogImports  Dialog = "imports"       // a CLAUDE.md imports a file from outside the project
)

// The dialogs of a conversation.
const (
	DialogPermission Dialog = "permission"
	DialogQuestion   Dialog = "question"  // of the model, by its tool AskUserQuestion
	DialogAutoMode   Dialog = "auto-mode" // actions cannot be checked behind a gateway
	DialogResume     Dialog = "resume"    // which conversation to go on with
	DialogOther      Dialog = "other"     // a menu, such as that of /model
)

var questions = map[Dialog]string{
	DialogTrust:      "whether it trusts the folder",
	DialogAddDir:     "whether it trusts a folder of --add-dir",
	DialogAPIKey:     "whether to use the API key of the environment",
	DialogBypass:     "whether to bypass permissions",
	DialogOnboarding: "for its first-time setup",
	DialogLogin:      "for a login",
	DialogConfig:     "what to do about its configuration, which cannot be read",
	DialogSettings:   "what to do about an error in a settings file",
	DialogMCP:        "whether to use an MCP server of the project",
	DialogImports:    "whether CLAUDE.md may import files from outside the project",
	DialogPermission: "for a permission",
	DialogQuestion:   "a question",
	DialogAutoMode:   "whether to stay in auto mode",
	DialogResume:     "which conversation to resume",
	DialogOther:      "for a choice in a menu",
}

// Question returns in a few words what a dialog asks.
func (d Dialog) Question() string { return cmp.Or(questions[d], string(d)) }

// Waits returns what a claude with the dialog open waits for, in the words of its registry if it has any.
func (d Dialog) Waits() string {
	switch d {
	case DialogPermission:
		return live.PermissionPrompt
	case DialogQuestion:
		return live.InputNeeded
	case DialogOther:
		return "dialog open"
	default:
		return string(d) + " dialog"
	}
}

var atStart = []Dialog{
	DialogTrust, DialogAddDir, DialogAPIKey, DialogBypass, DialogOnboarding, DialogLogin, DialogConfig, DialogSettings, DialogMCP, DialogImports,
}

// AtStart reports whether the dialog appears only at a start of claude.
func (d Dialog) AtStart() bool { return slices.Contains(atStart, d) }

// NotLoggedIn reports whether a screen says that no user is logged in.
func NotLoggedIn(screen string) bool { return Read(screen).Trouble == TroubleNotLoggedIn }
