package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
)

// Compact says how to compact a conversation.
type Compact struct {
	Instructions string        // for the summary; "": no instructions
	Timeout      time.Duration // of the wait for the prompt, and again of the wait for the end; 0: no limit
}

// Compaction is the result of compacting a conversation.
type Compaction struct {
	Handle agent.Handle
	Before *agent.ContextUse // nil: unknown
	After  *agent.ContextUse // nil: Claude does not report it until its next reply
	Floor  bool              // another compaction would free nothing

	window int // size of the window in tokens; 0: unknown
}

// minFreed: a compaction must free at least a tenth of the conversation. If it frees less, the conversation is at its
// floor: another compaction would cost a turn and free nothing.
const minFreed = 10

// Compact has Claude replace an agent's conversation by a summary when the agent is at its prompt, and returns when
// the end was observed. Errors: those of [Sender.Send]; Failed when the conversation is unchanged or at its floor.
func (s *Sender) Compact(ctx context.Context, handle agent.Handle, c Compact) (Compaction, error) {
	done := Compaction{Handle: handle}
	order := Message{Text: strings.TrimSpace("/compact " + normal(c.Instructions)), Raw: true}
	if err := order.check(); err != nil {
		return done, err
	}
	if _, err := s.supervisor.Caller.Envelope(handle, true); err != nil { // only a person gives orders
		return done, err
	}
	began, err := s.give(ctx, &done, order.Text, c.Timeout)
	if err != nil {
		return done, err
	}
	var end transcript.Compaction
	err = s.awaitEnd(ctx, done.Handle, c.Timeout, func() (ended bool, err error) {
		end, err = s.compaction(began)
		return end.Ended, err
	})
	if errors.Is(err, errNoEnd) {
		err = errUnrecorded(done.Handle)
	}
	if err != nil {
		return done, err
	}
	err = done.judge(end)
	event, detail := "compacted", done.String()
	if end.Refusal != "" {
		event, detail = "failed", "compact: "+end.Refusal
	}
	return done, errors.Join(err, s.project.Note(context.WithoutCancel(ctx), event, &began.record, detail))
}

// errUnrecorded returns the error for a compaction without an end in the transcript. 2.1.197 compacts after a prompt that
// it gave back and a resume, and does not record it.
func errUnrecorded(handle agent.Handle) error {
	return fail.Errorf(fail.Failed, "the transcript does not contain the end: a person interrupted it, or Claude compacted and did not record it").
		Hint("to see how full its conversation is, type /context in its terminal: nbs-worker attach %s", handle)
}

// String describes the use before and after.
func (c *Compaction) String() string {
	return "from " + level(c.Before) + " to " + level(c.After)
}

func level(use *agent.ContextUse) string {
	if use == nil {
		return "an unknown level"
	}
	return fmt.Sprintf("%d tokens (%d%%)", use.Tokens, use.UsedPercent)
}

// give types a command, and returns the position of the transcript before it.
func (s *Sender) give(ctx context.Context, done *Compaction, order string, limit time.Duration) (*start, error) {
	late := deadline(limit)
	taken := func(began *start) (transcript.Sent, error) { // Claude writes the command to the transcript when it has ended
		end, err := s.compaction(began)
		return transcript.Sent{Found: end.Ended || s.atWork(ctx, done.Handle)}, err
	}
	for {
		var began start
		receipt := Receipt{Handle: done.Handle}
		done.Before, done.window = s.contextOf(ctx, done.Handle)
		_, again, err := s.once(ctx, &receipt, &began, letter{text: order, proof: taken}, late)
		done.Handle = receipt.Handle
		if err == nil && again {
			err = s.await(ctx, done.Handle, late, "ready", string(agent.Waiting))
		}
		if err != nil || !again {
			return &began, err
		}
	}
}

// contextOf returns how full an agent's conversation is, and the size of its window; nil if the use is unknown. After
// a compaction, the use is unknown until the next reply.
func (s *Sender) contextOf(ctx context.Context, handle agent.Handle) (use *agent.ContextUse, window int) {
	r, err := s.project.Store.Load(handle)
	if err != nil {
		return nil, 0
	}
	view := inspect.View{Sight: s.project.LookAt(ctx, r)}
	_ = s.supervisor.Inspector.AddTranscript(&view) // without it, the use is unknown
	if view.Context != nil {
		return view.Context, view.Context.Window
	}
	if gauge := view.Record.GaugeOf(view.Report); gauge != nil {
		window = gauge.Window
	}
	return nil, window
}

func (s *Sender) compaction(began *start) (transcript.Compaction, error) {
	file, found, err := s.transcript(&began.record)
	if err != nil || !found {
		return transcript.Compaction{}, err
	}
	return file.Compaction(began.bytes)
}

// judge completes the result with the end of the compaction. Its error is the reason why the compaction failed.
func (c *Compaction) judge(end transcript.Compaction) error {
	if end.Refusal != "" {
		c.Floor, c.After = saysFloor(end.Refusal), c.Before
		return c.failed("Claude did not compact: " + human.Quote(end.Refusal))
	}
	if end.Before > 0 {
		c.Before = c.use(end.Before)
	}
	if c.After = c.use(end.After); c.Before == nil || c.After == nil {
		return nil
	}
	if freed := c.Before.Tokens - c.After.Tokens; freed*minFreed < c.Before.Tokens {
		c.Floor = true
		return c.failed("it freed less than a tenth, " + c.String())
	}
	return nil
}

func (c *Compaction) failed(why string) error {
	if !c.Floor {
		return fail.Errorf(fail.Failed, "%s", why)
	}
	return fail.Errorf(fail.Failed, "compaction floor: %s", why).
		Hint("begin a new conversation: nbs-worker resume %s --force --fresh", c.Handle)
}

// saysFloor reports whether Claude refused because there is nothing left to compact, or no space to do it in.
func saysFloor(refusal string) bool {
	known := []string{"Not enough messages", "too long", "could not be reduced"}
	return slices.ContainsFunc(known, func(words string) bool { return strings.Contains(refusal, words) })
}

// use converts a number of tokens that Claude has recorded; nil if the number has no meaning.
func (c *Compaction) use(tokens int) *agent.ContextUse {
	return transcript.Level{Tokens: tokens, Window: c.window}.Use()
}
