package doctor

import (
	"context"
	"fmt"
	"slices"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
)

// promptKeys finds settings of the user that keep typed messages from working in Claude's prompt.
func (d *examination) promptKeys(_ context.Context) (all findings) {
	var said []string // files
	look := func(config claude.Config, adopted string) {
		file := config.KeybindingsFile()
		if !slices.Contains(said, file) {
			said = append(said, file)
			all = append(all, reboundKeys(config)...)
			all = append(all, ownPrompt(config)...)
		}
		if vim, reader := config.OwnPrompt(); adopted != "" && (vim || reader) {
			all.add(Warning, adopted+" was adopted, and its prompt uses vim's keys or is drawn for a screen reader",
				"messages and interrupts may fail there", "when it can be interrupted, restart it: nbs-worker resume "+adopted+" --force")
		}
	}
	if config, err := d.callersConfig(); err == nil {
		look(config, "")
	}
	if d.project.Variable(claude.ScreenReaderVariable) != "" {
		all = append(all, withoutReader(claude.ScreenReaderVariable+" is set here")...)
	}
	live := d.live()
	for _, row := range d.known() {
		if slices.Contains(row.Record.ClaudeArgs, screenReaderFlag) {
			all.add(Warning, fmt.Sprintf("%s is drawn for a screen reader, by its argument %s", row.Handle, screenReaderFlag),
				"nbs-worker cannot read what it shows: messages, interrupts and compactions fail",
				fmt.Sprintf("to restart its conversation without that argument: nbs-worker dismiss %[1]s --keep && nbs-worker spawn %[1]s --session-id %[2]s", row.Handle, row.Record.SessionID))
		}
		if config, err := d.project.ConfigOf(&row.Record); err == nil {
			look(config, adoptedLive(live, row))
		}
	}
	return all
}

const screenReaderFlag = "--ax-screen-reader"

// adoptedLive returns the handle of a running agent that was adopted and runs without our settings; "" for any
// other.
func adoptedLive(live []inspect.Row, row inspect.Row) string {
	runs := slices.ContainsFunc(live, func(l inspect.Row) bool { return l.Handle == row.Handle })
	if runs && row.Record.Process.Adopted != nil {
		return string(row.Handle)
	}
	return ""
}

func reboundKeys(config claude.Config) (all findings) {
	why := map[string]string{
		claude.KeySubmit:    "a typed message would never be submitted: send refuses, and queued messages wait",
		claude.KeyInterrupt: "a turn cannot be interrupted: interrupt refuses",
	}
	for _, rebound := range config.Rebound(claude.KeySubmit, claude.KeyInterrupt) {
		all.add(Warning, fmt.Sprintf("the key %s is bound to %s in Claude's prompt, by %s", rebound.Key, human.Quote(rebound.Action), human.Quote(config.KeybindingsFile())),
			why[rebound.Key], "remove it from the bindings for Chat: ${EDITOR:-vi} "+human.ShellWord(config.KeybindingsFile()))
	}
	return all
}

// ownPrompt reports the user's settings that nbs-worker overrides for its agents.
func ownPrompt(config claude.Config) (all findings) {
	vim, reader := config.OwnPrompt()
	if vim {
		all.add(Note, `Claude's editorMode is "vim" for this user; agents are started with "normal"`,
			"in vim mode Escape leaves the insert mode and does not interrupt")
	}
	if reader {
		all = append(all, withoutReader("Claude draws for a screen reader, by this user's settings")...)
	}
	return all
}

func withoutReader(what string) findings {
	return found(Note, what+"; agents are started without that", "nbs-worker could not read such a screen; it prints screens as plain text itself", "nbs-worker screen HANDLE")
}
