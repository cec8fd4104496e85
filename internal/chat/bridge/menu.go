package bridge

import (
	"context"
	"strings"
)

// setMenu gives the system's apps the list of commands. Without it the commands work too.
func (b *Bridge) setMenu(ctx context.Context) {
	for _, groups := range []bool{false, true} {
		var menu []MenuEntry
		for _, c := range b.allowedCommands(groups) {
			menu = append(menu, MenuEntry{strings.TrimPrefix(c.name, "/"), c.what})
		}
		asking, end := context.WithTimeout(ctx, patience)
		err := b.System.SetMenu(asking, groups, menu)
		end()
		if err != nil && ctx.Err() == nil {
			b.log("set the menu of the commands: %v", err)
		}
	}
}

func (b *Bridge) sessions(ctx context.Context, c *chat, m incoming, named string) (reply, error) {
	if named != "" {
		return b.goBack(ctx, c, m, named)
	}
	text, choices, err := b.Menu.Sessions(ctx, c.key)
	return reply{text, choices}, err
}

// goBack makes an earlier session the present one, after the messages before were answered.
func (b *Bridge) goBack(ctx context.Context, c *chat, m incoming, named string) (reply, error) {
	if err := b.awaitAnswers(ctx, c, "going back"); err != nil {
		return reply{}, err
	}
	return says(b.Menu.Back(ctx, c.key, m.ID, named))
}

func (b *Bridge) rename(ctx context.Context, c *chat, _ incoming, name string) (reply, error) {
	if name == "" {
		return reply{text: "Write: /name NAME"}, nil
	}
	return says(b.Menu.Rename(ctx, c.key, name))
}
