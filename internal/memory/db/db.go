// Package db keeps observations in a SQLite database; it implements [memory.Store].
//
//   - Each connection has the settings of [settings]: a change is on the disk when the call returns, and
//     writers wait for each other.
//   - Each call makes its changes in one immediate transaction.
//   - The rules of the two ids are in the schema as well, so no writer can break them.
//   - A database that is damaged, or newer than this program, is an error that names it; it stays unchanged.
//
// SQLite loses its locks when the same process opens and closes the file: no other code may open it while
// it is open here. Of this program, the package may import only memory and agent.
package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	_ "modernc.org/sqlite" // the driver

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

const (
	application = 0x6e62736d // as in schema.sql
	version     = 2
)

// careful are the settings for reading a file that another user or program may have made: they change nothing in it.
var careful = []string{
	"busy_timeout(5000)",                      // first: the others may have to wait
	"trusted_schema(0)", "cell_size_check(1)", // the file lies in a project, where others can write
}

// settings are the settings of each connection.
var settings = append(slices.Clone(careful),
	"foreign_keys(1)", "journal_mode(wal)", "synchronous(full)",
	"secure_delete(1)", // what is forgotten is overwritten
)

// Database is an open database.
type Database struct {
	path       string
	instance   string
	sql        *sql.DB
	file       fs.FileInfo // that was opened
	mostRanked int         // see search.go
	writing    sync.Mutex  // one at a time, so that no goroutine of this process has to poll for SQLite's lock
}

var _ memory.Store = (*Database)(nil)

// Open opens a database. Errors: NotFound when it does not exist; Unfit when it is newer than this program; Failed
// when it is damaged.
func Open(ctx context.Context, path string) (*Database, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := checkFiles(path); err != nil {
		return nil, err
	}
	d := &Database{path: path, mostRanked: mostRanked}
	found, err := d.look(ctx)
	if err != nil {
		return nil, err
	}
	if d.file, err = os.Lstat(path); err != nil {
		return nil, err
	}
	if d.sql, err = sql.Open("sqlite", source(path, settings)); err != nil {
		return nil, d.failed(err)
	}
	if found < version {
		_ = d.upgrade(ctx) // a failure, as on a full disk, harms nothing: the next to open it tries again
	}
	return d, nil
}

// source names a database to the driver, with the settings of each connection.
func source(path string, settings []string) string {
	query := url.Values{
		"mode": {"rw"}, "_pragma": settings, "_txlock": {"immediate"},
		"_defensive": {"1"}, "_dqs": {"0"}, "_error_rc": {"1"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// checkFiles checks that the database and SQLite's files beside it are plain files, and removes the rights of others.
func checkFiles(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Lstat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			if suffix == "" {
				return fail.Errorf(fail.NotFound, "there is no %s: nothing is remembered here", path)
			}
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fail.Errorf(fail.Failed, "%s is not a plain file", path+suffix).Hint("move it away: mv %s %s", human.ShellWord(path+suffix), human.ShellWord(path+suffix+".foreign"))
		}
		if info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(path+suffix, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// look checks that the database is one of this program, with a known version, which it returns, and reads its id.
// Another file gets none of the settings, which would change it. But SQLite has to recover what a killed process has
// left half done.
func (d *Database) look(ctx context.Context) (found int, err error) {
	reader, err := sql.Open("sqlite", source(d.path, careful))
	if err != nil {
		return 0, d.failed(err)
	}
	defer reader.Close()
	var app int
	if err := reader.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, d.failed(err)
	}
	if err := reader.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return 0, d.failed(err)
	}
	switch {
	case app != application || found < 1:
		return 0, d.damaged(errors.New("it is not a memory of nbs-worker"))
	case found > version:
		return 0, fail.Errorf(fail.Unfit, "open %s: it is of version %d, and this nbs-worker knows version %d", d.path, found, version).
			Hint("use the nbs-worker that has written it, or a newer one")
	}
	if err := d.checkSchema(ctx, reader); err != nil {
		return 0, err
	}
	return found, d.failed(reader.QueryRowContext(ctx, "SELECT id FROM instance").Scan(&d.instance))
}

// Instance returns the id of this database, set when it was created. The user's seal covers it. Backups have the same
// id.
func (d *Database) Instance() string { return d.instance }

// Close closes the database.
func (d *Database) Close() error { return d.failed(d.sql.Close()) }

// change calls do in one transaction, which has the right to write from its beginning.
func (d *Database) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if now, err := os.Lstat(d.path); err != nil || !os.SameFile(now, d.file) {
		return fail.Errorf(fail.Failed, "write %s: %w", d.path, memory.ErrReplaced).Hint("do it again, or begin the worker again: nbs-worker memory work")
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return d.failed(err)
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // err has the reason
		return d.failed(err)
	}
	return d.failed(tx.Commit())
}
