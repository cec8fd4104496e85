// Package typing types into the prompt of a claude.
//
//   - Text is typed only into a ready prompt: its box is on the screen and contains no unsent text, no dialog has taken
//     its place, and it shows a blank that is typed first. The text and Enter go in one write. That write cuts what a
//     person may have just typed, and puts it back after Enter, so that Enter submits only the text. See command.go for
//     Claude's commands.
//   - Whether a text arrived is asked of the transcript ([Claude]), and never inferred from the keys that were sent.
//   - A text of ours that is left in the prompt is remembered until it has been seen to be gone, and the next attempt
//     deletes it. Text of a person is never deleted.
//
// What is typed, and when, is decided by package message.
package typing

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store/queue"
)

var (
	// errDraft means that the prompt contains unsent text.
	errDraft = errors.New("its prompt contains an unsent draft")
	// errLeft means that a text of ours could not be deleted.
	errLeft = errors.New("what was typed may still be in its prompt")
)

// Prompt is the prompt of an agent, with what is known about texts in it. The caller has the agent's verb lock.
type Prompt struct {
	Terminal
	handle agent.Handle
	queue  *queue.Queue
	now    func() time.Time
	left   queue.Left
	before queue.Left // what was left when typing began
	turn   time.Time  // when its last turn ended; zero: unknown
}

// In returns the prompt of an agent's terminal. turn is when its last turn ended; zero: unknown.
func In(t Terminal, r *agent.Record, q *queue.Queue, turn time.Time, now func() time.Time) *Prompt {
	return &Prompt{Terminal: t, handle: r.Handle, queue: q, now: now, left: q.Left(r.Process.Invocation), turn: turn}
}

// Await waits until the screen shows the empty prompt, and returns the screen. It deletes our texts there, and records
// since when a draft holds messages. Errors: Held.
func (p *Prompt) Await(ctx context.Context) (tmux.Styled, error) {
	shown, err := awaitPrompt(ctx, p)
	if errors.Is(err, errDraft) && p.takeAway(context.WithoutCancel(ctx)) {
		shown, err = awaitPrompt(ctx, p)
	}
	p.left.Blocks = p.left.BlocksAfter(p.turn)
	if errors.Is(err, errDraft) {
		if p.left.Blocks.IsZero() {
			p.left.Blocks = p.now()
		}
		err = errors.Join(fail.Errorf(fail.Held, "%w", err).Hint("to send or delete it there: nbs-worker attach %s", p.handle), p.queue.KeepLeft(p.left))
	}
	return shown, err
}

// Begin records that a text is about to be typed.
func (p *Prompt) Begin(text string) error {
	p.left.Blocks = time.Time{}
	p.before = p.left
	p.left = p.left.Typed(text, p.now())
	return p.queue.KeepLeft(p.left)
}

// Deliver types the text that was begun and proves that it arrived. The error is why nothing was submitted or, if the
// text was, why there is no proof. Errors of what is not submitted: Held; BadInput for a command that Claude does not
// have; Interrupted.
func (p *Prompt) Deliver(ctx context.Context, text string, claude Claude) (submitted bool, sent transcript.Sent, err error) {
	d := delivery{Terminal: p, Claude: claude, handle: p.handle, text: text}
	submitted, sent, err = d.run(ctx)
	if !submitted && p.isFreed(ctx, err) {
		submitted, sent, err = d.run(ctx)
	}
	return submitted, sent, errors.Join(err, p.typed(submitted, sent, err))
}

// isFreed reports whether the draft that kept a text from being typed was ours and has been deleted. Claude may draw
// what our command has typed only after the prompt was seen empty.
func (p *Prompt) isFreed(ctx context.Context, err error) bool {
	if !errors.Is(err, errDraft) || len(p.before.Texts) == 0 {
		return false
	}
	_, err = p.Await(ctx)
	return err == nil
}

// typed forgets what was typed, unless it may still be in the prompt. Once a text was submitted, the prompt contains
// nothing that was left there before.
func (p *Prompt) typed(submitted bool, sent transcript.Sent, err error) error {
	switch {
	case submitted && !sent.Found || errors.Is(err, errLeft):
		return nil
	case !submitted:
		p.before.Blocks = p.left.Blocks
		return p.queue.KeepLeft(p.before)
	}
	return p.queue.ForgetLeft()
}

// takeAway deletes our texts from the prompt, and reports whether the prompt is then empty. It deletes nothing if the
// draft contains other text: a person has typed there.
func (p *Prompt) takeAway(ctx context.Context) (empty bool) {
	shown, err := p.Screen(ctx)
	draft, found := screen.Draft(shown.Text)
	if err != nil || !found {
		return false
	}
	isOurs := screen.IsMadeOf(draft, p.left.Texts...) || screen.IsMadeOf(screen.Uncovered(shown.Text), p.left.Texts...)
	return isOurs && erase(ctx, p, draft, true) == nil
}
