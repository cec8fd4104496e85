package db

import (
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	sqlite3 "modernc.org/sqlite/lib"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

const promptLimit = 4_000 // bytes of a first prompt

// querier is the database, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Create begins to store observations of a conversation.
func (d *Database) Create(ctx context.Context, o memory.Observed) error {
	return d.change(ctx, func(tx *sql.Tx) error { return create(ctx, tx, o) })
}

func create(ctx context.Context, q querier, o memory.Observed) error {
	if err := checkID(o.ContentID); err != nil {
		return err
	}
	if err := checkName(o.Handle); err != nil {
		return err
	}
	if o.Created.IsZero() {
		o.Created = time.Now()
	}
	if err := checkTime(o.Created); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, `INSERT INTO observed (content_id, handle, first_prompt, created) VALUES (?, ?, ?, ?)
		ON CONFLICT (content_id) DO NOTHING`, o.ContentID, o.Handle, firstPrompt(o.FirstPrompt), o.Created.UnixMilli())
	if isConstraint(err) {
		return fail.Errorf(fail.Conflict, "conversation %s is an observer's", o.ContentID)
	}
	return err
}

// checkName refuses what is neither a handle nor the name of a conversation.
func checkName(name agent.Handle) error {
	if key, is := name.Conversation(); is && key != "" && human.IsLegible(key) {
		return nil
	}
	_, err := agent.ParseHandle(string(name))
	return err
}

// checkID refuses a session id in another form than Claude and the records use: in capitals it would be another id.
func checkID(id agent.SessionID) error {
	same, err := agent.ParseSessionID(string(id))
	if err == nil && same != id {
		err = fail.Errorf(fail.BadInput, "session id %s is not in lower case", id)
	}
	return err
}

func firstPrompt(text string) string {
	text = memory.Redact(text)
	if len(text) <= promptLimit {
		return text
	}
	end := promptLimit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Observed returns a conversation.
func (d *Database) Observed(ctx context.Context, content agent.SessionID) (memory.Observed, error) {
	o, err := observed(ctx, d.sql, content)
	return o, d.failed(err)
}

const observedColumns = "c.content_id, c.handle, c.first_prompt, coalesce(c.memory_id, ''), c.synthesized, c.read_to, c.created"

func observed(ctx context.Context, q querier, content agent.SessionID) (memory.Observed, error) {
	o, err := scanObserved(q.QueryRowContext(ctx, "SELECT "+observedColumns+" FROM observed c WHERE content_id = ?", content).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return o, unknown(content)
	}
	return o, err
}

func unknown(content agent.SessionID) error {
	return fail.Errorf(fail.NotFound, "conversation %s is not observed", content)
}

// scanObserved reads observedColumns, and the columns behind them into more.
func scanObserved(scan func(into ...any) error, more ...any) (memory.Observed, error) {
	var o memory.Observed
	var created int64
	err := scan(append([]any{&o.ContentID, &o.Handle, &o.FirstPrompt, &o.MemoryID, &o.Synthesized, &o.ReadTo, &created}, more...)...)
	o.Created = at(created)
	return o, err
}

// at returns a stored time; 0 is the zero time.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// checkTime refuses a time that an export could not write.
func checkTime(t time.Time) error {
	if year := t.UTC().Year(); year < 1970 || year > 9999 {
		return fail.Errorf(fail.BadInput, "the year %d is out of range", year)
	}
	return nil
}

// Capture stores the id of the observer's conversation.
func (d *Database) Capture(ctx context.Context, content, memoryID agent.SessionID) error {
	if err := checkID(memoryID); err != nil {
		return err
	}
	return d.change(ctx, func(tx *sql.Tx) error { return setMemory(ctx, tx, content, memoryID, false) })
}

func setMemory(ctx context.Context, q querier, content, memoryID agent.SessionID, synthesized bool) error {
	err := update(ctx, q, content, "memory_id = ?, synthesized = ?", memoryID, synthesized)
	switch {
	case code(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return fail.Errorf(fail.Conflict, "conversation %s is the observer of another one", memoryID)
	case isConstraint(err):
		return fail.Errorf(fail.Conflict, "conversation %s is an agent's, and cannot be its observer", memoryID)
	}
	return err
}

// update changes the row of one conversation.
func update(ctx context.Context, q querier, content agent.SessionID, set string, args ...any) error {
	result, err := q.ExecContext(ctx, "UPDATE observed SET "+set+" WHERE content_id = ?", append(args, content)...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, unknown(content))
	}
	return nil
}

// Advance records that the transcript was read up to a record.
func (d *Database) Advance(ctx context.Context, content agent.SessionID, readTo string) error {
	return d.change(ctx, func(tx *sql.Tx) error { return advance(ctx, tx, content, readTo) })
}

func advance(ctx context.Context, q querier, content agent.SessionID, readTo string) error {
	return update(ctx, q, content, "read_to = ?, problem = '', problem_at = 0", readTo)
}

// Trouble records why the observer of a conversation failed.
func (d *Database) Trouble(ctx context.Context, content agent.SessionID, problem string) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		return update(ctx, tx, content, "problem = ?, problem_at = ?", memory.Redact(problem), time.Now().UnixMilli())
	})
}

// Spend adds to the tokens of a day. If tokens is 0, it only reads, and waits for no writer.
func (d *Database) Spend(ctx context.Context, day string, tokens int) (total int, err error) {
	if tokens == 0 {
		err = d.sql.QueryRowContext(ctx, "SELECT coalesce(max(tokens), 0) FROM spent WHERE day = ?", day).Scan(&total)
		return total, d.failed(err)
	}
	err = d.change(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO spent VALUES (?, ?)
			ON CONFLICT (day) DO UPDATE SET tokens = tokens + excluded.tokens RETURNING tokens`, day, tokens).Scan(&total)
	})
	return total, err
}

// Status returns every observed conversation.
func (d *Database) Status(ctx context.Context) ([]memory.StatusOf, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT "+observedColumns+`, c.problem, c.problem_at, count(o.id), coalesce(max(o.at), 0)
		FROM observed c LEFT JOIN observations o ON o.memory_id = c.memory_id
		GROUP BY c.content_id ORDER BY c.created, c.content_id`)
	return collect(d, rows, err, func() (s memory.StatusOf, err error) {
		var newest, problemAt int64
		s.Observed, err = scanObserved(rows.Scan, &s.Problem, &problemAt, &s.Observations, &newest)
		s.Newest, s.ProblemAt = at(newest), at(problemAt)
		return s, err
	})
}

// collect reads all rows.
func collect[T any](d *Database, rows *sql.Rows, err error, scan func() (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, d.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan()
		if err != nil {
			return nil, d.failed(err)
		}
		all = append(all, one)
	}
	return all, d.failed(rows.Err())
}
