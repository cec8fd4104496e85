package db

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"nbs-worker/internal/human"
)

// upgrade brings a database of version 1 to the present version. Several processes may try it at once.
func (d *Database) upgrade(ctx context.Context) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		var found int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil || found == version {
			return err
		}
		_, err := tx.ExecContext(ctx, version2)
		return err
	})
}

// part is a part of a database.
type part struct{ kind, name, text string }

// parts returns the parts of a database, without what SQLite creates by itself: those are plain tables, also for the
// index of words. (A crafted file can give sqlite_schema, the newer name, to something of its own.)
func (d *Database) parts(ctx context.Context, reader *sql.DB) ([]part, error) {
	rows, err := reader.QueryContext(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_master
		WHERE NOT (type = 'index' AND sql IS NULL)
		AND NOT (type = 'table' AND rootpage > 0 AND (name GLOB 'words_*' OR name GLOB 'sqlite_*'))`)
	return collect(d, rows, err, func() (p part, err error) { return p, rows.Scan(&p.kind, &p.name, &p.text) })
}

// known are the parts that this program makes, in each version.
var known = sync.OnceValues(func() (map[part]bool, error) {
	ctx := context.Background()
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	fresh.SetMaxOpenConns(1) // each connection has a memory of its own
	ours := map[part]bool{}
	for _, step := range []string{schema, version2} {
		if _, err := fresh.ExecContext(ctx, step); err != nil {
			return nil, err
		}
		all, err := (&Database{}).parts(ctx, fresh)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			ours[p] = true
		}
	}
	return ours, nil
})

// checkSchema checks that every part of the database is one that this program makes, before any of it is read. A
// planted view in place of a table, or a planted trigger, would run its author's SQL.
func (d *Database) checkSchema(ctx context.Context, reader *sql.DB) error {
	ours, err := known()
	if err != nil {
		return err
	}
	all, err := d.parts(ctx, reader)
	if err != nil {
		return err
	}
	for _, p := range all {
		if !ours[p] {
			return d.damaged(fmt.Errorf("its %s %s was not made by nbs-worker", p.kind, human.Quote(p.name)))
		}
	}
	return nil
}
