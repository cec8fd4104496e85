package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

// Store stores the observations of a turn.
func (d *Database) Store(ctx context.Context, content agent.SessionID, turn int, all []memory.Observation, readTo string) (stored int, err error) {
	err = d.change(ctx, func(tx *sql.Tx) error {
		of, err := observed(ctx, tx, content)
		if err != nil {
			return err
		}
		if !of.Captured() || of.Synthesized {
			return fail.Errorf(fail.Conflict, "no observer of conversation %s is known yet", content)
		}
		stored = 0
		for _, o := range all {
			if o.MemoryID != of.MemoryID {
				return fail.Errorf(fail.Conflict, "%s is not the observer of conversation %s", human.Quote(string(o.MemoryID)), content)
			}
			o.Turn = turn
			id, err := insert(ctx, tx, o)
			if err != nil {
				return err
			}
			if id != 0 {
				stored++
			}
		}
		return advance(ctx, tx, content, readTo)
	})
	if err != nil {
		return 0, err
	}
	return stored, nil
}

// Add stores a note that was written by hand.
func (d *Database) Add(ctx context.Context, handle agent.Handle, content agent.SessionID, o memory.Observation) (added memory.Observation, err error) {
	err = d.change(ctx, func(tx *sql.Tx) error {
		if o.MemoryID, err = keeper(ctx, tx, memory.Observed{ContentID: content, Handle: handle}); err != nil {
			return err
		}
		id, err := insert(ctx, tx, o)
		if id == 0 && err == nil { // it is there
			err = tx.QueryRowContext(ctx, "SELECT id FROM observations WHERE memory_id = ? AND hash = ?", o.MemoryID, hash(o.Redacted())).Scan(&id)
		}
		if err != nil {
			return err
		}
		added, err = get(ctx, tx, id)
		return err
	})
	return added, err
}

// keeper returns the memory id for a conversation's notes that no observer has made. If no id is captured, it creates
// one.
func keeper(ctx context.Context, q querier, o memory.Observed) (agent.SessionID, error) {
	if err := create(ctx, q, o); err != nil {
		return "", err
	}
	known, err := observed(ctx, q, o.ContentID)
	if err != nil || known.Captured() {
		return known.MemoryID, err
	}
	id := agent.NewSessionID()
	return id, setMemory(ctx, q, o.ContentID, id, true)
}

// insert stores an observation under its memory id. It returns the id 0 if the observation exists.
func insert(ctx context.Context, q querier, o memory.Observation) (id int64, err error) {
	if err := o.Validate(); err != nil {
		return 0, err
	}
	if o.Turn < 0 {
		return 0, fail.Errorf(fail.BadInput, "turn %d is not a valid number", o.Turn)
	}
	o = o.Redacted()
	facts, err := json.Marshal(o.Facts)
	if err != nil {
		return 0, err
	}
	files, err := json.Marshal(o.Files)
	if err != nil {
		return 0, err
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	if err := checkTime(o.At); err != nil {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `INSERT INTO observations (memory_id, turn, type, title, narrative, facts, files, at, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (memory_id, hash) DO NOTHING RETURNING id`,
		o.MemoryID, o.Turn, o.Type, o.Title, o.Narrative, string(facts), string(files), o.At.UnixMilli(), hash(o)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// hash returns the same for observations of the same type and texts, whatever their time.
func hash(o memory.Observation) string {
	text, err := json.Marshal([]any{o.Type, o.Title, o.Narrative, o.Facts, o.Files})
	if err != nil {
		return "" // it is made of texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

const observationColumns = "o.id, c.content_id, c.handle, o.memory_id, o.turn, o.type, o.title, o.narrative, o.facts, o.files, o.at"

// ofConversation joins an observation with its conversation. There is no other way from an observation to a content
// id.
const ofConversation = " JOIN observed c ON c.memory_id = o.memory_id"

func scanObservation(scan func(into ...any) error) (o memory.Observation, err error) {
	var facts, files string
	var ms int64
	if err := scan(&o.ID, &o.ContentID, &o.Handle, &o.MemoryID, &o.Turn, &o.Type, &o.Title, &o.Narrative, &facts, &files, &ms); err != nil {
		return o, err
	}
	o.At = at(ms)
	return o, errors.Join(readList(facts, &o.Facts), readList(files, &o.Files))
}

func readList(text string, into *[]string) error {
	if text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// Get returns one observation.
func (d *Database) Get(ctx context.Context, id int64) (memory.Observation, error) {
	o, err := get(ctx, d.sql, id)
	return o, d.failed(err)
}

func get(ctx context.Context, q querier, id int64) (memory.Observation, error) {
	o, err := scanObservation(q.QueryRowContext(ctx, "SELECT "+observationColumns+" FROM observations o"+ofConversation+" WHERE o.id = ?", id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return o, noObservation(id)
	}
	return o, err
}

func noObservation(id int64) error {
	return fail.Errorf(fail.NotFound, "there is no observation %d", id)
}
