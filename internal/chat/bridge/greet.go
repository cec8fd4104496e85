package bridge

import (
	"context"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// greet tells the operator which bot this is, and whom it serves where. A chat that cannot be reached is told; the others
// are served nevertheless.
func (b *Bridge) greet(ctx context.Context) {
	b.log("this is @%s", b.bot.Name)
	if b.AllInGroups && b.bot.Hides != "" && slices.ContainsFunc(b.Allowed, b.isGroup) {
		b.once(b.bot.Hides)
	}
	for _, chat := range b.Allowed {
		var name string
		err := b.there(ctx, Place{Chat: chat}, func(to Place) (err error) {
			asking, end := context.WithTimeout(ctx, patience)
			defer end()
			name, err = b.System.Describe(asking, to.Chat)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case fail.KindOf(err) == fail.NotFound:
			b.log("chat %s cannot be reached: %v", chat, err)
		case err != nil:
			b.log("chat %s is allowed; its name is not known: %v", chat, err)
		default:
			b.log("serves %s%s", human.OneLine(name), b.speakers(chat))
		}
	}
}

// speakers says who may write in a group.
func (b *Bridge) speakers(chat string) string {
	users := b.writers(chat)
	switch {
	case !b.isGroup(chat):
		return ""
	case len(users) == 0:
		return ": everyone in it"
	}
	return ": of its members only the users " + strings.Join(users, ", ")
}
