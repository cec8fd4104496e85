package conversations

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
)

// What is the kind of a journal line.
type What string

// The kinds of lines.
const (
	Enqueued  What = "enqueue" // a turn was accepted
	Started   What = "start"   // an attempt at it begins
	Confirmed What = "confirm" // Claude said a session id
	Done      What = "done"
	Voided    What = "void" // the last attempt came to nothing
	HeldUp    What = "hold"
	Retried   What = "retry"
	SkippedBy What = "skip"
	Stopped   What = "stop"    // the turn is to end
	Replaced  What = "replace" // its text was edited before an attempt
	WasReset  What = "reset"
	Restored  What = "restore"
	Adopted   What = "adopt"
	Permitted What = "permit"    // its meta has other rights
	Named     What = "name"      // a person named a session
	WasTold   What = "told"      // a text was delivered to its chat
	Added     What = "add"       // something came unasked, after a turn
	Delivered What = "delivered" // a chat was told of it
	Switched  What = "memory"    // its memory was switched on or off
	Chosen    What = "model"     // a person chose the model of the next turns
	Base      What = "base"      // all that was before
)

// Line is a line of the journal.
type Line struct {
	What       What            `json:"what"`
	At         time.Time       `json:"at"`
	Seq        int             `json:"seq,omitempty"`
	ID         string          `json:"id,omitempty"`
	SHA        string          `json:"sha,omitempty"`
	Isolated   bool            `json:"isolated,omitempty"`
	Class      string          `json:"class,omitempty"`
	Continuity string          `json:"continuity,omitempty"`
	Session    agent.SessionID `json:"session,omitempty"` // outgoing, confirmed, restored or adopted
	Previous   agent.SessionID `json:"previous,omitempty"`
	Unseen     bool            `json:"unseen,omitempty"` // the adopted session has no transcript
	Reason     string          `json:"reason,omitempty"`
	Name       string          `json:"name,omitempty"`     // of a session
	Model      agent.Model     `json:"model,omitempty"`    // that was chosen; "": that of Meta
	CostUSD    *float64        `json:"cost_usd,omitempty"` // of a turn
	Lingers    bool            `json:"lingers,omitempty"`  // the claude of a turn goes on after its end
	Start      *Start          `json:"start,omitempty"`
	Held       *Held           `json:"held,omitempty"`
	Told       *Told           `json:"told,omitempty"`
	Unasked    *Unasked        `json:"unasked,omitempty"`
	Meta       *Meta           `json:"meta,omitempty"`  // from here on
	State      *State          `json:"state,omitempty"` // of a base
}

// mostPrevious is how many previous sessions are remembered.
const mostPrevious = 100

// apply folds a line into the state. It returns an error for a line that cannot follow.
func (s *State) apply(line *Line) error {
	if line.Meta != nil {
		if before := s.Meta.Rights; s.Next > 0 && line.Meta.Rights != before {
			s.Before = &EarlierRights{before, line.At}
		}
		s.Meta = *line.Meta
	}
	switch line.What {
	case Base:
		return s.begin(line)
	case Enqueued:
		return s.enqueue(line)
	case Permitted:
		return nil
	case Confirmed:
		s.confirm(line.Session)
		return nil
	case WasReset:
		s.reset(line)
		return nil
	case Added, Delivered:
		s.addUnasked(line)
		return nil
	case Restored, Adopted:
		s.exchange(line, Session{line.Session, true})
		if line.Unseen {
			s.Unseen = line.Session
		} else if line.What == Adopted {
			s.see(line.Session)
		}
		return nil
	case Named:
		s.name(line.Session, line.Name)
		return nil
	case Chosen:
		s.Model = line.Model
		return nil
	case Switched:
		return nil // its meta says it
	case WasTold:
		if line.Told == nil {
			return errors.New("a told line without a text")
		}
		s.tell(*line.Told)
		return nil
	default:
		return s.applyTo(line)
	}
}

// applyTo folds a line about an open turn.
func (s *State) applyTo(line *Line) error {
	turn := s.turn(line.Seq)
	if left := s.Left(line.Seq); left != nil && line.What == Stopped {
		turn = left
	}
	if turn == nil {
		return fmt.Errorf("turn %d is not open", line.Seq)
	}
	switch line.What {
	case Started:
		return s.start(turn, line.Start)
	case Voided:
		if n := len(turn.Starts); n > 0 {
			turn.Starts, turn.Tries = turn.Starts[:n-1], max(0, turn.Tries-1)
		}
	case HeldUp:
		turn.Held = line.Held
		if turn.Held != nil && turn.Held.Uncounted {
			turn.Tries = max(0, turn.Tries-1)
		}
	case Retried:
		turn.Held, turn.Tries = nil, 0
	case Stopped:
		turn.Stop = &Stop{Why: line.Reason, At: line.At}
	case Replaced:
		turn.SHA, turn.Edits = line.SHA, turn.Edits+1
	case Done, SkippedBy:
		s.finish(turn, line)
	default:
		return fmt.Errorf("unknown line %q", line.What)
	}
	return nil
}

