package db

import (
	"bufio"
	"context"
	"database/sql"
	"io"

	"github.com/go-json-experiment/json"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

const (
	format        = "nbs-worker-memory"
	formatVersion = 1       // the version of an export
	lineLimit     = 1 << 20 // bytes
)

// line is one line of an export: the head, which comes first, a conversation, or an observation of an earlier one. It
// has no memory id, since the observer's conversation need not exist where it is imported.
type line struct {
	Format       string              `json:"format,omitempty"`
	Version      int                 `json:"version,omitzero"`
	Conversation *memory.Observed    `json:"conversation,omitempty"`
	Observation  *memory.Observation `json:"observation,omitempty"`
}

// Export writes all rows, in their state at one moment.
func (d *Database) Export(ctx context.Context, w io.Writer, sees func(agent.Handle) bool) (n int, err error) {
	tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, d.failed(err)
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	buffered := bufio.NewWriter(w)
	if err := writeLine(buffered, line{Format: format, Version: formatVersion}); err != nil {
		return 0, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+observedColumns+" FROM observed c ORDER BY c.created, c.content_id")
	_, err = collect(d, rows, err, func() (none struct{}, err error) {
		o, err := scanObserved(rows.Scan)
		if err != nil || !sees(o.Handle) {
			return none, err
		}
		return none, writeLine(buffered, line{Conversation: &o})
	})
	if err != nil {
		return 0, err
	}
	rows, err = tx.QueryContext(ctx, "SELECT "+observationColumns+" FROM observations o"+ofConversation+" ORDER BY o.at, o.id")
	_, err = collect(d, rows, err, func() (none struct{}, err error) {
		o, err := scanObservation(rows.Scan)
		if err != nil || !sees(o.Handle) {
			return none, err
		}
		n++
		return none, writeLine(buffered, line{Observation: &o})
	})
	if err != nil {
		return 0, err
	}
	return n, buffered.Flush()
}

func writeLine(w io.Writer, l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Import takes what Export wrote: all of it or nothing. It reads the input to its end before the transaction, because
// no other process can write during that.
func (d *Database) Import(ctx context.Context, r io.Reader) (n, skipped int, err error) {
	all, err := readLines(r)
	if err != nil {
		return 0, 0, err
	}
	err = d.change(ctx, func(tx *sql.Tx) error {
		in := importing{tx: tx, keepers: map[agent.SessionID]agent.SessionID{}}
		for i := range all {
			if err := in.take(ctx, &all[i]); code(err) != 0 {
				return err
			} else if err != nil {
				return fail.Errorf(fail.KindOf(err), "line %d: %w", i+2, err)
			}
		}
		n, skipped = in.stored, in.skipped
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return n, skipped, nil
}

// readLines reads an export without its head. Errors: BadInput, which names the line; Unfit.
func readLines(r io.Reader) (all []line, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineLimit)
	number := 0
	for lines.Scan() {
		number++
		var l line
		if err = json.Unmarshal(lines.Bytes(), &l, json.RejectUnknownMembers(true)); err != nil {
			return nil, fail.Errorf(fail.BadInput, "line %d: %w", number, err)
		}
		if number > 1 {
			all = append(all, l)
		} else if err = l.checkHead(); err != nil {
			return nil, fail.Errorf(fail.KindOf(err), "line 1: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fail.Errorf(fail.BadInput, "line %d: %w", number+1, err)
	}
	if number == 0 {
		return nil, fail.Errorf(fail.BadInput, "it is empty")
	}
	return all, nil
}

func (l *line) checkHead() error {
	switch {
	case l.Format != format || l.Version < 1:
		return fail.Errorf(fail.BadInput, "it is not an export of a memory")
	case l.Version > formatVersion:
		return fail.Errorf(fail.Unfit, "the export is of version %d, and this nbs-worker knows version %d", l.Version, formatVersion)
	}
	return nil
}

type importing struct {
	tx              *sql.Tx
	keepers         map[agent.SessionID]agent.SessionID // memory id by content id
	stored, skipped int
}

func (in *importing) take(ctx context.Context, l *line) error {
	switch {
	case l.Conversation != nil && l.Observation == nil:
		return in.conversation(ctx, *l.Conversation)
	case l.Observation != nil && l.Conversation == nil:
		return in.observation(ctx, *l.Observation)
	}
	return fail.Errorf(fail.BadInput, "it is neither a conversation nor an observation")
}

func (in *importing) conversation(ctx context.Context, c memory.Observed) (err error) {
	_, err = observed(ctx, in.tx, c.ContentID)
	isNew := fail.KindOf(err) == fail.NotFound
	if err != nil && !isNew {
		return err
	}
	in.keepers[c.ContentID], err = keeper(ctx, in.tx, c)
	if err != nil || !isNew {
		return err
	}
	return advance(ctx, in.tx, c.ContentID, c.ReadTo)
}

func (in *importing) observation(ctx context.Context, o memory.Observation) error {
	if o.MemoryID = in.keepers[o.ContentID]; o.MemoryID == "" {
		return fail.Errorf(fail.BadInput, "conversation %s was not named before", human.Quote(string(o.ContentID)))
	}
	id, err := insert(ctx, in.tx, o)
	if id == 0 && err == nil {
		in.skipped++
	} else if err == nil {
		in.stored++
	}
	return err
}
