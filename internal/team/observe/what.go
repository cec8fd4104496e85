package observe

import (
	"cmp"

	"nbs-worker/internal/agent"
)

// Kind is what the words about an agent are.
type Kind string

// The kinds.
const (
	Question Kind = "question" // what its dialog asks
	Failure  Kind = "failure"  // why its last turn failed
	Task     Kind = "task"     // its last prompt; before that is known, the first one of its record
	Said     Kind = "said"     // the end of its last turn, in its own words
)

// What says in one line what an agent does, or did last.
type What struct {
	Kind Kind
	Text string // at most [agent.WordsLimit] bytes; foreign text, not yet safe to print
}

// What returns what an agent asks, does, or has said last. It reads nothing more. It is nil if nothing is known, or if
// the caller may see only states.
func (s *Sight) What() *What {
	what := s.what()
	if what.Text = agent.ShortWords(what.Text); s.private || what.Text == "" {
		return nil
	}
	return &what
}

func (s *Sight) what() What {
	words := agent.Words{}
	if s.Report.Words != nil && s.Report.Words.SessionID == s.Record.SessionID {
		words = *s.Report.Words
	}
	task := What{Task, cmp.Or(words.Prompt, s.Record.InitialPrompt)}
	switch s.Status.State {
	case agent.Waiting:
		if s.Asked != nil {
			return What{Question, s.Asked.String()}
		}
		return task
	case agent.TurnFailed:
		if s.Report.Failure != nil && s.Report.Failure.Text != "" {
			return What{Failure, s.Report.Failure.Text}
		}
		return task
	case agent.Starting, agent.Busy, agent.Retrying:
		return task
	case agent.Idle, agent.Unknown, agent.Backoff, agent.Dead:
	}
	if words.Said != "" {
		return What{Said, words.Said}
	}
	return task
}
