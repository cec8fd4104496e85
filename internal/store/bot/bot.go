// Package bot keeps what nbs-worker serve setup has asked: the file .nbs/telegram.json, which nbs-worker serve reads, and
// the bot's token in the user's state folder.
//
//   - The file decides who may speak to Claude and what Claude may do, so it counts only with the user's seal, in this
//     project. One that came with a project is an error that names the file and the remedy.
//   - The token is never in a project. Its file is for this user alone.
//
// The package knows files and seals, and no chat.
package bot

import (
	"errors"
	"fmt"
	"io/fs"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
)

const (
	// Folder has the tokens, below the user's state folder.
	Folder = "telegram"

	fileName  = "telegram.json"
	fileLimit = 1 << 18 // bytes; a system prompt fits
	schema    = 1
)

// Bot is how a project's bot is set up.
type Bot struct {
	Username  string  `json:"username"` // without @
	TokenFile string  `json:"token_file"`
	Chats     []int64 `json:"chats"`
	Writers
	GroupCommands bool   `json:"group_commands,omitempty"` // Agents is all: written by earlier versions
	URL           string `json:"url,omitempty"`            // of the Bot API; "": Telegram's own

	conversations.Rights      // of the turns of all chats
	Permitted            bool `json:"permitted,omitempty"` // the person was asked for the rights

	Settings
	Answerers Answerers `json:"answerers,omitzero"`
	Agents    Reach     `json:"agents,omitempty"` // "": the person was not asked
}

// Reach returns where the commands work that reach agents and files. Before a person was asked they work nowhere: everyone
// in a chat has the user's rights through them.
func (b *Bot) Reach() Reach {
	switch {
	case b.Agents != "":
		return b.Agents
	case b.GroupCommands:
		return ReachAll
	}
	return ReachNone
}

// Drawer keeps the bot of one project.
type Drawer struct {
	nbs    *sealed.Folder
	tokens private.Tree
}

// In returns the bot of the .nbs folder of a project. tokens is the folder of the tokens.
func In(nbs *sealed.Folder, tokens private.Tree) *Drawer { return &Drawer{nbs, tokens} }

// kept is the file.
type kept struct {
	Schema int    `json:"schema"`
	Bot    Bot    `json:"bot"`
	Seal   string `json:"seal"`
}

func (k *kept) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "bot", Place: fileName, Content: k.Bot, Field: "bot", Seal: &k.Seal}
}

// Path returns the absolute path of the file.
func (d *Drawer) Path() string { return d.nbs.Path(fileName) }

// Put records how the bot is set up, durably.
func (d *Drawer) Put(b Bot) error {
	if err := d.nbs.Put(".", fileName, &kept{Schema: schema, Bot: b}, fileLimit); err != nil {
		return fmt.Errorf("record the bot: %w", err)
	}
	return nil
}

// Get returns how the bot is set up. Errors: NotFound when it is not; as of [sealed.Folder.Refused].
func (d *Drawer) Get() (Bot, error) {
	const setup = "nbs-worker serve setup telegram"
	var read kept
	switch err := d.nbs.Get("", fileName, &read, fileLimit); {
	case errors.Is(err, fs.ErrNotExist):
		return Bot{}, fail.Errorf(fail.NotFound, "no bot is set up in this project").Hint(setup)
	case err != nil:
		return Bot{}, d.nbs.Refused(fileName, "", err, "look at it; to set the bot up again: "+setup)
	case read.Schema > schema:
		return Bot{}, fail.Errorf(fail.Unfit, "%s has format %d, and this program knows %d: a later version wrote it", d.nbs.Label(fileName), read.Schema, schema).
			Hint("use that version")
	}
	return read.Bot, nil
}

// KeepToken writes a token into the file of a bot, durably, and returns its path.
func (d *Drawer) KeepToken(username string, token []byte) (path string, err error) {
	name := username + ".token"
	return d.tokens.Path(name), d.tokens.Write(name, token)
}
