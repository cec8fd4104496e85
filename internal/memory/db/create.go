package db

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/google/uuid"
)

// The versions of the schema: the first whole, each later one as the way from the one before.
var (
	//go:embed schema.sql
	schema string
	//go:embed version2.sql
	version2 string
)

// Create creates a database, or opens an existing one. A new one appears whole or not at all, and only after vouch
// was called with its instance. Errors: those of [Open], and Failed when files of a lost database are in the way.
func Create(ctx context.Context, path string, vouch func(instance string) error) (*Database, error) {
	sweep(path)
	left := leftOver(path) // looked for first: another process may just be making the database, and then use it
	d, err := Open(ctx, path)
	switch {
	case fail.KindOf(err) != fail.NotFound:
		return d, err
	case left != "":
		return nil, fail.Errorf(fail.Failed, "%s exists, but its database is missing", left).
			Hint("put the database back, or remove what is left of it: rm %s", human.ShellWord(left))
	}
	instance := uuid.NewString()
	err = place(path, func(temp string) error { return errors.Join(build(ctx, temp, path, instance), vouch(instance)) })
	if err != nil && fail.KindOf(err) != fail.Conflict { // another process has just made it
		return nil, err
	}
	return Open(ctx, path)
}

// leftOver returns a file of a lost database, which SQLite would take for a part of a new one.
func leftOver(path string) string {
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return path + suffix
		}
	}
	return ""
}

// build writes a new database into an empty file. It will be moved to the path.
func build(ctx context.Context, file, path, instance string) error {
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer fresh.Close()
	fresh.SetMaxOpenConns(1) // each connection has a memory of its own
	if _, err := fresh.ExecContext(ctx, schema+version2); err != nil {
		return err
	}
	if _, err := fresh.ExecContext(ctx, "INSERT INTO instance VALUES (1, ?)", instance); err != nil {
		return err
	}
	return (&Database{sql: fresh}).copyTo(ctx, file, path)
}

// Backup writes a copy of the whole database to a new file.
func (d *Database) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path) // SQLite is given the path within a URI
	if err != nil {
		return err
	}
	return place(path, func(temp string) error { return d.copyTo(ctx, temp, path) })
}

// copyTo writes a copy into an empty file, which will be moved to the path, and switches it to the write-ahead log.
// If several processes open a database without that, SQLite lets one of them switch it, and refuses the others.
func (d *Database) copyTo(ctx context.Context, file, path string) error {
	there := &Database{path: path}
	if _, err := d.sql.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return there.failed(err)
	}
	copied, err := sql.Open("sqlite", source(file, settings))
	if err != nil {
		return err
	}
	return there.failed(errors.Join(copied.PingContext(ctx), copied.Close()))
}

// unfinished is part of the name of a file that is not in its place yet, and of SQLite's files beside it.
const unfinished = ".nbs-unfinished-"

// abandoned is the age at which such a file counts as left by a killed writer: a live one writes all the time.
const abandoned = time.Hour

// sweep removes the unfinished files for the path whose writers were killed. Files that cannot be removed stay.
func sweep(path string) {
	folder, name := filepath.Split(path)
	entries, _ := os.ReadDir(cmp.Or(folder, "."))
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(entry.Name(), "."+name+unfinished) && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

// place creates a private file at the path, whole and durable or not at all. fill writes to an empty file. Errors:
// Conflict when the file exists.
func place(path string, fill func(temp string) error) error {
	folder, name := filepath.Split(path)
	folder = cmp.Or(folder, ".")
	sweep(path)
	temp, err := os.CreateTemp(folder, "."+name+unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // what is left of it does no harm
	defer temp.Close()
	if err := fill(temp.Name()); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return fail.Errorf(fail.Failed, "write %s: %w", path, err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return fail.Errorf(fail.Conflict, "%s exists already", path)
	} else if err != nil {
		return err
	}
	return syncFolder(folder)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
