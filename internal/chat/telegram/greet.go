package telegram

import (
	"context"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// greet tells the operator which bot this is, and whom it serves where. A chat that cannot be reached is told; the others
// are served nevertheless.
func (b *Bridge) greet(ctx context.Context) {
	b.log("this is @%s", b.me.Username)
	telegram := Account{b}
	for _, chat := range b.Allowed {
		info, err := telegram.Chat(ctx, chat)
		switch {
		case ctx.Err() != nil:
			return
		case fail.KindOf(err) == fail.NotFound:
			b.log("chat %d cannot be reached: %v", chat, err)
		case err != nil:
			b.log("chat %d is allowed; its name is not known: %v", chat, err)
		default:
			b.log("serves %s%s", human.OneLine(info.String()), b.speakers(info))
		}
	}
}

// speakers says who may write in a group.
func (b *Bridge) speakers(info ChatInfo) string {
	switch {
	case !info.IsGroup():
		return ""
	case len(b.Users) == 0:
		return ": everyone in it"
	}
	return ": of its members only the users " + strings.Join(agent.Mapped(b.Users, func(user int64) string { return strconv.FormatInt(user, 10) }), ", ")
}
