package conversation

import (
	"errors"
	"io/fs"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// checkFolder refuses a turn in a folder of a conversation begun by another agent of the same name, and an agent's turn
// with other rights than those of the conversation. It also refuses a first turn in a folder that Claude does not trust
// yet: without a terminal, Claude does not ask and runs the folder's hooks and servers. Errors: Held.
func (e *Engine) checkFolder(c *conversations.Conversation, say *Say) error {
	meta, begun := say.Meta, false
	state, err := c.State()
	switch {
	case err == nil && say.Fork == "": // otherwise the folder is the agent's
		meta, begun = state.Meta, state.Session.Confirmed && !say.Isolated
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := checkRights(&state, say); err != nil {
		return err
	}
	if powers := say.Powers; powers != nil && (powers.Cwd != meta.Cwd || powers.ConfigDir != meta.ConfigDir) {
		return fail.Errorf(fail.Held, "the conversation uses another folder or Claude configuration than %s", powers.Agent).
			Hint("begin a conversation under another key")
	}
	if begun {
		return nil
	}
	return e.CheckTrust(&meta)
}

// CheckFounding refuses new conversations here if Claude does not trust the folder yet. Errors: Held.
func (e *Engine) CheckFounding() error {
	meta, err := e.Founding()
	if err != nil {
		return err
	}
	return e.CheckTrust(&meta)
}

// CheckTrust refuses a folder that Claude does not trust yet. Errors: Held.
func (e *Engine) CheckTrust(meta *conversations.Meta) error {
	folder := meta.Cwd
	config, err := claude.ConfigAt(meta.ConfigDir)
	if err != nil {
		return err
	}
	first, err := config.ReadFirstStart(folder, e.Project.Variable)
	if err != nil || first.Trusted {
		return err
	}
	return fail.Errorf(fail.Held, "Claude does not trust the folder %s yet; a turn there would run the hooks and MCP servers that it holds", human.Quote(folder)).
		Hint("look at what is in it, start claude there once, and answer yes: cd %s && claude", human.ShellWord(folder)).
		Hint("or trust it with a new agent: nbs-worker spawn HANDLE --cwd %[1]s --trust=%[1]s", human.ShellWord(folder))
}
