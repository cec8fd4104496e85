package report

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
)

// Wait opens a request for what the hook's dialog asks, and waits beside the dialog until a person has answered the
// request, for at most the limit. It writes the answer, for claude, to out. It writes nothing if the person has answered
// in the terminal, claude has ended, the context has ended (claude ends its hooks at an interrupt), or the limit has
// passed: a dialog that is still open then stays. It sleeps in the kernel.
//
// It does not wait beside the dialog of a subagent: claude shows that only after its hooks have ended.
func (h Hook) Wait(ctx context.Context, c Caller, opened *store.Store, at time.Time, limit time.Duration, out io.Writer) error {
	if h.said.Subagent != "" || !h.said.Asks() {
		return nil
	}
	r, err := opened.Load(c.Handle)
	if err != nil {
		return err
	}
	if !c.started(&r) || r.Process.PID == 0 {
		return agent.ErrSuperseded
	}
	asking := r.Process.Identity
	asking.Identified = r.Process.Claude()
	if liveness, err := c.Machine.Check(asking); liveness == machine.Gone || err != nil {
		return err
	}
	files, err := fswatch.New()
	if err != nil {
		return err
	}
	defer files.Close()
	request, err := opened.Requests().Open(requests.Request{
		Handle: c.Handle, Invocation: c.Invocation, SessionID: h.said.SessionID, Claude: asking, At: at, Mode: h.said.Mode,
		Tool: h.said.Tool, Input: json.RawMessage(h.said.Input), Suggested: json.RawMessage(h.said.Suggested),
	})
	if err != nil {
		return err
	}
	defer request.Close()
	w := beside{Waiting: request, machine: c.Machine, files: files, out: out}
	if config, err := claude.ConfigAt(c.ConfigDir); err == nil {
		w.registry = config.Registry()
		err = files.Folder(w.registry.Dir())
		w.registered = err == nil
	}
	if err := errors.Join(files.File(request.AnswerFile()), files.Process(c.Machine, asking.Identified)); err != nil {
		return err
	}
	debug.FreeOSMemory() // many may wait at the same time
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.wait(ctx)
}

// beside waits beside a dialog.
type beside struct {
	*requests.Waiting

	machine    *machine.Machine
	files      *fswatch.Watch
	registry   live.Registry
	registered bool // Claude's registry can be watched
	dialog     live.Dialog
	out        io.Writer
}

// wait returns when the request is answered or over.
func (b *beside) wait(ctx context.Context) error {
	for {
		over, again := b.isOver(time.Now())
		if over {
			return nil
		}
		var decided <-chan time.Time
		if again > 0 {
			timer := time.NewTimer(again)
			defer timer.Stop()
			decided = timer.C
		} else if answered, err := b.answer(); answered || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.files.Ended():
			return nil
		case <-decided:
		case <-b.files.Events():
		case err := <-b.files.Errors():
			return fswatch.Failed(err)
		}
	}
}

// isOver reports whether claude goes on without an answer of ours; if that is in doubt, when to look again.
func (b *beside) isOver(now time.Time) (over bool, again time.Duration) {
	if b.IsOver() {
		return true, 0
	}
	if liveness, _ := b.machine.Check(b.Claude); liveness == machine.Gone {
		return true, 0
	}
	if !b.registered {
		return false, 0
	}
	entry, err := b.registry.Entry(b.Claude.PID)
	isOurs := err == nil && entry.Start.Is(b.Claude.StartTicks)
	switch {
	case isOurs && entry.Status == live.StatusIdle && entry.StatusSince().After(b.At): // no dialog of its turn is left
		b.dialog.End(now)
	case b.Others(): // the entry is about each of their dialogs
		b.dialog.Forget()
	case isOurs:
		b.dialog.See(entry.Status, now)
	}
	return b.dialog.Over(now)
}

// answer hands an answer to claude, if one is there.
func (b *beside) answer() (bool, error) {
	given, there, err := b.Answer()
	if !there || err != nil {
		return false, err
	}
	said := live.Decision{Allow: given.Allow, Message: given.Message, Input: []byte(given.Input), Rules: []byte(given.Rules)}
	text, err := said.For(b.Tool, b.Input).JSON()
	if err == nil {
		_, err = io.WriteString(b.out, text+"\n")
	}
	if err == nil {
		err = b.Take(given)
	}
	return true, err
}

// endRequests ends the request for a tool call that has ended: a person has permitted it in the terminal.
func (c Caller) endRequests(opened *store.Store, hook live.Hook) error {
	if !hook.ToolEnded() {
		return nil
	}
	return opened.Requests().End(func(r *requests.Request) bool {
		return r.Invocation == c.Invocation && hook.Ends(r.Tool, r.Input)
	})
}
