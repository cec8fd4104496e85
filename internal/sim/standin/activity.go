package standin

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// begin starts a turn. The tui stays responsive; the turn reports by events, the last of which is done or err.
func (u *tui) begin(ctx context.Context, prompt string) error {
	u.say("❯ ", prompt)
	u.working = "✶ Coalescing… (0s · ↓ 1 tokens)"
	if err := u.s.reg.setStatus("busy", ""); err != nil {
		return err
	}
	turnCtx, cancel := context.WithCancel(ctx)
	u.cancel = cancel
	go func() {
		r, err := u.s.turn(turnCtx, said{text: prompt}, u)
		if err != nil && turnCtx.Err() != nil {
			r, err = result{text: "Interrupted · What should Claude do instead?"}, nil
		} else if err == nil {
			u.s.hookStop(turnCtx, r)
		}
		u.events <- event{done: &r, err: err}
	}()
	return nil
}

// retrying is called by the turn, in its goroutine.
func (u *tui) retrying(e apiError, attempt, of int) {
	text := fmt.Sprintf("✻ %d %s · retrying in %ds · attempt %d/%d", e.status, e.message, attempt, attempt, of)
	u.events <- event{working: text}
}

// happen handles an event of the turn.
func (u *tui) happen(ctx context.Context, e event) error {
	switch {
	case e.err != nil:
		return e.err
	case e.answer != nil:
		u.asking = &e
		err := u.s.reg.setStatus("waiting", "permission prompt")
		time.AfterFunc(u.s.whims.lateTranscript, u.s.tr.release)
		return err
	case e.settled != nil:
		if u.asking == nil || u.asking.answer != e.settled {
			return nil
		}
		u.asking = nil
		return u.s.reg.setStatus("busy", "")
	case e.done == nil:
		u.working = e.working
		return nil
	}
	u.say("● ", e.done.text)
	if e.done.failed == nil {
		u.said = append(u.said, "✻ Baked for 0s", "")
	}
	u.cancel()
	u.cancel, u.asking = nil, nil
	if len(u.queue) > 0 { // all that was typed meanwhile is one turn
		next := strings.Join(u.queue, "\n")
		u.queue = nil
		return u.begin(ctx, next)
	}
	return u.s.reg.setStatus("idle", "")
}

// answer handles a key in the permission dialog: Enter and 1 approve, text is ignored.
func (u *tui) answer(k key) error {
	switch {
	case k.kind == keyEnter, k.text == "1":
		u.asking.answer <- true
	case k.kind == keyEscape, k.kind == keyInterrupt, k.text == "2":
		u.asking.answer <- false
		u.interrupt()
	default:
		return nil
	}
	u.asking = nil
	return u.s.reg.setStatus("busy", "")
}

// say puts a text above the prompt, its further lines indented.
func (u *tui) say(mark, text string) {
	u.said = append(u.said, mark+strings.ReplaceAll(text, "\n", "\n  "), "")
}

// recall shows the conversation that is resumed.
func (u *tui) recall() {
	for _, m := range u.s.tr.conversation() {
		if text := plain(m); text != "" {
			u.say(map[string]string{"user": "❯ ", "assistant": "● "}[m.Role], text)
		}
	}
}
