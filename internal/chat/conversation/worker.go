package conversation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/observe"
)

// worker is a claude with a conversation open.
type worker struct {
	process    Process
	machine    *machine.Machine
	self       agent.Identity // of the process that runs the worker
	invocation agent.Invocation
	session    agent.SessionID
	mode       string // of the next answer: new or resumed
	made       manner
	context    string // the file that its hook prints; "": no hook
	release    func() // releases the conversation, and removes its files
	leaving    sync.WaitGroup
	used       time.Time
}

// manner is how a process was started: the options that cannot change while it runs.
type manner struct {
	model  agent.Model
	prompt string // the system prompt
	hook   bool   // has the hook that passes context to it
	args   string
	powers string // of the agent that it runs for; "": it runs for a person
}

// serves reports whether a process started in this manner can take a turn that wants another one. A process with the
// hook also takes turns without context: an empty context is cheaper than a start.
func (m manner) serves(wanted manner) bool {
	wanted.hook = wanted.hook || m.hook
	return m == wanted
}

// worker returns a claude for the turn: the warm one, or a new one with the conversation to itself. The attempt is
// recorded before claude starts, so that its remains can be found. Errors: lostError; Conflict when another process
// has the conversation open.
func (j *job) worker(ctx context.Context) (*worker, error) {
	made := manner{
		model: cmp.Or(j.ask.Model, j.state.Meta.Model), prompt: j.systemPrompt(),
		hook: j.ask.ContextCmd != "", args: strings.Join(j.ask.ClaudeArgs, "\x00"), powers: j.powers(),
	}
	if j.staysWarm() {
		if w := j.Warm.take(ctx, j.state.Meta.Key, j.state.Session.ID, made); w != nil {
			if err := j.begin(ctx, w); err != nil {
				w.end(ctx)
				return nil, err
			}
			return w, nil
		}
	}
	id, opening, err := j.choose(ctx)
	if err != nil {
		return nil, err
	}
	release, err := j.claim(ctx, id, opening)
	if err != nil {
		return nil, err
	}
	w, err := j.startWorker(ctx, id, opening, made)
	if err != nil {
		release()
		return nil, err
	}
	w.release = func() { w.dropFiles(j.Store); release() }
	return w, nil
}

// staysWarm reports whether the claude of the turn is kept for the next one.
func (j *job) staysWarm() bool { return j.Warm != nil && !j.ask.Isolated }

// begin records that the turn is about to be sent to this claude.
func (j *job) begin(ctx context.Context, w *worker) error {
	return j.c.Begin(ctx, conversations.Start{
		Seq: j.turn.Seq, Attempt: j.attempt(), Invocation: w.invocation, Runner: w.self,
		Session: w.session, Mode: w.mode, At: j.Now().UTC(),
	})
}

func (j *job) systemPrompt() string {
	if j.ask.Isolated {
		return j.ask.SystemPrompt
	}
	return j.state.Meta.SystemPrompt
}

func (j *job) startWorker(ctx context.Context, id agent.SessionID, opening claude.Opening, made manner) (*worker, error) {
	self, err := j.Machine.Self()
	if err != nil {
		return nil, err
	}
	program, err := claude.FindBinary(agent.Variable(j.Env, claude.BinaryVariable))
	if err != nil {
		return nil, err
	}
	w := &worker{machine: j.Machine, self: self, invocation: agent.NewInvocation(), session: id, mode: j.continuityOf(id, opening), made: made}
	if err := j.begin(ctx, w); err != nil {
		return nil, err
	}
	j.Store.SweepTurnFiles(time.Now(), func(invocation string) bool {
		there, err := j.Machine.Carrying(agent.TurnVariable, invocation)
		return err != nil || len(there) > 0
	})
	files := j.Store.TurnFiles(w.invocation)
	spec := turn.Spec{
		SessionID: id, Opening: opening, Model: made.model, Partial: j.Heard != nil, Extra: j.ask.ClaudeArgs, Fork: j.ask.Fork,
		Settings: turn.Settings(observe.Closed(j.Store), made.hook),
	}
	if powers := j.ask.Powers; powers != nil {
		spec.PermissionMode, spec.Extra = powers.PermissionMode, slices.Concat(powers.ClaudeArgs, spec.Extra)
	}
	if made.hook { // the hook costs each turn two processes
		if w.context, err = files.Put(turnfiles.Context, ""); err != nil {
			return nil, err
		}
	}
	if made.prompt != "" {
		if spec.SystemPromptFile, err = files.Put(turnfiles.SystemPrompt, made.prompt); err != nil {
			return nil, errors.Join(err, files.Drop())
		}
	}
	w.process, err = j.Start(turn.Launch{
		Program: program, Args: turn.Args(spec), Dir: j.state.Meta.Cwd, Env: j.environ(w), OneTurn: !j.staysWarm(),
	})
	if err != nil {
		return nil, errors.Join(err, files.Drop())
	}
	return w, nil
}

