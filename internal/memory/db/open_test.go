package db

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestEveryConnectionHasTheSettings(t *testing.T) {
	t.Parallel()
	d := made(t)
	for i := range 5 { // all at once, so that each is another connection
		c, err := d.sql.Conn(t.Context())
		rig.Must(t, err)
		defer c.Close()
		for name, want := range map[string]string{
			"foreign_keys": "1", "busy_timeout": "5000", "journal_mode": "wal", "synchronous": "2",
			"secure_delete": "1", "trusted_schema": "0", "cell_size_check": "1",
		} {
			var got string
			rig.Must(t, c.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got))
			rig.Equal(t, got, want, "connection %d: %s", i, name)
		}
	}
}

// Two that begin to change at once: the second waits, and neither finds out at its end that it was too late.
func TestAChangeBeginsWithTheRightToWrite(t *testing.T) {
	t.Parallel()
	d := made(t)
	tx, err := d.sql.BeginTx(t.Context(), nil)
	rig.Must(t, err)
	defer tx.Rollback() //nolint:errcheck // it has changed nothing
	second, err := d.sql.Conn(t.Context())
	rig.Must(t, err)
	defer second.Close()
	_, err = second.ExecContext(t.Context(), "PRAGMA busy_timeout = 0")
	rig.Must(t, err)
	_, err = second.ExecContext(t.Context(), "INSERT INTO spent VALUES ('x', 1)")
	storetest.WantKind(t, "to write beside a transaction that has not written", d.failed(err), fail.TimedOut)
}

func TestDatabaseIsPrivate(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r", by(watcher, "x"))
	rig.MustBePrivate(t, filepath.Dir(d.path), 3) // with the log and the shared memory of SQLite
	rig.Must(t, os.Chmod(d.path, 0o644))
	again, err := Open(t.Context(), d.path)
	rig.Must(t, err)
	rig.Must(t, again.Close())
	rig.MustBePrivate(t, filepath.Dir(d.path), 3)
}

func TestOpenFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(rig.MemoryDir(t), "a ?b#%20'c")
	rig.Must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "memory.db")
	_, err := Open(t.Context(), path)
	storetest.WantKind(t, "to open what is not there", err, fail.NotFound)
	storetest.WantNames(t, dir)

	d := opened(t, path)
	observe(t, d, "alice", alice, watcher)
	again := opened(t, path)
	rig.Equal(t, again.Instance(), d.Instance(), "the instance")
	rig.Check(t, d.Instance() != made(t).Instance(), "two databases have the instance %s", d.Instance())
	rig.Equal(t, mustObserved(t, again, alice).MemoryID, watcher, "the memory id")
	storetest.WantNames(t, dir, "memory.db", "memory.db-shm", "memory.db-wal")
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	d := made(t)
	_, err := d.sql.ExecContext(t.Context(), "PRAGMA user_version = 3")
	rig.Must(t, err)
	_, err = Open(t.Context(), d.path)
	storetest.WantKind(t, "to open a newer one", err, fail.Unfit)
}

// A database that is damaged is named, and left as it is; nobody takes it for an empty one.
func TestDamagedDatabaseIsNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	d := made(t)
	rig.Must(t, d.Backup(t.Context(), d.path+".copy"))
	whole := storetest.Read(t, d.path+".copy")
	for what, text := range map[string]string{
		"empty":           "",
		"text":            strings.Repeat("this is no database. ", 500),
		"a foreign one":   foreign(t),
		"overwritten":     strings.Repeat("\xff", 4096) + whole[4096:],
		"cut short":       whole[:len(whole)/2],
		"the first bytes": whole[:100],
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(rig.MemoryDir(t), "memory.db")
			storetest.Write(t, path, text)
			for _, open := range []string{"Open", "Create"} {
				opened, err := Open(t.Context(), path)
				if open == "Create" {
					opened, err = Create(t.Context(), path, anyInstance)
				}
				if err == nil { // SQLite sees it when it gets there
					_, err = opened.Check(t.Context(), everyone)
					rig.Must(t, opened.Close())
				}
				storetest.WantKind(t, open, err, fail.Failed)
				rig.Check(t, err != nil && strings.Contains(err.Error(), path), "%s: %v does not name the file", open, err)
				storetest.WantHint(t, err, "move it away: "+memory.Aside(path))
				rig.Check(t, storetest.Read(t, path) == text, "%s has changed the file", open)
			}
		})
	}
}

