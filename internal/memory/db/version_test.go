package db

import (
	"database/sql"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// seedQueries are the three queries of the document that the memory follows, word for word.
//
//go:embed testdata/seed.sql
var seedQueries string

// asked returns the rows of a query, the columns of each separated by |.
func asked(t *testing.T, d *sql.DB, query string) (lines []string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), query)
	rig.Must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	rig.Must(t, err)
	for rows.Next() {
		row := make([]any, len(names))
		for i := range row {
			row[i] = new(any)
		}
		rig.Must(t, rows.Scan(row...))
		var words []string
		for _, value := range row {
			words = append(words, fmt.Sprint(*value.(*any))) //nolint:forcetypeassert // it was put there
		}
		lines = append(lines, strings.Join(words, "|"))
	}
	rig.Must(t, rows.Err())
	return lines
}

// wantSeedQueries runs the three queries for a session as a person would, on the file alone.
func wantSeedQueries(t *testing.T, path string, of agent.SessionID, want ...[]string) {
	t.Helper()
	plain, err := sql.Open("sqlite", path)
	rig.Must(t, err)
	defer plain.Close()
	queries := strings.SplitAfter(strings.ReplaceAll(strings.TrimSpace(seedQueries), "your-session-id", string(of)), ";")
	rig.Equal(t, len(queries), 4, "queries, and nothing behind the last")
	for i := range want {
		rig.Equal(t, strings.Join(asked(t, plain, queries[i]), "\n"), strings.Join(want[i], "\n"), "query %d of %s", i+1, of)
	}
}

// The ids as a query returns them.
const session, observerID, newID = string(alice), string(watcher), string(newWatcher)

func TestTheSeedsQueriesRunWordForWord(t *testing.T) {
	t.Parallel()
	d := watched(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: other, Handle: "alice"}))
	keep(t, d, alice, 1, "r", by(watcher, "The gate is of oak"), by(watcher, "The lock is new"))
	rows := func(by string) []string {
		return []string{
			"1|The gate is of oak|" + by + "|" + session + "|" + by,
			"2|The lock is new|" + by + "|" + session + "|" + by,
		}
	}
	wantSeedQueries(t, d.path, alice, []string{"1|" + session + "|" + observerID + "|CAPTURED"}, nil, rows(observerID))
	wantSeedQueries(t, d.path, other, []string{"2|" + string(other) + "|<nil>|NOT_CAPTURED"}, nil, nil)
	wantSeedQueries(t, d.path, "your-session-id", nil, nil, nil)

	rig.Must(t, d.Capture(t.Context(), alice, newWatcher)) // takes them along
	wantSeedQueries(t, d.path, alice, []string{"1|" + session + "|" + newID + "|CAPTURED"}, nil, rows(newID))
	mustBeWhole(t, d)

	copied := d.path + ".copy"
	rig.Must(t, d.Backup(t.Context(), copied))
	wantSeedQueries(t, copied, alice, []string{"1|" + session + "|" + newID + "|CAPTURED"}, nil, rows(newID))
}

// firstVersion makes a database as the first version of this program did, with one observation.
func firstVersion(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(rig.MemoryDir(t), "memory.db")
	old, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	rig.Must(t, err)
	for _, made := range []string{
		schema, "INSERT INTO instance VALUES (1, 'first')",
		"INSERT INTO observed (content_id, handle, first_prompt, memory_id, created) VALUES ('" + session + "', 'alice', '', '" + observerID + "', 0)",
		"INSERT INTO observations (memory_id, turn, type, title, narrative, facts, files, at, hash) VALUES ('" + observerID + "', 1, 'fix', 'old', '', '[]', '[]', 1, 'x')",
	} {
		_, err = old.ExecContext(t.Context(), made)
		rig.Must(t, err)
	}
	rig.Must(t, old.Close())
	return path
}

// A database of the first version keeps all that is in it and its id, and gets what the queries need.
func TestADatabaseOfTheFirstVersionGetsTheViews(t *testing.T) {
	t.Parallel()
	d := opened(t, firstVersion(t))
	rig.Equal(t, d.Instance(), "first", "the instance")
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{}), " "), "old", "what it remembers")
	wantSeedQueries(t, d.path, alice, []string{"1|" + session + "|" + observerID + "|CAPTURED"}, nil,
		[]string{"1|old|" + observerID + "|" + session + "|" + observerID})
	keep(t, d, alice, 2, "r", by(watcher, "new"))
	found, err := d.Search(t.Context(), memory.Query{Text: "new"})
	rig.Check(t, err == nil && len(found) == 1, "%v, %v", found, err)
	mustBeWhole(t, d)
	opened(t, d.path) // it is of the present version by now
	storetest.WantNames(t, filepath.Dir(d.path), "memory.db", "memory.db-shm", "memory.db-wal")
}

// Several processes find a database of the first version; one of them, which is older, has it open already.
func TestManyUpgradeOneDatabase(t *testing.T) {
	t.Parallel()
	path := firstVersion(t)
	older, err := sql.Open("sqlite", source(path, settings))
	rig.Must(t, err)
	defer older.Close()
	prepared, err := older.PrepareContext(t.Context(), "INSERT INTO observations (memory_id, turn, type, title, narrative, facts, files, at, hash) VALUES (?, 1, 'fix', 'late', '', '[]', '[]', 1, 'y')")
	rig.Must(t, err)
	defer prepared.Close()
	var all []*rig.Child
	for range 8 {
		all = append(all, rig.StartChild(t, rig.Command(path)))
	}
	for _, one := range all {
		rig.Must(t, one.Wait())
	}
	_, err = prepared.ExecContext(t.Context(), watcher)
	rig.Must(t, err)
	d := opened(t, path)
	rig.Gives(t, 8, "what all have written")(d.Spend(t.Context(), "2026-02-20", 0))
	rig.Equal(t, len(titles(t, d, memory.Query{})), 2, "observations")
	mustBeWhole(t, d)
}
