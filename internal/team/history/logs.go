// Package history shows what has happened, in the past and live: what was said in an agent's conversations, from
// Claude's transcripts, and what was done to agents, from the journal. It changes nothing. A follower gets a note
// when the followed file was cut or replaced.
package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/team/observe"
)

// LogQuery says which part of an agent's conversation is wanted.
type LogQuery struct {
	Handle agent.Handle
	Last   int            // the number of messages, counted from the end; 0: all
	Since  time.Time      // only messages since then; zero: all
	Match  *regexp.Regexp // only messages with a matching text; nil: all
	Tools  bool           // also what tools did, Claude's notes to itself, and subagents
	All    bool           // also the earlier conversations of the agent

	SessionID agent.SessionID // the wanted one of them; "": the present one
	Follow    bool            // also what is said from now on, until the agent is dismissed
}

// Said is a message of a conversation.
type Said = transcript.Message

// LogSession is a present or earlier conversation of the agent.
type LogSession struct {
	SessionID agent.SessionID
	Until     time.Time // zero: the agent is in it
	Reason    string    // why the agent left it
	Gone      bool      // it has no transcript
}

// LogReader receives the results. An error of its functions ends the reading.
type LogReader struct {
	Said    func(Said) error
	Session func(LogSession) error // what follows belongs to this conversation
	Note    func(string)           // receives remarks
}

// Logs reads the conversation of an agent. Errors: NotFound if there is no such agent or no transcript yet.
func Logs(ctx context.Context, o *observe.Project, q LogQuery, to LogReader) error {
	l := &logs{project: o, query: q, to: to}
	r, err := o.Store.Load(q.Handle)
	if err != nil {
		return err
	}
	if l.config, err = o.ConfigOf(&r); err != nil {
		return err
	}
	if q.Follow {
		if l.watch, err = fswatch.New(); err != nil {
			return err
		}
		defer l.watch.Close()
		if err := l.arm(); err != nil { // before the first look, so that nothing is missed in between
			return err
		}
	}
	l.sessions = l.sessionsOf(&r)
	if err := l.choose(); err != nil {
		return err
	}
	l.at = l.sessions[len(l.sessions)-1].SessionID
	if err := l.past(ctx, &r); err != nil || !q.Follow {
		return err
	}
	return l.follow(ctx)
}

// logs is one reading.
type logs struct {
	project  *observe.Project
	query    LogQuery
	to       LogReader
	config   claude.Config
	sessions []LogSession   // to show, oldest first
	watch    *fswatch.Watch // nil: nothing is followed

	at   agent.SessionID  // the followed conversation
	read transcript.Place // in its transcript, up to which it was read
}

// choose drops the unwanted conversations. Errors: NotFound.
func (l *logs) choose() error {
	switch id := l.query.SessionID; {
	case id != "":
		l.sessions = slices.DeleteFunc(l.sessions, func(s LogSession) bool { return s.SessionID != id })
		if len(l.sessions) == 0 {
			return fail.Errorf(fail.NotFound, "the agent was never in the conversation %s", id).
				Hint("to see its conversations: nbs-worker session %s", l.query.Handle)
		}
	case !l.query.All:
		l.sessions = l.sessions[len(l.sessions)-1:]
	}
	return nil
}

// sessionsOf lists the conversations of a record, oldest first. The last one is the agent's present conversation,
// also if the record does not name it yet.
func (l *logs) sessionsOf(r *agent.Record) []LogSession {
	all := agent.Mapped(r.PreviousSessions, func(p agent.PreviousSession) LogSession {
		return LogSession{SessionID: p.SessionID, Until: p.Until, Reason: p.Reason}
	})
	all = append(all, LogSession{SessionID: r.SessionID})
	if id, moved := l.config.Registry().MovedTo(r, l.project.Store.Report(r.Handle), observe.HookLead(l.project.Machine, r)); moved {
		all[len(all)-1].Reason = live.Moved
		all = append(all, LogSession{SessionID: id})
	}
	return all
}

// reading returns which part of one transcript is wanted. A /branch copies what was said before it: if the original
// is shown too, the copy is not shown.
func (l *logs) reading(last int) transcript.Wanted {
	return transcript.Wanted{Tools: l.query.Tools, Last: last, Keep: func(m transcript.Message) bool {
		if m.Copied != "" && slices.ContainsFunc(l.sessions, func(s LogSession) bool { return s.SessionID == m.Copied }) {
			return false
		}
		if m.At.Before(l.query.Since) {
			return false
		}
		return l.query.Match == nil || l.query.Match.MatchString(m.Text)
	}}
}

