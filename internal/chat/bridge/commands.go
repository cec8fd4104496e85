package bridge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// command is a command of the bot. The table of them is its help and its menu.
type command struct {
	name, takes, what string
	also              string // a second name, which the menu does not show
	reaches           bool   // agents or files: off, unless the operator allows it
	isLong            bool   // it may wait for the messages before it, or for the network
	answers           bool   // what agents ask: for those who may, and beside the messages of the chat; see answers.go

	// run carries the command out, and returns the reply; "": it was sent. The error is also the context's: then the
	// command may not have run.
	run func(b *Bridge, ctx context.Context, c *chat, m incoming, rest string) (reply, error)
}

// reply is what a command says.
type reply struct {
	text    string
	choices []Choice // shown as buttons: a press is the command that the choice names
}

func says(text string, err error) (reply, error) { return reply{text: text}, err }

// commands returns the commands, in the order of the menu.
func commands() []command {
	return []command{
		{name: "/stop", also: "!", what: "stop what Claude is doing, as does a message that is only !; the conversation goes on"}, // see urgent.go
		{name: "/new", also: "/restart", takes: "[now]", isLong: true, what: "begin a new conversation, and keep the old one; now: do not wait for Claude's answer", run: (*Bridge).newConversation},
		{name: "/back", isLong: true, what: "go back to the conversation before", run: func(b *Bridge, ctx context.Context, c *chat, m incoming, _ string) (reply, error) {
			return b.goBack(ctx, c, m, "")
		}},
		{name: "/sessions", takes: "[NAME]", isLong: true, what: "list the conversations of this chat, or go back to one", run: (*Bridge).sessions},
		{name: "/name", takes: "NAME", what: "name this conversation, to find it again", run: (*Bridge).rename},
		{name: "/status", what: "how this conversation is", run: func(b *Bridge, ctx context.Context, c *chat, _ incoming, _ string) (reply, error) {
			return says(b.Chats.Status(ctx, c.key))
		}},
		{name: "/model", takes: "[NAME]", what: "show the model, or choose another one", run: func(b *Bridge, ctx context.Context, c *chat, _ incoming, rest string) (reply, error) {
			return says(b.Menu.ChooseModel(ctx, c.key, rest))
		}},
		{name: "/usage", what: "what this chat has cost", run: func(b *Bridge, ctx context.Context, c *chat, _ incoming, _ string) (reply, error) {
			return says(b.Menu.Usage(ctx, c.key))
		}},
		{name: "/file", takes: "PATH", what: "get a file of the project", reaches: true, isLong: true, run: func(b *Bridge, ctx context.Context, c *chat, _ incoming, rest string) (reply, error) {
			return says(b.giveFile(ctx, c, rest))
		}},
		{name: "/agents", what: "who is in the team", reaches: true, run: func(b *Bridge, ctx context.Context, _ *chat, _ incoming, _ string) (reply, error) {
			return says(b.Team.Agents(ctx))
		}},
		{name: "/send", takes: "HANDLE TEXT", what: "write to an agent", reaches: true, run: (*Bridge).sendToAgent},
		{name: "/resume", takes: "HANDLE", what: "bring an agent back", reaches: true, run: (*Bridge).resumeAgent},
		{name: "/approve", takes: "ID", what: "allow what an agent asks for", reaches: true, answers: true, run: (*Bridge).approve},
		{name: "/deny", takes: "ID [WHY]", what: "refuse what an agent asks for", reaches: true, answers: true, run: (*Bridge).deny},
		{name: "/answer", takes: "ID CHOICE", what: "answer an agent's question: the number of an option, or words of your own", reaches: true, answers: true, run: (*Bridge).choose},
		{name: "/help", also: "/start", what: "show this", run: func(b *Bridge, _ context.Context, _ *chat, m incoming, _ string) (reply, error) {
			return reply{text: b.help(m.group)}, nil
		}},
	}
}

func (c *command) usage() string {
	if c.takes == "" {
		return c.name
	}
	return c.name + " " + c.takes
}

