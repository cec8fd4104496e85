// Package headless runs headless claudes (claude -p) for conversations and for the observers of the memory. It claims a
// conversation, starts a claude on it, keeps claudes for the next turn, and ends them, also those of a killed runner.
//
//   - A claude and all that it starts carry the claude's invocation in their environment. Only these are ended.
//   - A conversation is released when its claude has ended, and not before.
//   - What a claude prints is read in one place, [turn.Process].
package headless

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Process is a claude that takes one text after another.
type Process interface {
	PID() int
	Beside() turn.Beside
	Turn(ctx context.Context, id, text string, heard func(turn.Event), images ...turn.Image) (turn.Outcome, error)
	Command(ctx context.Context, id, command string, heard func(turn.Event)) (turn.Outcome, error)
	Close(ctx context.Context) error
	Ended() <-chan struct{}
}

// Start starts a real claude.
func Start(l turn.Launch) (Process, error) { return turn.Start(l) }

// Manner is how a claude was started: the options that cannot change while it runs.
type Manner struct {
	Model  agent.Model
	Prompt string // the system prompt
	Hook   bool   // has the hook that passes context to it
	Args   string
	Rights conversations.Rights
	Powers string // of the agent that it runs for; "": it runs for a person
}

// serves reports whether a claude started in this manner can take a turn that asks for the wanted manner. A claude with the
// hook also takes turns without context: an empty context is cheaper than a start.
func (m Manner) serves(wanted Manner) bool {
	wanted.Hook = wanted.Hook || m.Hook
	return m == wanted
}

// Session is a claude that has a conversation open.
type Session struct {
	Process

	ID         agent.SessionID // with which it was started
	Invocation agent.Invocation
	Manner     Manner

	machine *machine.Machine
	files   turnfiles.Files
	release func()
	cut     func(tasks []string)
	used    time.Time // when [Pool.Put] got it
}

// Launch is a claude to be started on a conversation.
type Launch struct {
	Start   func(turn.Launch) (Process, error)
	Record  *agent.Record // the conversation as an agent's record, with the claude's own variables
	Manner  Manner
	Spec    turn.Spec // without what Record and Manner have
	Dir     string
	Caller  []string // the environment that it inherits, less the variables of an agent
	OneTurn bool     // see [turn.Launch]

	// Verb names who claims the conversation. "": no lease is taken, because no other process knows the new conversation.
	Verb string

	// Dying is how long the locks of a killed runner are waited for: they are released one after the other, and its
	// claude, which gets no more input, exits by itself.
	Dying time.Duration

	// IsOurs reports whether an invocation is of an earlier turn of this conversation. Such a claude is ended if it
	// does not exit, since its runner is gone. nil: none is.
	IsOurs func(agent.Invocation) bool

	// Prepare is called before claude starts, so that what is left of it can be found. It returns more variables.
	Prepare func(agent.Invocation, turnfiles.Files) (map[string]string, error)

	Spoke func(turn.Spoken)    // see [turn.Launch]
	Cut   func(tasks []string) // called when the claude has ended although it had background tasks, or was about to speak
}

// Open claims the conversation and starts the claude. Errors: Conflict when another process has the conversation open.
func (l *Launch) Open(ctx context.Context, o *observe.Project) (s *Session, err error) {
	release, err := l.claim(ctx, o)
	if err != nil {
		return nil, err
	}
	invocation := agent.NewInvocation()
	s = &Session{ID: l.Record.SessionID, Invocation: invocation, Manner: l.Manner, machine: o.Machine, files: o.Store.TurnFiles(invocation), release: release, cut: l.Cut}
	if s.Process, err = l.start(s, o); err != nil {
		err = errors.Join(err, s.DropFiles())
		release()
	}
	return s, err
}

func (l *Launch) start(s *Session, o *observe.Project) (Process, error) {
	program, err := claude.FindBinary(o.Variable(claude.BinaryVariable))
	if err != nil {
		return nil, err
	}
	variables, err := l.Prepare(s.Invocation, s.files)
	if err != nil {
		return nil, err
	}
	o.Store.SweepTurnFiles(time.Now(), func(invocation string) bool {
		there, err := lineage.LeftOfTurn(o.Machine, agent.Invocation(invocation))
		return err != nil || len(there) > 0
	})
	spec := l.Spec
	spec.SessionID, spec.Model = s.ID, l.Manner.Model
	if l.Manner.Prompt != "" {
		if spec.SystemPromptFile, err = s.files.Put(turnfiles.SystemPrompt, l.Manner.Prompt); err != nil {
			return nil, err
		}
	}
	ours := map[string]string{agent.TurnVariable: string(s.Invocation), "PWD": l.Dir}
	maps.Copy(ours, variables)
	caller := slices.DeleteFunc(slices.Clone(l.Caller), func(entry string) bool { return strings.HasPrefix(entry, "NBS_") })
	return l.Start(turn.Launch{
		Program: program, Args: turn.Args(spec), Dir: l.Dir, Env: claude.Env(&l.Record.Spec, caller, ours), OneTurn: l.OneTurn, Spoke: l.Spoke,
	})
}

// Alive reports whether the claude has not ended yet.
func (s *Session) Alive() bool {
	select {
	case <-s.Ended():
		return false
	default:
		return true
	}
}

// DropFiles removes the files that the claude was to read.
func (s *Session) DropFiles() error { return s.files.Drop() }
