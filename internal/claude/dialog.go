package claude

import "strings"

// Dialog is a first-run dialog at which claude waits for a person. While one is
// open there is no registry entry.
type Dialog string

// The dialogs. Onboarding and Login have no answer that could be given beforehand.
const (
	DialogTrust      Dialog = "trust"
	DialogAddDir     Dialog = "add-dir" // for --add-dir of a folder that is not trusted; since 2.1.329, at each start
	DialogAPIKey     Dialog = "api-key"
	DialogBypass     Dialog = "bypass-warning"
	DialogOnboarding Dialog = "onboarding"
	DialogLogin      Dialog = "login"
)

// Question says in a few words what a dialog asks.
func (d Dialog) Question() string {
	switch d {
	case DialogTrust:
		return "whether it trusts the folder"
	case DialogAddDir:
		return "whether it trusts a folder of --add-dir"
	case DialogAPIKey:
		return "whether to use the API key of the environment"
	case DialogBypass:
		return "whether to bypass permissions"
	case DialogOnboarding:
		return "for its first-time set-up"
	case DialogLogin:
		return "for a login"
	}
	return string(d)
}

// dialogTitles are the first words of what stands below the dialog's rule.
var dialogTitles = []struct {
	dialog Dialog
	title  string
}{
	{DialogTrust, "Accessing workspace:"},
	{DialogAddDir, "Adding a new directory:"},
	{DialogAPIKey, "Detected a custom API key in your environment"},
	{DialogBypass, "WARNING: Claude Code running in Bypass Permissions mode"},
	{DialogLogin, "Select login method"},
	{DialogLogin, "Claude Code can be used with your Claude subscription"},
	{DialogOnboarding, "Choose the text style that looks best"},
	{DialogOnboarding, "Let's get started."},
}

// ReadDialog recognises a first-run dialog on a screen. A screen that only contains
// a dialog's words is none: the title must begin a line in the last block of the
// screen, and where the dialog has its own footer, the screen must end with it.
func ReadDialog(screen string) (Dialog, bool) {
	block := lastBlock(screen)
	for _, known := range dialogTitles {
		for _, line := range block {
			if strings.HasPrefix(line, known.title) && answerable(known.dialog, block) {
				return known.dialog, true
			}
		}
	}
	return "", false
}

// answerable tells whether the block ends as the dialog does.
func answerable(dialog Dialog, block []string) bool {
	if dialog == DialogLogin || dialog == DialogOnboarding {
		return true
	}
	return strings.HasPrefix(block[len(block)-1], "Enter to confirm")
}

// lastBlock returns the lines, trimmed and without empty ones, below the last rule
// that runs across the screen.
func lastBlock(screen string) []string {
	var block []string
	for line := range strings.Lines(screen) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "────────────────────"):
			block = nil
		case line != "":
			block = append(block, line)
		}
	}
	return block
}

// NotLoggedIn tells whether the footer of a screen says that nobody is logged in.
// Claude looks idle then and answers no prompt. Version 2.1.329 says so only for the
// first seconds.
func NotLoggedIn(screen string) bool {
	for _, line := range lastBlock(screen) {
		if strings.HasSuffix(strings.ToLower(line), "not logged in · run /login") {
			return true
		}
	}
	return false
}