// help lists the commands that work in a chat.
func (b *Bridge) help(group bool) string {
	lines := []string{"Hello. I pass on what you write to Claude, one message after the other.", ""}
	for _, c := range b.allowedCommands(group) {
		lines = append(lines, c.usage()+": "+c.what)
	}
	return strings.Join(lines, "\n")
}

// allowedCommands returns the commands that work in a group, or in a private chat.
func (b *Bridge) allowedCommands(group bool) []command {
	return slices.DeleteFunc(commands(), func(c command) bool {
		return c.reaches && !b.reaches(group) || c.answers && len(b.Answers) == 0
	})
}

// unknown is the name of a command that the bot does not have.
const unknown = "?"

// command reports whether a text is a command for this bot, and returns its name and the rest. The name of one that the
// bot does not have is unknown, and of one for another bot of the group "". A text such as /usr/bin is no command.
func (b *Bridge) command(text string) (name, rest string, is bool) {
	word, rest := firstWord(text)
	name, bot, isNamed := strings.Cut(strings.ToLower(word), "@")
	if isNamed && isCommandName(name) && !strings.EqualFold(bot, b.bot.Name) {
		return "", "", true
	}
	for _, c := range commands() {
		if name == c.name || name != "" && name == c.also && (name != "!" || rest == "") {
			return c.name, rest, true
		}
	}
	if isCommandName(name) {
		return unknown, rest, true
	}
	return "", "", false
}