// past shows what was said until now.
func (l *logs) past(ctx context.Context, r *agent.Record) error {
	conversations := make([]*transcript.Conversation, len(l.sessions))
	found, wanted := false, l.query.Last
	for i := len(l.sessions) - 1; i >= 0 && (l.query.Last == 0 || wanted > 0); i-- {
		file, there, err := l.config.Transcript(l.sessions[i].SessionID)
		if err != nil {
			return err
		}
		if l.sessions[i].Gone = !there; !there {
			continue
		}
		found = true
		if conversations[i], err = file.Conversation(l.reading(wanted)); err != nil {
			return fmt.Errorf("read the transcript: %w", err)
		}
		wanted -= conversations[i].Messages
	}
	if !found && !l.query.Follow {
		return noTranscript(r, l.sessions[len(l.sessions)-1])
	}
	for i, c := range conversations {
		if c == nil && (!l.query.All || !l.sessions[i].Gone) {
			continue // not needed for the last few messages
		}
		if err := l.show(ctx, l.sessions[i], c); err != nil {
			return err
		}
	}
	return nil
}

func (l *logs) show(ctx context.Context, session LogSession, c *transcript.Conversation) error {
	if l.query.All {
		if err := l.to.Session(session); err != nil {
			return err
		}
	}
	if c == nil {
		return nil
	}
	if c.Elsewhere > 0 {
		l.to.Note(fmt.Sprintf("%d messages of the conversation %s are not shown: they are on abandoned branches, from prompts that were taken back or from a second claude",
			c.Elsewhere, session.SessionID))
	}
	if c.Gaps > 0 {
		l.to.Note(fmt.Sprintf("records of the conversation %s are missing or damaged in %d places; Claude may not know what was said before them", session.SessionID, c.Gaps))
	}
	if session.SessionID == l.at {
		l.read = c.End
	}
	return c.Each(func(m transcript.Message) error { return errors.Join(ctx.Err(), l.to.Said(m)) })
}

func noTranscript(r *agent.Record, wanted LogSession) error {
	switch {
	case !wanted.Until.IsZero():
		return fail.Errorf(fail.NotFound, "there is no transcript of the conversation %s, which the agent left %s", wanted.SessionID, wanted.Until.Format(time.RFC3339)).
			Hint("to see the record: nbs-worker session %s", r.Handle)
	case wanted.SessionID == r.SessionID && !r.TranscriptSeen.IsZero():
		return fail.Errorf(fail.NotFound, "its transcript is gone; it was last seen %s", r.TranscriptSeen.Format(time.RFC3339)).
			Hint("to see the record: nbs-worker session %s", r.Handle)
	}
	return fail.Errorf(fail.NotFound, "it has no transcript yet: Claude writes one with the first prompt").
		Hint("to wait for what is said: nbs-worker logs %s --follow", r.Handle)
}

// arm watches what shows a change of the conversation: the record, and all files that claude writes.
func (l *logs) arm() error {
	folders, err := l.config.ConversationFolders()
	if err != nil {
		return err
	}
	record, _ := l.project.Store.Watched(l.query.Handle)
	for _, folder := range append(folders, filepath.Dir(record)) {
		if err := l.watch.Folder(folder); err != nil {
			return err
		}
	}
	return nil
}

// follow shows what is said from now on.
func (l *logs) follow(ctx context.Context) error {
	for {
		there, err := l.later(ctx)
		if err != nil {
			return err
		}
		moved, err := l.move(ctx)
		if fail.KindOf(err) == fail.NotFound && err != nil {
			_, err := l.later(ctx) // its last words
			return err
		}
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		if err := l.watch.Change(ctx); err != nil {
			return err
		}
		if !there { // its folder may be new
			if err := l.arm(); err != nil {
				return err
			}
		}
	}
}

// later shows what was said since the last look.
func (l *logs) later(ctx context.Context) (there bool, err error) {
	file, there, err := l.config.Transcript(l.at)
	if err != nil || !there {
		return there, err
	}
	l.read, err = file.Later(l.read, l.reading(0), func(m transcript.Message) error { return errors.Join(ctx.Err(), l.to.Said(m)) },
		func() { l.to.Note("the transcript was cut or replaced; what follows is from its beginning") })
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return true, err
}

// move follows the agent into the next conversation after the followed one. Errors: NotFound if the agent was
// dismissed.
func (l *logs) move(ctx context.Context) (moved bool, err error) {
	r, err := l.project.Store.Load(l.query.Handle)
	if err != nil {
		return false, err
	}
	all := l.sessionsOf(&r)
	next := all[len(all)-1]
	if next.SessionID == l.at {
		return false, nil
	}
	if at := slices.IndexFunc(all, func(s LogSession) bool { return s.SessionID == l.at }); at >= 0 {
		next = all[at+1]
	}
	if _, err := l.later(ctx); err != nil {
		return false, err
	}
	l.sessions = append(l.sessions, next)
	l.at, l.read = next.SessionID, transcript.Place{}
	return true, l.to.Session(next)
}
