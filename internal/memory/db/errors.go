package db

import (
	"context"
	"errors"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

// failed explains an error of SQLite, and names the file.
func (d *Database) failed(err error) error {
	if _, known := errors.AsType[*fail.Error](err); err == nil || known || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch code(err) & 0xff { // the higher bits are the details
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return d.damaged(err)
	case sqlite3.SQLITE_BUSY:
		return fail.Errorf(fail.TimedOut, "use %s: another process has been writing for too long: %w", d.path, err)
	case sqlite3.SQLITE_FULL:
		return fail.Errorf(fail.Failed, "write %s: %w", d.path, err).Hint("make room there: df -h %s", human.ShellWord(filepath.Dir(d.path)))
	}
	return fail.Errorf(fail.Failed, "use %s: %w", d.path, err)
}

func (d *Database) damaged(err error) error {
	return fail.Errorf(fail.Failed, "%s is damaged: %w", d.path, err).
		Hint("move it away: %s", memory.Aside(d.path)).
		Hint("then copy a backup to its place, or take an export: nbs-worker memory import FILE")
}

// code returns SQLite's extended result code, or 0 for an error that is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// isConstraint reports whether a change breaks a rule of the schema.
func isConstraint(err error) bool { return code(err)&0xff == sqlite3.SQLITE_CONSTRAINT }
