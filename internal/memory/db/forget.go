package db

import (
	"context"
	"database/sql"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
)

// Forget removes one observation.
func (d *Database) Forget(ctx context.Context, id int64) error {
	err := d.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM observations WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return noObservation(id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.wipe(ctx)
}

// ForgetHandle removes all that is stored about an agent.
func (d *Database) ForgetHandle(ctx context.Context, handle agent.Handle) (conversations []memory.Observed, n int, err error) {
	err = d.change(ctx, func(tx *sql.Tx) error {
		conversations, err = ofHandle(ctx, d, tx, handle)
		if err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM observations o"+ofConversation+" WHERE "+named(handle), handle).Scan(&n)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM observed AS c WHERE "+named(handle), handle) //nolint:gosec // G202: it is of this package, and holds a mark for the name
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return conversations, n, d.wipe(ctx)
}

// Rename gives all that is stored about an agent to its new handle.
func (d *Database) Rename(ctx context.Context, from, to agent.Handle) error {
	if err := checkName(to); err != nil {
		return err
	}
	return d.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE observed AS c SET handle = ? WHERE "+named(from), to, from) //nolint:gosec // G202: it is of this package, and holds a mark for the name
		return err
	})
}

func ofHandle(ctx context.Context, d *Database, q querier, handle agent.Handle) ([]memory.Observed, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+observedColumns+" FROM observed c WHERE "+named(handle)+" ORDER BY c.created, c.content_id", handle)
	return collect(d, rows, err, func() (memory.Observed, error) { return scanObserved(rows.Scan) })
}

// wipe empties the write-ahead log, which still contains the removed rows. While another connection reads, it stays
// until the next time.
func (d *Database) wipe(ctx context.Context) error {
	_, err := d.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return d.failed(err)
}
