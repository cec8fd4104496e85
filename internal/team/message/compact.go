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

// Compact is how a conversation is compacted.
type Compact struct {
	Instructions string        // for the summary; "": none
	Timeout      time.Duration // of the wait for the prompt, and again of that for the end; 0: none
}

// Compaction is what became of a conversation that was to be compacted.
type Compaction struct {
	Handle agent.Handle
	Before *agent.ContextUse // nil: not known
	After  *agent.ContextUse // nil: Claude does not say; its next reply tells
	Floor  bool              // another compaction would free nothing

	window int // size of the window in tokens; 0: not known
}

// minFreed: a compaction must free at least a tenth of the conversation. Where it frees less, the
// conversation is at its floor: the next one would cost a turn as well and free nothing.
const minFreed = 10

// Compact has Claude replace an agent's conversation by a summary, when the agent is at its prompt, and
// returns when that was observed. Errors: those of [Sender.Send]; Failed when the conversation is as it
// was, or at its floor.
func (s *Sender) Compact(ctx context.Context, handle agent.Handle, c Compact) (Compaction, error) {
	done := Compaction{Handle: handle}
	order := Message{Text: strings.TrimSpace("/compact " + normal(c.Instructions)), Raw: true}
	if err := order.check(); err != nil {
		return done, err
	}
	if _, err := s.Envelope(handle, true); err != nil { // nobody but a person gives orders
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
		err = fail.Errorf(fail.Failed, "Claude did not compact: somebody interrupted it")
	}
	if err != nil {
		return done, err
	}
	err = done.judge(end)
	event, detail := "compacted", done.String()
	if end.Refusal != "" {
		event, detail = "failed", "compact: "+end.Refusal
	}
	return done, errors.Join(err, s.Note(context.WithoutCancel(ctx), event, &began.record, detail))
}

// String says how much there was before and after.
func (c *Compaction) String() string {
	return "from " + level(c.Before) + " to " + level(c.After)
}

func level(use *agent.ContextUse) string {
	if use == nil {
		return "an unknown level"
	}
	return fmt.Sprintf("%d tokens (%d%%)", use.Tokens, use.UsedPercent)
}

// give types a command, and returns where the transcript was before.
func (s *Sender) give(ctx context.Context, done *Compaction, order string, limit time.Duration) (*start, error) {
	late := deadline(limit)
	taken := func(began *start) (transcript.Sent, error) { // Claude writes the command down when it has ended
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

// contextOf is how full an agent's conversation is, nil when that is not known, and its window. A
// conversation that was just compacted has no level before the next reply.
func (s *Sender) contextOf(ctx context.Context, handle agent.Handle) (use *agent.ContextUse, window int) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return nil, 0
	}
	view := inspect.View{Sight: s.LookAt(ctx, r)}
	_ = s.AddTranscript(&view) // what it lacks is not known
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

// judge completes the result with the end of the compaction. An error says why that failed.
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

// saysFloor reports whether Claude has no more to compact, or no room to do it in.
func saysFloor(refusal string) bool {
	known := []string{"Not enough messages", "too long", "could not be reduced"}
	return slices.ContainsFunc(known, func(words string) bool { return strings.Contains(refusal, words) })
}

// use is a number of tokens as Claude notes it; nil when that tells nothing.
func (c *Compaction) use(tokens int) *agent.ContextUse {
	return transcript.Level{Tokens: tokens, Window: c.window}.Use()
}