func (s *State) begin(line *Line) error {
	if s.Next != 0 || line.State == nil {
		return errors.New("unexpected base line")
	}
	*s = *line.State
	for _, turn := range s.Open {
		for i := range turn.Starts {
			turn.Starts[i].Seq = turn.Seq
		}
	}
	return nil
}

func (s *State) enqueue(line *Line) error {
	if line.Seq != max(s.Next, 1) {
		return fmt.Errorf("turn %d is out of order: %d is next", line.Seq, max(s.Next, 1))
	}
	s.Open = append(s.Open, Turn{Seq: line.Seq, ID: line.ID, SHA: line.SHA, At: line.At, Isolated: line.Isolated})
	s.Next, s.LastAt = line.Seq+1, line.At
	return nil
}

func (s *State) start(turn *Turn, start *Start) error {
	if start == nil {
		return errors.New("a start line without an attempt")
	}
	begun := *start
	begun.Seq = turn.Seq
	turn.Starts = append(turn.Starts, begun)
	s.Lingering = slices.DeleteFunc(s.Lingering, func(left Turn) bool { return left.Isolated == turn.Isolated })
	turn.Tries++
	turn.Held = nil
	if !turn.Isolated && !s.Session.Confirmed {
		s.Session = Session{ID: begun.Session}
	}
	return nil
}

// confirm sets the session id of the first turn: no other turn can have begun.
func (s *State) confirm(id agent.SessionID) {
	if len(s.Open) == 0 || len(s.Open[0].Starts) == 0 {
		return
	}
	s.see(id)
	turn := &s.Open[0]
	start := &turn.Starts[len(turn.Starts)-1]
	start.Said = id
	if !turn.Isolated && start.Era == s.Era && (s.Session.ID == id || !s.Session.Confirmed && s.Session.ID == start.Session) {
		s.Session = Session{id, true}
	}
}

// see notes that a session has a transcript.
func (s *State) see(id agent.SessionID) {
	if s.Unseen == id {
		s.Unseen = ""
	}
}

// finish removes a turn from the open ones. It does not change the session if the conversation got another session
// after the turn began.
func (s *State) finish(turn *Turn, line *Line) {
	isolated, current := turn.Isolated, true
	if n := len(turn.Starts); n > 0 {
		current = turn.Starts[n-1].Era == s.Era
	}
	carried, turnID := s.carriedBy(turn), turn.ID
	if line.Lingers {
		s.linger(turn, line.Class)
	}
	var stopped *Turn
	if turn.Stop != nil && len(turn.Starts) > 0 && line.Class != "" {
		stopped = turn.ended()
	}
	s.Open = slices.DeleteFunc(s.Open, func(t Turn) bool { return t.Seq == line.Seq })
	s.LastAt = line.At
	if s.spend(line.At, line.CostUSD); line.CostUSD != nil {
		s.LastUSD = *line.CostUSD
	}
	if line.Class == "" && line.What == Done {
		s.Answered++
	}
	if isolated || !current || line.What != Done {
		return
	}
	if line.Class == "" || stopped != nil {
		s.Stopped = stopped
	}
	if line.Class == "" { // the text of a failed turn may be in no transcript
		s.Last, s.Heard, s.Cut = turnID, 0, false
	}
	if line.Continuity == Reset && line.Previous != "" {
		s.leave(line)
	}
	if line.Session != "" {
		s.Session = Session{line.Session, true}
		s.see(line.Session)
	}
	if line.Class == "" {
		s.TellReset = nil
		s.carried(carried)
	}
}

func (s *State) reset(line *Line) {
	s.exchange(line, Session{})
	if line.Previous != "" {
		s.TellReset = &Previous{ID: line.Previous, Until: line.At, Reason: line.Reason}
	}
}

// exchange replaces the conversation's session.
func (s *State) exchange(line *Line, to Session) {
	if line.Previous != "" {
		s.leave(line)
	}
	cut := false
	if i := slices.IndexFunc(s.Previous, func(p Previous) bool { return p.ID == to.ID }); i >= 0 {
		cut = s.Previous[i].Cut
		s.Previous = slices.Delete(s.Previous, i, i+1)
	}
	if to.ID != "" {
		s.TellReset = nil
	}
	s.Last, s.Heard, s.Cut, s.Stopped = "", 0, cut, nil
	s.Session = to
	s.Era++
	s.Next = max(s.Next, 1)
}

// leave makes the session that a line leaves a previous one.
func (s *State) leave(line *Line) {
	p := Previous{ID: line.Previous, Until: line.At, Reason: line.Reason, Cut: s.Cut}
	if i := slices.IndexFunc(s.Previous, func(other Previous) bool { return other.ID == p.ID }); i >= 0 { // it was left before
		p.Cut = s.Previous[i].Cut
		s.Previous = slices.Delete(s.Previous, i, i+1)
	}
	s.Previous = append(s.Previous, p)
	s.Previous = s.Previous[max(0, len(s.Previous)-mostPrevious):]
}
