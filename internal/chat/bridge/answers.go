package bridge

import (
	"context"
	"slices"
	"strings"
)

// What agents ask for is told with posts, and answered with their buttons, or with the commands that the buttons stand
// for. Only some users may: others get a word. An answer waits for nothing else that its chat has written.

func answersAgents(name string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return c.answers && c.name == name })
}

// answerAgent obeys a command that answers an agent. After a crash it comes again.
func (b *Bridge) answerAgent(ctx context.Context, c *chat, m incoming) {
	c.change(func() { c.blocked = false })
	name, rest, _ := b.commandOf(&m)
	b.workers.Go(func() {
		if b.obey(ctx, c, m, name, rest) == nil {
			m.done()
		}
	})
}

func (b *Bridge) approve(ctx context.Context, _ *chat, m incoming, rest string) (reply, error) {
	id, more := firstWord(rest)
	if id == "" || more != "" {
		return reply{text: "Write: /approve ID"}, nil
	}
	return b.answers(ctx, &m, Answering{Request: id, Allow: true})
}

func (b *Bridge) deny(ctx context.Context, _ *chat, m incoming, rest string) (reply, error) {
	id, why := firstWord(rest)
	if id == "" {
		return reply{text: "Write: /deny ID WHY"}, nil
	}
	return b.answers(ctx, &m, Answering{Request: id, Message: why})
}

func (b *Bridge) choose(ctx context.Context, _ *chat, m incoming, rest string) (reply, error) {
	id, choice := firstWord(rest)
	if choice == "" {
		return reply{text: "Write: /answer ID CHOICE"}, nil
	}
	return b.answers(ctx, &m, Answering{Request: id, Choice: choice})
}

func (b *Bridge) answers(ctx context.Context, m *incoming, a Answering) (reply, error) {
	user := m.update.From.ID
	if m.update.Hidden || !slices.Contains(b.Answers, user) {
		return reply{text: "You may not answer what agents ask. The owner of the bot can let you: " + b.traits.Command + " --" + b.traits.Before + "answers " + user}, nil
	}
	a.ID, a.By = m.ID, b.traits.Name+":"+user
	is, err := b.Team.AnswerAgent(ctx, a)
	if m.update.Button && !is.Late { // the post says it
		is.Text = ""
	}
	return says(is.Text, err)
}

// forAgent reports whether a message answers a post about an agent, and returns which one.
func (b *Bridge) forAgent(ctx context.Context, c *chat, m *incoming) (handle string, is bool) {
	answered := m.update.Answers
	if answered == nil || !answered.Mine || answered.Number == "" {
		return "", false
	}
	err := b.retry(ctx, "look up what a message answers", func() (err error) {
		handle, err = b.Team.AgentOf(ctx, c.key, Sent{Message: answered.Number, Chat: m.update.At.Chat})
		return err
	})
	return handle, err == nil && handle != ""
}

// writeToAgent sends a message of a chat to an agent, if the chat may.
func (b *Bridge) writeToAgent(ctx context.Context, c *chat, m incoming, handle string) {
	if m.update.isCaption() || m.update.Forwarded != nil || strings.TrimSpace(m.Text) == "" {
		if b.say(ctx, c, "Only a text of yours can be sent to "+handle+". Your message was not passed on.") == nil {
			b.finish(ctx, &m)
		}
		return
	}
	b.takeCommand(ctx, c, m, "/send", handle+" "+m.Text)
}