// What others have put into a database, under the name of one of its tables or to run beside them, is not run: neither
// by who looks whether it is ours, nor by who would look at it with nbs-worker memory allow.
func TestPlantedSchemaIsNotRun(t *testing.T) {
	t.Parallel()
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS "
	for name, plant := range map[string]string{
		"instance":             "DROP TABLE instance; CREATE VIEW instance AS " + endless + "id FROM n",
		"observed":             "PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'view', rootpage = 0, sql = 'CREATE VIEW observed AS " + endless + "x FROM n' WHERE name = 'observed'",
		"pragma_user_version":  "CREATE VIEW pragma_user_version AS " + endless + "user_version FROM n",
		"words_data":           "PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'view', rootpage = 0, sql = 'CREATE VIEW words_data AS " + endless + "x FROM n' WHERE name = 'words_data'",
		"sqlite_schema":        "PRAGMA writable_schema = 1; INSERT INTO sqlite_master VALUES ('view', 'sqlite_schema', 'sqlite_schema', 0, 'CREATE VIEW sqlite_schema AS " + endless + "sql FROM n')",
		"observation_is_found": "DROP TRIGGER observation_is_found; CREATE TRIGGER observation_is_found AFTER INSERT ON observations BEGIN DELETE FROM observed; END",
		"sdk_sessions":         "DROP VIEW sdk_sessions; CREATE VIEW sdk_sessions AS " + endless + "id FROM n",
		"planted":              "CREATE TRIGGER planted AFTER INSERT ON spent BEGIN DELETE FROM observed; END",
		"words_planted":        "CREATE VIRTUAL TABLE words_planted USING fts5 (x)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := made(t)
			rig.Must(t, d.Close())
			trusting, err := sql.Open("sqlite", d.path)
			rig.Must(t, err)
			_, err = trusting.ExecContext(t.Context(), plant)
			rig.Must(t, err)
			rig.Must(t, trusting.Close())
			_, err = Open(rig.Patient(t), d.path)
			storetest.WantKind(t, "to open it", err, fail.Failed)
			rig.Check(t, err != nil && strings.Contains(err.Error(), name) && strings.Contains(err.Error(), "is damaged"), "%v", err)
		})
	}
}

// foreign is the content of a database of another program.
func foreign(t *testing.T) string {
	t.Helper()
	path := filepath.Join(rig.MemoryDir(t), "foreign.db")
	db, err := sql.Open("sqlite", path)
	rig.Must(t, err)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE instance (id TEXT); INSERT INTO instance VALUES ('x')")
	rig.Must(t, err)
	rig.Must(t, db.Close())
	return storetest.Read(t, path)
}

// The command that is advised takes along what SQLite has beside the database.
func TestDatabaseIsMovedAsideWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(rig.MemoryDir(t), "it's a $(place)")
	rig.Must(t, os.Mkdir(dir, 0o700))
	d := opened(t, filepath.Join(dir, "memory.db"))
	observe(t, d, "alice", alice, watcher)
	rig.Must(t, exec.Command("sh", "-c", memory.Aside(d.path)).Run())
	storetest.WantNames(t, dir, "aside-memory.db")
	storetest.WantNames(t, filepath.Join(dir, "aside-memory.db"), "memory.db", "memory.db-shm", "memory.db-wal")
}

func TestDamageInsideIsFound(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r", by(watcher, "one"), by(watcher, "two"))
	mustBeWhole(t, d)
	for _, broken := range []string{ // by whoever has written without our settings
		"PRAGMA foreign_keys = 0; UPDATE observations SET memory_id = 'nobody' WHERE title = 'one'",
		"DROP TRIGGER observation_is_forgotten; DELETE FROM observations WHERE title = 'two'",
	} {
		c, err := d.sql.Conn(t.Context())
		rig.Must(t, err)
		_, err = c.ExecContext(t.Context(), broken+"; PRAGMA foreign_keys = 1")
		rig.Must(t, err)
		rig.Must(t, c.Close())
	}
	wrong, err := d.Check(t.Context(), everyone)
	rig.Check(t, err == nil && len(wrong) == 2 && strings.Contains(wrong[0], "observation 1 belongs to no conversation") &&
		strings.Contains(wrong[1], "the index of words"), "%q, %v", wrong, err)
}