// environ returns the environment of the claude: the inherited one without the variables of an agent. The context
// variable, which may be empty, marks it as the claude of a conversation.
func (j *job) environ(w *worker) []string {
	caller := slices.DeleteFunc(slices.Clone(j.given()), func(entry string) bool { return strings.HasPrefix(entry, "NBS_") })
	spec := &j.record(w.session, true).Spec
	if powers := j.ask.Powers; powers != nil {
		spec.Env = powers.Env
	}
	return claude.Env(spec, caller, map[string]string{
		agent.TurnVariable: string(w.invocation), turn.ContextVariable: w.context, turn.EagerFlush: "1", "PWD": j.state.Meta.Cwd,
	})
}

// say sends the turn's text and context to the claude, and waits for the answer.
func (w *worker) say(ctx context.Context, j *job) (turn.Outcome, error) {
	if w.made.hook {
		background := turn.Marker(string(w.invocation), j.turn.Seq) + "\n" + j.background(ctx)
		if _, err := j.Store.TurnFiles(w.invocation).Put(turnfiles.Context, background); err != nil {
			return turn.Outcome{}, err
		}
	}
	if j.ask.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.ask.Timeout)
		defer cancel()
	}
	return w.process.Turn(ctx, turn.TextID(string(w.invocation), j.turn.Seq), j.text, func(heard turn.Event) {
		if heard.Text != "" && j.Heard != nil {
			j.Heard(j.c.Key(), j.turn.ID, heard.Text)
		}
	})
}

// end asks the claude to exit, kills it if it does not, and releases the conversation. It does so even if the context
// is canceled.
func (w *worker) end(ctx context.Context) {
	if !w.exits(ctx) {
		w.kill(ctx)
		return
	}
	w.letGo()
}

// exits asks the claude to exit, and reports whether it did in time.
func (w *worker) exits(ctx context.Context) bool {
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
	defer cancel()
	return w.process.Close(patience) == nil
}

// leave runs end in the background until awaitLeft. Claude takes a moment to exit; its answer is complete.
func (w *worker) leave(ctx context.Context) { w.leaving.Go(func() { w.end(ctx) }) }

func (w *worker) awaitLeft() { w.leaving.Wait() }

// kill ends the claude and the processes that it started. It retries: without free descriptors, none are found.
func (w *worker) kill(ctx context.Context) {
	for ended := false; !ended; ended = w.exits(ctx) {
		_ = endProcesses(context.WithoutCancel(ctx), w.machine, w.invocation, endGrace)
	}
	w.letGo()
}

// letGo releases the conversation.
func (w *worker) letGo() {
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

func (w *worker) dropFiles(s *store.Store) { _ = s.TurnFiles(w.invocation).Drop() }

// failedToStart settles a turn when no claude could be started.
func (j *job) failedToStart(ctx context.Context, err error) error {
	var gone lostError
	if errors.As(err, &gone) {
		return j.settleLost(ctx, gone.error)
	}
	return err // it stays open
}

// continuityOf returns New for a session that is opened as new or was begun by this turn, and Resumed otherwise.
func (j *job) continuityOf(id agent.SessionID, opening claude.Opening) string {
	begunByThis := func(s conversations.Start) bool { return s.Session == id && s.Mode == conversations.New }
	if opening == claude.OpenNew || slices.ContainsFunc(j.turn.Starts, begunByThis) {
		return conversations.New
	}
	return conversations.Resumed
}
