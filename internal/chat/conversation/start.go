package conversation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/headless"
)

// dyingGrace is how long the locks of a killed runner are waited for.
const dyingGrace = 5 * time.Second

// open returns a claude for the turn: the warm one, or a new one with the conversation to itself. Errors: lostError;
// Conflict when another process has the conversation open.
func (j *job) open(ctx context.Context) (*headless.Session, error) {
	manner := headless.Manner{
		Model: cmp.Or(j.ask.Model, j.state.Model, j.state.Meta.Model), Prompt: j.state.Meta.SystemPrompt,
		Hook: j.hasContext(), Args: strings.Join(j.ask.ClaudeArgs, "\x00"), Rights: j.rights(), Powers: j.powers(),
	}
	if j.ask.Isolated {
		manner.Prompt = j.ask.SystemPrompt
	}
	if j.staysWarm() {
		if s := j.Warm.Take(ctx, j.state.Meta.Key, j.state.Session.ID, manner); s != nil {
			j.mode, j.voice = conversations.Resumed, j.voiceOf(s)
			if err := j.begin(ctx, s.Invocation, s.ID); err != nil {
				s.End(ctx)
				return nil, err
			}
			return s, nil
		}
	}
	id, opening, err := j.choose(ctx)
	if err != nil {
		return nil, err
	}
	j.mode = j.continuityOf(id, opening)
	return j.start(ctx, id, opening, manner)
}

// staysWarm reports whether the claude of the turn is kept for the next one.
func (j *job) staysWarm() bool { return j.Warm != nil && !j.ask.Isolated }

// begin records that the turn is about to be sent to this claude.
func (j *job) begin(ctx context.Context, invocation agent.Invocation, id agent.SessionID) error {
	self, err := j.Project.Machine.Self()
	if err != nil {
		return err
	}
	return j.c.Begin(ctx, conversations.Start{
		Seq: j.turn.Seq, SHA: j.turn.SHA, Attempt: j.attempt(), Invocation: invocation, Runner: self,
		Session: id, Mode: j.mode, At: j.Project.Now().UTC(), Told: j.toldTo(),
	})
}

// start starts a claude. The attempt is recorded before, so that its remains can be found.
func (j *job) start(ctx context.Context, id agent.SessionID, opening cmdline.Opening, manner headless.Manner) (*headless.Session, error) {
	var begun agent.Invocation
	j.voice = &voice{Engine: j.Engine, c: j.c}
	settings, err := j.settings(manner.Hook)
	if err != nil {
		return nil, err
	}
	l := headless.Launch{
		Start: j.Start, Record: j.record(id, true), Manner: manner, Dir: j.state.Meta.Cwd, Caller: j.given(), OneTurn: !j.staysWarm(),
		Spec: turn.Spec{
			Opening: opening, Partial: true, Fork: j.ask.Fork,
			PermissionMode: manner.Rights.PermissionMode, Extra: slices.Concat(toolArgs(manner.Rights.AllowedTools), j.ask.ClaudeArgs),
			Settings: settings,
		},
		Spoke: j.voice.spoke, Cut: j.voice.cut,
		Verb: "ask", Dying: j.dying, IsOurs: j.isOurs,
		Prepare: func(invocation agent.Invocation, files turnfiles.Files) (map[string]string, error) {
			context, err := "", j.begin(ctx, invocation, id)
			begun = invocation
			if err == nil && manner.Hook { // the hook costs each turn two processes
				context, err = files.Put(turnfiles.Context, "")
			}
			// The context variable, which may be empty, marks the claude of a conversation.
			return map[string]string{turn.ContextVariable: context, turn.EagerFlush: "1"}, err
		},
	}
	if j.ask.Isolated {
		l.Verb = ""
	}
	if powers := j.ask.Powers; powers != nil {
		l.Record.Env, l.Spec.Extra = powers.Env, slices.Concat(powers.ClaudeArgs, l.Spec.Extra)
	}
	s, err := l.Open(ctx, j.Project)
	if err != nil && begun != "" { // the folder is gone, for example
		err = errors.Join(err, j.void(ctx, begun))
	}
	if err == nil {
		j.missed(ctx)
	}
	if err == nil && j.staysWarm() {
		j.voices.Store(s.Invocation, j.voice)
		go func() {
			<-s.Ended()
			j.voices.Delete(s.Invocation)
		}()
	}
	return s, err
}

// isOurs reports whether an invocation is of a turn of this conversation; false if its journal cannot be read.
func (j *job) isOurs(invocation agent.Invocation) bool {
	lines, _ := j.c.Journal()
	return slices.ContainsFunc(lines, func(l conversations.Line) bool { return l.Start != nil && l.Start.Invocation == invocation })
}

// say sends the turn's text and context to the claude, and waits for the answer.
func (j *job) say(ctx context.Context, s *headless.Session) (turn.Outcome, error) {
	if s.Manner.Hook {
		background := turn.Marker(string(s.Invocation), j.turn.Seq) + "\n" + j.beside(ctx)
		if _, err := j.Project.Store.TurnFiles(s.Invocation).Put(turnfiles.Context, background); err != nil {
			return turn.Outcome{}, err
		}
	}
	defer j.voice.answered()
	refused := &refusals{files: j.Project.Store.TurnFiles(s.Invocation)}
	defer refused.end()
	id := turn.TextID(string(s.Invocation), j.turn.Seq)
	heard := func(heard turn.Event) {
		refused.hear(heard)
		if heard.Kind == turn.Over {
			j.voice.answered()
		}
		if p := (Progress{Text: heard.Text, Tool: heard.Tool}); p != (Progress{}) && j.Heard != nil {
			j.Heard(j.c.Key(), j.turn.ID, p)
		}
	}
	if j.ask.Command && j.text != turn.Continue {
		return s.SayCommand(ctx, j.limits(), id, j.text, heard)
	}
	return s.Say(ctx, j.limits(), id, j.text, heard, j.images()...)
}

// continuityOf returns New for a session that is opened as new or was begun by this turn, and Resumed otherwise.
func (j *job) continuityOf(id agent.SessionID, opening cmdline.Opening) string {
	begunByThis := func(s conversations.Start) bool { return s.Session == id && s.Mode == conversations.New }
	if opening == cmdline.OpenNew || slices.ContainsFunc(j.turn.Starts, begunByThis) {
		return conversations.New
	}
	return conversations.Resumed
}
