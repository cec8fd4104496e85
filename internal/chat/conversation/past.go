package conversation

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// CheckClaude checks that a claude can be started. Errors: Unfit.
func (e *Engine) CheckClaude() error {
	_, err := claude.FindBinary(e.Project.Variable(claude.BinaryVariable))
	return err
}

// Founding returns the Meta of a conversation that begins here and now.
func (e *Engine) Founding() (conversations.Meta, error) {
	meta := conversations.Meta{Cwd: e.Project.Store.Project(), ConfigDir: e.Project.Variable(claude.ConfigDirVariable)}
	if meta.ConfigDir == "" {
		return meta, nil
	}
	var err error
	meta.ConfigDir, err = filepath.Abs(meta.ConfigDir)
	return meta, err
}

// Adopt gives a conversation a session that another bridge recorded. there reports whether Claude has its transcript.
// Errors: Conflict when the conversation has another session; BadInput when the session is an observer's.
func (e *Engine) Adopt(ctx context.Context, key conversations.Key, id agent.SessionID) (there bool, err error) {
	c := e.Project.Store.Conversations().Of(key)
	meta, err := e.Founding()
	if err != nil {
		return false, err
	}
	config, err := claude.ConfigAt(meta.ConfigDir)
	if err != nil {
		return false, err
	}
	file, there, err := config.Transcript(id)
	if err != nil {
		return false, err
	}
	if cwd, err := file.LastCwd(); there && err == nil && cwd != "" { // up to 2.1.197 claude finds it only from there
		meta.Cwd = cwd
	}
	if e.Project.Store.Spool().WorksIn(meta.Cwd) {
		return false, fail.Errorf(fail.BadInput, "the session %s observes an agent for the memory", id).
			Hint("to see who is observed: nbs-worker memory status")
	}
	before, err := c.State()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if before.Session.ID != "" && before.Session.ID != id {
		return false, fail.Errorf(fail.Conflict, "the conversation %s already has another session", human.Quote(string(key))).
			Hint("to leave that one: nbs-worker conversation reset %s", human.ShellWord(string(key)))
	}
	return there, c.Adopt(ctx, meta, id, there)
}

// Past selects which messages of a conversation to read.
type Past struct {
	Last  int  // messages from the end of each session; 0: all
	All   bool // also from previous sessions
	Tools bool // also tool output, and what Claude got in addition to the texts
}

// PastSession is a current or previous session of a conversation.
type PastSession struct {
	SessionID agent.SessionID
	Until     time.Time // zero: the conversation is still in it
	Reason    string    // why the conversation left it
	Gone      bool      // its transcript is missing
}

// History reads the messages of a conversation from Claude's transcripts. Errors: NotFound.
func (e *Engine) History(key conversations.Key, asked Past, session func(PastSession) error, said func(transcript.Message) error) error {
	state, err := e.Project.Store.Conversations().Of(key).State()
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone(key)
	}
	if err != nil {
		return err
	}
	config, err := claude.ConfigAt(state.Meta.ConfigDir)
	if err != nil {
		return err
	}
	for _, s := range sessionsOf(&state, asked.All) {
		file, found, err := config.Transcript(s.SessionID)
		s.Gone = !found
		if err == nil {
			err = session(s)
		}
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		read, err := file.Conversation(transcript.Wanted{Last: asked.Last, Tools: asked.Tools})
		if err == nil {
			err = read.Each(said)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionsOf returns the sessions of a conversation, oldest first.
func sessionsOf(state *conversations.State, all bool) []PastSession {
	var sessions []PastSession
	if all {
		for _, p := range state.Previous {
			sessions = append(sessions, PastSession{SessionID: p.ID, Until: p.Until, Reason: p.Reason})
		}
	}
	if state.Session.ID != "" {
		sessions = append(sessions, PastSession{SessionID: state.Session.ID})
	}
	return sessions
}
