// Package past reads an agent's turns from the transcripts of its conversation and of its subagents, for a reader
// who did not see them.
//
//   - A turn is returned when it is over: its last record ends it, or another turn began.
//   - The records of a turn are near each other but not in order (2.1.197 writes some answers before their questions),
//     so they are sorted by time. Two turns whose records are interleaved, as by two claudes on one conversation, are
//     returned as one.
//   - Records that a /branch copied belong to another conversation, and are skipped.
//   - The text of a subagent belongs to the turn in which it was written. Text that a background subagent writes after
//     the end of that turn belongs to the next one.
//
// It relies on package transcript for the content of a record, and on no other knowledge of Claude Code.
package past

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/human"
)

// Turn is a finished turn.
type Turn struct {
	Number int    // of its first prompt in the conversation, from 1; 0: it began without one
	Last   string // uuid of the record up to which the transcript is read with it
	At     time.Time
	Said   []transcript.Message // by the user, the agent, its tools and subagents, in order; long ones are cut
}

// Worked reports whether the agent did anything in the turn. It did not if the turn only failed.
func (t *Turn) Worked() bool { return slices.ContainsFunc(t.Said, worked) }

func worked(m transcript.Message) bool {
	return (m.Speaker == transcript.Agent || m.Speaker == transcript.Tool) && m.Failure == ""
}

// Past is the content of a conversation, up to the last finished turn.
type Past struct {
	First string // its first prompt; "": none was said in it
	Turns []Turn // that are over, oldest first
	Rest  bool   // something was said after Turns, in a turn that is not over
	Lost  bool   // the record to read from is no longer in the transcript: all of it was read
}

// textLimit is how many bytes of a message are read. A tool may have read a file of any length.
const textLimit = 64 << 10

// Behind reads the turns after the record with the uuid after; "" for all. final means that no process continues the
// conversation, so its last turn is over however it ended. A missing file has no turns.
func Behind(file transcript.File, after string, final bool) (Past, error) {
	r := reader{after: after, found: after == ""}
	if err := file.EachRecord(r.read); err != nil {
		return Past{}, err
	}
	if !r.found {
		p, err := Behind(file, "", final)
		p.Lost = true
		return p, err
	}
	p := Past{First: r.first}
	groups := grouped(r.records)
	for i, g := range groups {
		if p.Rest = !g.over && !final && i == len(groups)-1; !p.Rest {
			p.Turns = append(p.Turns, g.turn())
		}
	}
	return p, r.addSubagents(file, &p)
}

// record holds the used fields of a transcript's record.
type record struct {
	uuid   string
	place  int // in the file
	at     time.Time
	number int // of the prompt that the record is; 0: it is no prompt
	said   []transcript.Message
	ends   bool
}

func (r *record) worked() bool { return slices.ContainsFunc(r.said, worked) }

// reader collects the records after the one to read from.
type reader struct {
	after   string
	found   bool
	first   string
	prompts int
	place   int
	latest  time.Time // of the records so far
	seen    time.Time // of the record to read from
	records []record
}

func (r *reader) read(uuid string, said []transcript.Message, ends bool) {
	r.place++
	if uuid == "" || len(said) > 0 && (said[0].Copied != "" || said[0].Subagent) {
		return
	}
	one := record{uuid: uuid, place: r.place, at: r.latest, ends: ends}
	for _, m := range said {
		if m.At.After(r.latest) {
			r.latest = m.At
		}
		if m.Aside || m.Speaker == transcript.Claude || m.Speaker == transcript.Compacted {
			continue
		}
		one.at = cmp.Or(m.At, one.at)
		if m.Speaker == transcript.You && !ends {
			r.prompts++
			one.number = r.prompts
			r.first = cmp.Or(r.first, m.Text)
		}
		m.Text = human.Cut(m.Text, textLimit, utf8.RuneLen)
		one.said = append(one.said, m)
	}
	switch {
	case r.found:
		r.records = append(r.records, one)
	case uuid == r.after:
		r.found, r.seen = true, one.at
	}
}

// group is the records of a turn.
type group struct {
	records []record
	over    bool
	worked  bool
	from    int // the first place
	to      int // the last one
}

func (g *group) add(r record) {
	if len(g.records) == 0 {
		g.from = r.place
	}
	g.records = append(g.records, r)
	g.from, g.to = min(g.from, r.place), max(g.to, r.place)
	switch {
	case r.worked():
		g.worked, g.over = true, r.ends
	case r.ends:
		g.over = true
	}
}

func (g *group) turn() Turn {
	var t Turn
	for _, r := range g.records {
		if r.place == g.to {
			t.Last = r.uuid
		}
		if len(r.said) > 0 {
			t.At = r.at
		}
		t.Number = cmp.Or(t.Number, r.number)
		t.Said = append(t.Said, r.said...)
	}
	return t
}

// grouped splits the records into turns: a prompt begins a new one once the agent has done something, or failed.
func grouped(records []record) []group {
	slices.SortStableFunc(records, func(a, b record) int { return a.at.Compare(b.at) })
	var all []group
	for _, r := range records {
		if last := len(all) - 1; last < 0 || r.number > 0 && (all[last].worked || all[last].over) {
			all = append(all, group{})
		}
		all[len(all)-1].add(r)
	}
	var apart []group
	for _, g := range all {
		if last := len(apart) - 1; last >= 0 && g.from < apart[last].to {
			for _, r := range g.records {
				apart[last].add(r)
			}
			continue
		}
		apart = append(apart, g)
	}
	return slices.DeleteFunc(apart, func(g group) bool {
		return !slices.ContainsFunc(g.records, func(r record) bool { return len(r.said) > 0 })
	})
}

// addSubagents puts the messages of subagents into the turns in which they were written.
func (r *reader) addSubagents(file transcript.File, p *Past) error {
	entries, err := os.ReadDir(file.Subagents())
	if errors.Is(err, fs.ErrNotExist) || len(p.Turns) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".jsonl") {
			continue
		}
		from := r.seen
		if err := transcript.At(filepath.Join(file.Subagents(), entry.Name())).EachRecord(func(_ string, said []transcript.Message, _ bool) {
			for _, m := range said {
				if m.At.After(from) && m.Copied == "" && m.Speaker != transcript.Claude {
					p.addSubagent(m)
				}
			}
		}); err != nil {
			return err
		}
	}
	for i := range p.Turns {
		slices.SortStableFunc(p.Turns[i].Said, func(a, b transcript.Message) int { return a.At.Compare(b.At) })
	}
	return nil
}

// addSubagent adds a message to the first turn that ended after it. A message later than all of them belongs to the
// next turn, which a later call of [Behind] returns.
func (p *Past) addSubagent(m transcript.Message) {
	for i := range p.Turns {
		if !m.At.After(p.Turns[i].At) {
			m.Subagent, m.Text = true, human.Cut(m.Text, textLimit, utf8.RuneLen)
			p.Turns[i].Said = append(p.Turns[i].Said, m)
			return
		}
	}
}
