package telegram

import (
	"context"
	"strings"
	"unicode"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

const help = `I pass on what you write to Claude, one message after the other.

/stop or !: stop what Claude is doing; the conversation goes on
/new or /restart: begin a new conversation; the old one is kept
/new now: the same, and do not wait for Claude's answer
/status: how this conversation is`

const teamHelp = help + `
/file PATH: get a file of the project
/agents: who is in the team
/send HANDLE TEXT: write to an agent
/resume HANDLE: bring an agent back`

// command reports whether a text is a command of this bot, and returns its name and the rest. Any other text is for
// Claude, even if it begins with a slash. For a command to another bot of the group, name is empty.
func (b *Bridge) command(text string) (name, rest string, is bool) {
	word, rest := firstWord(text)
	if word == "!" && rest == "" {
		return "/stop", "", true
	}
	name, bot, isNamed := strings.Cut(word, "@")
	switch name {
	case "/start", "/new", "/restart", "/stop", "/status", "/file", "/agents", "/send", "/resume", "/help":
		if isNamed && !strings.EqualFold(bot, b.me.Name) {
			return "", "", true
		}
		return name, rest, true
	}
	return "", "", false
}

// commandOf is command for a message. The caption of a file is none, and neither is an edit.
func (b *Bridge) commandOf(m *incoming) (name, rest string, is bool) {
	if m.isEdit || m.message.hasFile() {
		return "", "", false
	}
	return b.command(m.Text)
}

func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], strings.TrimSpace(text[end:])
	}
	return text, ""
}

// obey runs a command, and sends its reply. The error is the context's: then the command may not have run.
func (b *Bridge) obey(ctx context.Context, c *chat, m incoming, name, rest string) error {
	var reply string
	var err error
	switch name {
	case "":
		return nil
	case "/help":
		if reply = teamHelp; m.group && !b.InGroups {
			reply = help
		}
	case "/start", "/new", "/restart":
		m.awaitStop(ctx)
		reply, err = b.reset(ctx, c, m.ID)
	case "/status":
		reply, err = b.Chats.Status(ctx, c.key)
	case "/file":
		reply, err = b.giveFile(ctx, c, m, rest)
	default:
		stop := b.typing(ctx, c.place)
		reply, err = b.teamCommand(ctx, m, name, rest)
		stop()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.log("%s in %s: %v", name, c.place, err)
		said := []string{name + " did not work: " + b.words(err) + "."}
		for _, hint := range fail.HintsOf(err) {
			said = append(said, "hint: "+hint)
		}
		reply = strings.Join(said, "\n")
	}
	if reply == "" { // a file was sent
		return nil
	}
	return b.say(ctx, c, b.Token.hide(reply))
}

func offInGroups(name string) string {
	return name + " is off in groups. Whoever runs the bot can switch it on: nbs-worker serve --telegram-group-commands"
}

func (b *Bridge) teamCommand(ctx context.Context, m incoming, name, rest string) (string, error) {
	handle, text := firstWord(rest)
	switch {
	case m.group && !b.InGroups:
		return offInGroups(name), nil
	case name == "/agents":
		return b.Team.Agents(ctx)
	case name == "/send" && handle != "" && text != "":
		return b.Team.Send(ctx, handle, m.ID, text)
	case name == "/resume" && handle != "" && text == "":
		return b.Team.Resume(ctx, handle)
	case name == "/send":
		return "Write: /send HANDLE TEXT", nil
	}
	return "Write: /resume HANDLE", nil
}

// reset begins a new conversation after the earlier messages were answered. Messages after the command belong to the
// new conversation, messages before it do not. A message that is held does not delay a reset.
func (b *Bridge) reset(ctx context.Context, c *chat, id string) (string, error) {
	c.mu.Lock()
	ahead, held := len(c.waiting), c.held
	c.mu.Unlock()
	if ahead > 0 && !held {
		if err := b.say(ctx, c, "Queued: "+human.Count(ahead, "message")+" before the reset. It is done after that."); err != nil {
			return "", err
		}
	}
	c.change(func() { c.resetting = true })
	free := c.await(ctx, func() bool { return len(c.waiting) == 0 || c.held })
	c.change(func() { c.resetting = false })
	if !free {
		return "", ctx.Err()
	}
	previous, err := b.Chats.Reset(ctx, c.key, id)
	switch {
	case err != nil:
		return "", err
	case previous == "":
		return "Starting fresh.", nil
	}
	return "Starting fresh; the old conversation is kept as " + previous + ".", nil
}
