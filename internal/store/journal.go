package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
	"nbs-worker/internal/store/private"
)

const (
	journal     = "journal.jsonl"
	journalLock = "journal"
	eventLimit  = 1 << 16 // bytes of a line; ours hold a few words
)

// Event is one line of the journal: what was done to whom, on what evidence. It
// holds no secret and no prompt.
type Event struct {
	At         time.Time        `json:"at"`
	Event      string           `json:"event"` // "spawn", "start", "exit", "resume", "stop", "dismiss", "moved", "failed" ...
	Handle     agent.Handle     `json:"handle"`
	SessionID  agent.SessionID  `json:"session_id"`
	Invocation agent.Invocation `json:"invocation,omitempty"`
	PID        int              `json:"pid,omitempty"`
	Detail     string           `json:"detail,omitempty"`

	Over int `json:"over,omitempty"` // how many lines before this one are no links of the chain
	Prev sum `json:"prev,omitempty"` // what stands before this line; "" in lines of earlier versions
}

// EventOf is what was done to the agent of a record.
func EventOf(r *agent.Record, at time.Time, event, detail string) Event {
	done := Event{At: at, Event: event, Handle: r.Handle, SessionID: r.SessionID, PID: r.PID, Detail: detail}
	if r.Process != nil {
		done.Invocation = r.Process.Invocation
	}
	return done
}

// Append adds one line to the journal, durably, under the journal's lock. What the event
// says of the chain is set here.
func (s *Store) Append(ctx context.Context, event Event) error {
	first := !s.hasJournaled()
	unlock, err := s.nbs.Lock(ctx, journalLock)
	if err != nil {
		return s.nbs.LockFailed(journalLock, err)
	}
	defer unlock()
	f, err := s.openJournal()
	if err != nil {
		return err
	}
	return errors.Join(s.appendTo(f, event, first), f.Close())
}

// hasJournaled tells whether this .nbs ever had a journal: its lock stays for as long as the
// .nbs does. A new .nbs in the place of another begins a new chain, and says so.
func (s *Store) hasJournaled() bool {
	_, err := s.nbs.Lstat(private.Locks + "/" + journalLock)
	return err == nil
}

// openJournal opens the journal for a writer.
func (s *Store) openJournal() (*os.File, error) {
	f, err := s.nbs.OpenRegular(journal, os.O_APPEND|os.O_CREATE|os.O_RDWR)
	if errors.Is(err, smallfile.ErrIrregular) {
		return nil, agent.Errorf(agent.Failed, "open %s/%s: %w", folder, journal, err).
			Hint("look at what it is, then move it aside: %s", private.MoveTo(filepath.Join(s.project, folder, journal), ".aside"))
	}
	if err != nil {
		return nil, s.nbs.Remedied(fmt.Errorf("open %s/%s: %w", folder, journal, err))
	}
	return f, nil
}

// appendTo adds a link to the open journal and moves the head there. The first is that of a
// .nbs which had no journal before.
func (s *Store) appendTo(f *os.File, event Event, first bool) error {
	headFile, last, known, err := s.openHead()
	if err != nil {
		return err
	}
	defer headFile.Close()
	events := []Event{event}
	if info, err := f.Stat(); first && known && err == nil && info.Size() == 0 {
		begun := event
		begun.Event, begun.PID, begun.Detail = "begun", 0, fmt.Sprintf("a new journal; the one of the .nbs that was here before had %d bytes", last.size)
		events, known = []Event{begun, event}, false
		if err := headFile.Truncate(0); err != nil { // who is killed from here on leaves a chain without a head
			return s.heads().Remedied(fmt.Errorf("write %s: %w", s.headPath(), err))
		}
	}
	for _, event := range events {
		if last, err = s.appendLink(f, event, last, known); err != nil {
			return err
		}
		known = true
	}
	return s.writeHead(headFile, last)
}

