package message

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/observe"
)

// A text that we have typed is remembered until it has been seen to be gone. If it is left in the prompt, the next
// attempt deletes it. Text of a person is never deleted.

var (
	// errDraft means that the prompt contains unsent text.
	errDraft = errors.New("its prompt contains an unsent draft")
	// errLeft means that a text of ours could not be deleted.
	errLeft = errors.New("what was typed may still be in its prompt")
)

// prompt is the prompt of an agent, with what is known about texts in it. The caller has the agent's verb lock.
type prompt struct {
	Terminal
	handle agent.Handle
	queue  *queue.Queue
	left   queue.Left
	before queue.Left // what was left when typing began
	turn   time.Time  // when its last turn ended; zero: unknown
}

func (s *Sender) prompt(sight *observe.Sight) (prompt, error) {
	terminal, err := s.terminal(sight)
	q := s.project.Store.Outbox(sight.Record.Handle)
	p := prompt{Terminal: terminal, handle: sight.Record.Handle, queue: q, left: q.Left(sight.Record.Process.Invocation), turn: sight.Report.TurnEnd()}
	return p, err
}

// await calls awaitPrompt. Before that, it deletes our texts, and records since when a draft holds messages.
func (p *prompt) await(ctx context.Context, now time.Time) (tmux.Styled, error) {
	shown, err := awaitPrompt(ctx, p)
	if errors.Is(err, errDraft) && p.takeAway(context.WithoutCancel(ctx)) {
		shown, err = awaitPrompt(ctx, p)
	}
	p.left.Blocks = p.left.BlocksAfter(p.turn)
	if errors.Is(err, errDraft) {
		if p.left.Blocks.IsZero() {
			p.left.Blocks = now
		}
		err = errors.Join(fail.Errorf(fail.Held, "%w", err).Hint("to send or delete it there: nbs-worker attach %s", p.handle), p.queue.KeepLeft(p.left))
	}
	return shown, err
}

// typing records that a text is about to be typed.
func (p *prompt) typing(text string, now time.Time) error {
	p.left.Blocks = time.Time{}
	p.before = p.left
	p.left = p.left.Typed(text, now)
	return p.queue.KeepLeft(p.left)
}

// isFreed reports whether the draft that kept a text from being typed was ours and has been deleted. Claude may draw
// what our command has typed only after the prompt was seen empty.
func (p *prompt) isFreed(ctx context.Context, err error, now time.Time) bool {
	if !errors.Is(err, errDraft) || len(p.before.Texts) == 0 {
		return false
	}
	_, err = p.await(ctx, now)
	return err == nil
}

// typed forgets what was typed, unless it may still be in the prompt. Once a text was submitted, the prompt contains
// nothing that was left there before.
func (p *prompt) typed(word Word, err error) error {
	switch {
	case word == Unknown || errors.Is(err, errLeft):
		return nil
	case word == Held:
		p.before.Blocks = p.left.Blocks
		return p.queue.KeepLeft(p.before)
	}
	return p.queue.ForgetLeft()
}

// takeAway deletes our texts from the prompt, and reports whether the prompt is then empty. It deletes nothing if the
// draft contains other text: a person has typed there.
func (p *prompt) takeAway(ctx context.Context) (empty bool) {
	shown, err := p.Screen(ctx)
	draft, found := screen.Draft(shown.Text)
	if err != nil || !found {
		return false
	}
	isOurs := screen.IsMadeOf(draft, p.left.Texts...) || screen.IsMadeOf(screen.Uncovered(shown.Text), p.left.Texts...)
	return isOurs && erase(ctx, p, draft, true) == nil
}
