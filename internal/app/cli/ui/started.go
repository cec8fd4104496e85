package ui

import (
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/supervisor"
)

// ReadyWait is how long a start may take on a machine that is not busy.
const ReadyWait = 30 * time.Second

// SayStarted reports effects beyond a start, to scripts too, even of a failed or late start.
func (f *Factory) SayStarted(handle agent.Handle, started supervisor.Started) {
	f.WarnUnkept("keep", handle, started.Unkept)
	f.SayTranscript(handle, started.Restored, started.Loss)
	if started.Unsaid != "" {
		f.Say("%s: its first prompt was never delivered; the new prompt was sent instead. The record still has the first one: nbs-worker session %s --json", handle, handle)
	}
	if missed := started.Briefed.Missed; missed != nil {
		f.Say("%s: the briefing is incomplete: %s", handle, missed)
	}
	if moved := started.Moved; moved != nil {
		f.Say("%s: its folder has moved from %s to %s", handle, moved.From, moved.To)
	}
	if started.WorksIn != "" {
		f.Say("%s: its session works in %s, which it entered earlier", handle, human.Quote(started.WorksIn))
	}
	if started.OutOf != "" {
		f.Say("warning: %s: Claude did not go back to its worktree %s: it works in %s", handle, human.Quote(started.OutOf), human.Quote(started.Record.LaunchCwd()))
		f.Hint("to try again: nbs-worker resume %s --force", handle)
	}
	if others := started.SharesTree; len(others) > 0 {
		f.Say("%s: it shares a git worktree with %s; each is told of the other", handle, Joined(others))
	}
	if started.Untold != nil {
		f.Say("%s: not every agent in its worktree could be told of it: %s", handle, started.Untold)
	}
	if started.Unsaved != "" {
		f.Say("%s: its turns are being lost: %s", handle, started.Unsaved)
	}
	if started.Mute != "" && started.Record.TakesAnswers() {
		f.Say("%s: commands cannot answer what it asks: its Claude runs no hooks: %s", handle, started.Mute)
	}
	if started.Old { // it runs and is what was asked for; its later output is unknown
		f.Hint("claude %s is older than the versions that nbs-worker is tested with", human.Quote(started.Record.ClaudeVersion))
	}
}

// StartedOutcome returns the outcome of a start. It tells a person how to answer what the agent asks already.
func (f *Factory) StartedOutcome(s *supervisor.Supervisor, started supervisor.Started) Outcome {
	r := &started.Record
	if started.Status.State == agent.Waiting {
		f.Note("%s asks something. A person has to answer%s", r.Handle, s.Project.WayToAnswer(r.Handle))
	}
	words := fmt.Sprintf("%s, model %s, %s, session %s, tmux %s", started.Status.Word(), ModelName(r.Model), r.LaunchPermissionMode(), r.SessionID, r.TmuxSession)
	return Outcome{JSON: wire.NewStarted(started), Handle: r.Handle, Words: words}
}

// SayTranscript reports, also to scripts, that a transcript was restored or is shorter than before.
func (f *Factory) SayTranscript(handle agent.Handle, back *keep.Restored, loss *keep.Loss) {
	if back != nil {
		f.Say("%s: its transcript %s; it was restored from %s: %s", handle, back.What, back.From, back.To)
	}
	if loss != nil {
		f.Say("warning: %s: %s", handle, loss)
	}
}

// WarnUnkept warns that Claude's transcript is the only copy. The verb itself has succeeded.
func (f *Factory) WarnUnkept(verb string, handle agent.Handle, err error) {
	if err == nil {
		return
	}
	f.Say("warning: %s %s: %v", verb, handle, err)
	for _, hint := range fail.HintsOf(err) {
		f.Hint("%s", hint)
	}
}

// SayEnded reports, also to scripts, what the end of an agent may have lost.
func (f *Factory) SayEnded(verb string, gone supervisor.Stopped) {
	handle := gone.Record.Handle
	f.WarnUnkept(verb, handle, gone.Unkept)
	if gone.Unsaved != "" {
		f.Say("%s %s: the last messages may be lost: %s", verb, handle, gone.Unsaved)
	}
}