// appendLink adds a link to the open journal, durably, and returns where the chain ends then.
func (s *Store) appendLink(f *os.File, event Event, last head, known bool) (head, error) {
	end, err := endOf(f, last, known)
	if err != nil {
		return head{}, fmt.Errorf("read %s/%s: %w", folder, journal, err)
	}
	event.Prev, event.Over = end.prev, end.over
	line, err := encodeEvent(event)
	if err != nil {
		return head{}, err
	}
	text := slices.Concat(line, []byte{'\n'})
	if end.torn {
		text = slices.Concat([]byte{'\n'}, text)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync()); err != nil {
		return head{}, s.nbs.Remedied(fmt.Errorf("write %s/%s: %w", folder, journal, err))
	}
	return head{size: end.size + int64(len(text)), sum: sumOf(line)}, nil
}

// encodeEvent is an event as a line, without the line break. A detail of somebody else's
// words may be too long for one.
func encodeEvent(event Event) ([]byte, error) {
	const kept = eventLimit / 8 // JSON spells a character with six at most
	line, err := json.Marshal(event)
	if err == nil && len(line) >= eventLimit {
		event.Detail = event.Detail[:kept] + "..."
		line, err = json.Marshal(event)
	}
	return line, err
}

// journalEnd is where the next line goes and what it must say.
type journalEnd struct {
	chain
	size int64
	torn bool // the last line has no line break
}

// endOf looks at the journal behind its head: there is nothing, or what a writer left that
// did not come to its end. Without a head, it looks at all of it. A journal that is shorter
// than its head has lost lines, and one that has another line there was made anew; the next
// line goes on from what the head says, so that this stays to be seen.
func endOf(f *os.File, last head, known bool) (journalEnd, error) {
	info, err := f.Stat()
	if err != nil {
		return journalEnd{}, err
	}
	end := journalEnd{chain: chain{prev: firstSum}, size: info.Size()}
	from := int64(0)
	if known {
		end.prev, from = last.sum, min(last.size, end.size)
	}
	if from == end.size || known && !last.endsIn(f) {
		end.torn = tornAtEnd(f)
		return end, nil
	}
	lines := readJournal(io.NewSectionReader(f, from, end.size-from), end.chain, from)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			end.chain = lines.chain
			return end, nil
		}
		if err != nil {
			return end, err
		}
		end.torn = !line.whole
	}
}

// tornAtEnd tells whether the last line was cut short, by a full disk or a power cut.
func tornAtEnd(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// memory is what the journal says of the last session id of each agent, by key. Reading it
// takes its time, and one command may meet with many damaged records.
type memory struct {
	mu   sync.Mutex
	size int64 // of the journal that was read; it only grows
	ids  map[string]agent.SessionID
}

// lastSessionID returns the id that the journal names last for the handle, or "".
func (s *Store) lastSessionID(handle agent.Handle) agent.SessionID {
	f, err := s.nbs.OpenRegular(journal, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	s.remembered.mu.Lock()
	defer s.remembered.mu.Unlock()
	if s.remembered.ids == nil || s.remembered.size != info.Size() {
		s.remembered.ids, s.remembered.size = lastSessionIDs(f), info.Size()
	}
	return s.remembered.ids[handle.Key()]
}

// lastSessionIDs reads a journal. What is no event, such as a line that was cut short or is
// longer than any of ours, is passed over and hides nothing behind it.
func lastSessionIDs(journal io.Reader) map[string]agent.SessionID {
	last := map[string]agent.SessionID{}
	lines := bufio.NewReaderSize(journal, eventLimit)
	for {
		line, err := lines.ReadSlice('\n')
		var event struct {
			Handle    agent.Handle    `json:"handle"`
			SessionID agent.SessionID `json:"session_id"`
		}
		if json.Unmarshal(line, &event) == nil {
			if id, err := agent.ParseSessionID(string(event.SessionID)); err == nil {
				last[event.Handle.Key()] = id
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return last
		}
	}
}