// commandName is the form of a command.
var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z0-9_]{1,32}$`) })

// IsCommand reports whether a word is the name of a command, with its slash.
func IsCommand(word string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return word == c.name || word == c.also })
}

func isCommandName(word string) bool { return commandName().MatchString(word) }

// commandOf is command for a message. The caption of a file, an edit and what another has written are no commands.
func (b *Bridge) commandOf(m *incoming) (name, rest string, is bool) {
	if m.isEdit || m.update.isCaption() || m.update.Forwarded != nil {
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

// takeCommand carries out a command in its place among the messages.
func (b *Bridge) takeCommand(ctx context.Context, c *chat, m incoming, name, rest string) {
	if m.awaitStop(ctx); ctx.Err() != nil {
		return
	}
	obey := func() {
		if b.obey(ctx, c, m, name, rest) == nil {
			b.finish(ctx, &m)
		}
	}
	if !slices.ContainsFunc(commands(), func(c command) bool { return c.name == name && c.isLong }) {
		obey()
		return
	}
	if over, err := b.note(ctx, &m); over || err != nil {
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); obey() }()
	b.noteBehind(ctx, c, done)
}

// obey runs a command, and sends its reply. The error is the context's: then the command may not have run.
func (b *Bridge) obey(ctx context.Context, c *chat, m incoming, name, rest string) error {
	said, err := b.run(ctx, c, m, name, rest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.log("%s in %s: %v", name, c.place, err)
		lines := []string{name + " did not work: " + b.words(err) + "."}
		for _, hint := range fail.HintsOf(err) {
			lines = append(lines, "hint: "+hint)
		}
		said = reply{text: strings.Join(lines, "\n")}
	}
	if said.text == "" {
		return nil
	}
	return b.reply(ctx, c, m.ID+":reply", said)
}

// reply sends the reply to a command. The command comes again after a crash: then a reply that was sent is not sent
// again, and one that may have been sent says so. The id is the reply's own. The error is the context's.
func (b *Bridge) reply(ctx context.Context, c *chat, id string, r reply) error {
	again, over, err := b.Deliveries.NoteReplying(ctx, c.key, id)
	if err != nil { // a command is replied to on a full disk too
		b.log("note a reply in %s: %v", c.place, err)
	}
	if over {
		return ctx.Err()
	}
	s := saying{id: id, text: []Piece{b.plain(r.text)}, choices: r.choices}
	if again && !b.isOnce(b.traits.LastRun) {
		s.before = PerhapsAgain
	}
	if b.write(ctx, c, func() error { return b.sendSaying(ctx, c.place, s) }) == nil && err == nil {
		if err := b.Deliveries.NoteDelivered(context.WithoutCancel(ctx), c.key, id, ""); err != nil {
			b.log("note a reply in %s: %v", c.place, err)
		}
	}
	return ctx.Err()
}

func (b *Bridge) run(ctx context.Context, c *chat, m incoming, name, rest string) (reply, error) {
	i := slices.IndexFunc(commands(), func(c command) bool { return c.name == name })
	switch {
	case name == "", name == unknown && m.group && !b.isCalled(m.Text):
		return reply{}, nil // for another bot of the group
	case i < 0:
		word, _ := firstWord(m.Text)
		return reply{text: "I do not know " + word + ", so your message was not passed on.\n\n" + b.help(m.group)}, nil
	}
	asked := commands()[i]
	if asked.run == nil { // it was carried out at once
		return reply{}, nil
	}
	group := m.group || b.isGroup(c.place.Chat) // who has joined since then reads the reply
	if asked.reaches && !b.reaches(group) {
		return reply{text: b.isOff(name, group)}, nil
	}
	stop := b.typing(ctx, c.place)
	defer stop()
	return asked.run(b, ctx, c, m, rest)
}

// isOff says how the owner can switch a command on.
func (b *Bridge) isOff(name string, group bool) string {
	where, on := "here", "private"
	if group {
		where, on = "in groups", "all"
	}
	return name + " is off " + where + ". The owner of the bot can switch it on: " + b.traits.Command + " --" + b.traits.Before + "agents " + on
}

// isCalled reports whether a command names this bot: /stop@bot.
func (b *Bridge) isCalled(text string) bool {
	word, _ := firstWord(text)
	_, bot, _ := strings.Cut(word, "@")
	return strings.EqualFold(bot, b.bot.Name)
}

func (b *Bridge) sendToAgent(ctx context.Context, _ *chat, m incoming, rest string) (reply, error) {
	handle, text := firstWord(rest)
	if text == "" {
		return reply{text: "Write: /send HANDLE TEXT"}, nil
	}
	return says(b.Team.Send(ctx, handle, m.ID, text))
}

func (b *Bridge) resumeAgent(ctx context.Context, _ *chat, _ incoming, rest string) (reply, error) {
	handle, text := firstWord(rest)
	if handle == "" || text != "" {
		return reply{text: "Write: /resume HANDLE. To go back to a conversation of this chat: /sessions"}, nil
	}
	return says(b.Team.Resume(ctx, handle))
}

func (b *Bridge) newConversation(ctx context.Context, c *chat, m incoming, rest string) (reply, error) {
	text, err := b.reset(ctx, c, m.ID)
	if rest != "" && !strings.EqualFold(rest, "now") {
		text += notPassed
	}
	return says(text, err)
}

// notPassed follows the reply to a command that takes no words.
const notPassed = " What you wrote behind the command was not passed on: send it as a message of its own."

// reset begins a new conversation after the earlier messages were answered. Messages after the command belong to the
// new conversation, messages before it do not. A message that is held does not delay a reset.
func (b *Bridge) reset(ctx context.Context, c *chat, id string) (string, error) {
	if err := b.awaitAnswers(ctx, c, "the reset"); err != nil {
		return "", err
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

// awaitAnswers waits until the earlier messages of the chat were answered, or the first of them is held. The error is
// the context's.
func (b *Bridge) awaitAnswers(ctx context.Context, c *chat, before string) error {
	c.mu.Lock()
	ahead, held := len(c.waiting), c.held
	c.mu.Unlock()
	if ahead > 0 && !held {
		if err := b.say(ctx, c, "Queued: "+human.Count(ahead, "message")+" before "+before+". It is done after that."); err != nil {
			return err
		}
	}
	c.change(func() { c.resetting = true })
	free := c.await(ctx, func() bool { return len(c.waiting) == 0 || c.held })
	c.change(func() { c.resetting = false })
	if !free {
		return ctx.Err()
	}
	return nil
}
