package chat

import (
	"context"
	"slices"

	"nbs-worker/internal/store/bot"
)

// answerers finds out who may answer what agents ask, and which chats are told: flags say it, it is kept, or the person
// is asked.
func (w *setup) answerers(ctx context.Context) error {
	w.bot.Answerers = w.bot.Answerers.With(w.who.answers, w.given)
	if w.dialog != nil && w.bot.Reach() != bot.ReachNone && !w.given("answers") && !w.given("needs") {
		if err := w.askAnswerers(ctx); err != nil {
			return err
		}
	}
	if err := w.bot.Answerers.Check(w.bot.Chats, w.bot.Writers, w.bot.Reach()); err != nil {
		return err
	}
	return w.keep()
}

// askAnswerers asks about each user who is alone with the bot and for whom the person was not asked yet.
func (w *setup) askAnswerers(ctx context.Context) error {
	may := &w.bot.Answerers
	for _, user := range w.bot.Chats {
		writers := w.bot.In(user)
		if user < 0 || slices.Contains(may.Asked, user) || slices.Contains(may.Answers, user) || len(writers) > 0 && !slices.Contains(writers, user) {
			continue
		}
		info, err := w.account.Chat(ctx, user)
		if err != nil {
			continue // it was said
		}
		yes, err := w.dialog.Yes(ctx, "May "+told(info)+", answer what your agents ask, and be told what they need? [y/N] ")
		if err != nil {
			return err
		}
		may.Asked = append(may.Asked, user)
		if yes {
			may.Answers = append(may.Answers, user)
		}
	}
	return nil
}