// A fault is said to every reader, and the ids of conversations only to one who may read both.
func TestAFaultNamesNoConversationOfOthers(t *testing.T) {
	t.Parallel()
	d := watched(t)
	chat := agent.OfConversation("telegram:1")
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: other, Handle: chat}))
	_, err := d.sql.ExecContext(t.Context(), "DROP TRIGGER memory_is_no_content; UPDATE observed SET memory_id = ? WHERE content_id = ?", other, alice)
	rig.Must(t, err)
	for unseen, want := range map[agent.Handle]string{"": "memory id " + string(other) + " of " + string(alice) + " is the conversation of an agent", "alice": memory.Unseen, chat: memory.Unseen} {
		wrong, err := d.Check(t.Context(), func(name agent.Handle) bool { return name != unseen })
		rig.Must(t, err)
		rig.Same(t, "faults unseen by "+string(unseen), []string{want}, wrong)
	}
}

// What others have put in the place of the database, or of what SQLite keeps beside it, is not followed.
func TestPlantedFilesAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		path := filepath.Join(rig.MemoryDir(t), "memory.db")
		made, err := Create(t.Context(), path, anyInstance)
		rig.Must(t, err)
		rig.Must(t, made.Close())
		storetest.Plant(t, path+suffix)
		_, err = Open(t.Context(), path)
		storetest.WantKind(t, "a link in place of memory.db"+suffix, err, fail.Failed)
		rig.Check(t, err != nil && strings.Contains(err.Error(), path+suffix+" is not a plain file"), "memory.db%s: %v", suffix, err)
	}
}

// The log of a database that is lost would become part of a new one.
func TestNewDatabaseTakesNothingOfALostOne(t *testing.T) {
	t.Parallel()
	d := watched(t)
	rig.Must(t, os.Rename(d.path, d.path+".away"))
	_, err := Create(t.Context(), d.path, anyInstance)
	storetest.WantKind(t, "to create beside a log", err, fail.Failed)
	storetest.WantHint(t, err, "put the database back")
	rig.Must(t, os.Rename(d.path+".away", d.path))
	rig.Equal(t, mustObserved(t, opened(t, d.path), alice).MemoryID, watcher, "the memory id")
}

func TestManyProcessesMakeOneDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(rig.MemoryDir(t), "memory.db")
	var all []*rig.Child
	for range 8 {
		all = append(all, rig.StartChild(t, rig.Command(path)))
	}
	for _, one := range all {
		rig.Must(t, one.Wait())
	}
	rig.Gives(t, 8, "what all have written")(opened(t, path).Spend(t.Context(), "2026-02-20", 0))
}

func TestManyMakeOneDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(rig.MemoryDir(t), "memory.db")
	made := make(chan *Database)
	for range 8 {
		go func() {
			d, err := Create(t.Context(), path, anyInstance)
			if err != nil {
				t.Errorf("create: %v", err)
				d = nil
			}
			made <- d
		}()
	}
	var first *Database
	for range 8 {
		d := <-made
		if d == nil {
			continue
		}
		defer d.Close()
		if first == nil {
			first = d
		}
		rig.Equal(t, d.Instance(), first.Instance(), "the instance")
		rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: agent.NewSessionID(), Handle: "alice"}))
	}
	all, err := first.Status(t.Context())
	rig.Check(t, err == nil && len(all) == 8, "%d conversations, %v", len(all), err)
}

// Who has a database open that was moved away, or replaced, is told so: what it stored there nobody would find.
func TestNothingIsStoredInADatabaseThatWasReplaced(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "a1", by(watcher, "kept"))
	rig.Must(t, exec.Command("sh", "-c", memory.Aside(d.path)).Run())
	for _, in := range []string{"nothing", "another"} {
		_, err := d.Store(t.Context(), alice, 2, []memory.Observation{by(watcher, "lost")}, "a2")
		rig.Check(t, errors.Is(err, memory.ErrReplaced) && strings.Contains(err.Error(), d.path), "%s in its place: %v", in, err)
		opened(t, d.path)
	}
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{}), " "), "kept", "what is in the one that was moved away")
}
