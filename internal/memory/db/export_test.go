package db

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func exported(t testing.TB, d *Database) string {
	t.Helper()
	var b bytes.Buffer
	_, err := d.Export(t.Context(), &b, func(agent.Handle) bool { return true })
	rig.Must(t, err)
	return b.String()
}

func TestExportIsImportedWhole(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	text := exported(t, d)
	rig.Check(t, !strings.Contains(text, string(watcher)), "the export names an observer:\n%s", text)
	fresh := made(t)
	n, skipped, err := fresh.Import(t.Context(), strings.NewReader(text))
	rig.Check(t, err == nil && n == 3 && skipped == 0, "%d, %d, %v", n, skipped, err)
	rig.Equal(t, exported(t, fresh), text, "the export of what was imported")
	o := mustObserved(t, fresh, alice)
	rig.Check(t, o.Synthesized && o.ReadTo == "a1", "%+v", o)
	mustBeWhole(t, fresh)

	n, skipped, err = fresh.Import(t.Context(), strings.NewReader(text))
	rig.Check(t, err == nil && n == 0 && skipped == 3, "again: %d, %d, %v", n, skipped, err)
	keep(t, d, alice, 2, "a2", by(watcher, "newer"))
	n, skipped, err = d.Import(t.Context(), strings.NewReader(text))
	rig.Check(t, err == nil && n == 0 && skipped == 3, "where it comes from: %d, %d, %v", n, skipped, err)
	o = mustObserved(t, d, alice)
	rig.Check(t, o.MemoryID == watcher && o.ReadTo == "a2", "an import changes what is known of the conversation: %+v", o)
}

func TestImportTakesAllOrNothing(t *testing.T) {
	t.Parallel()
	text := exported(t, remembered(t))
	lines := strings.SplitAfter(text, "\n")
	for what, c := range map[string]struct {
		text string
		says string
		kind fail.Kind
	}{
		"nothing":                       {"", "empty", fail.BadInput},
		"no head":                       {strings.Join(lines[1:], ""), "line 1: it is not an export", fail.BadInput},
		"a newer one":                   {strings.Replace(text, `"version":1`, `"version":2`, 1), "version 2", fail.Unfit},
		"cut short":                     {text[:len(text)-20], "line 6: ", fail.BadInput},
		"an observation of nobody":      {lines[0] + lines[3], "line 2: ", fail.BadInput},
		"no JSON":                       {text + "decision\n", "line 7: ", fail.BadInput},
		"an unknown type":               {strings.Replace(text, `"fix"`, `"poem"`, 1), "line 5: type", fail.BadInput},
		"an unknown field":              {strings.Replace(text, `"turn"`, `"torn"`, 1), "line 4: ", fail.BadInput},
		"an id that is none":            {strings.ReplaceAll(text, string(alice), "../x"), ": session id", fail.BadInput},
		"a time that is none":           {strings.Replace(text, `"at":"2026-02-20T11:45:07Z"`, `"at":"9999-12-31T23:59:59-23:00"`, 1), "line 4: the year 10000", fail.BadInput},
		"a beginning that is none":      {strings.Replace(text, `"created":"2026`, `"created":"1926`, 1), "line 2: the year 1926", fail.BadInput},
		"both at once":                  {lines[0] + `{"conversation":{},"observation":{}}`, "line 2: it is neither", fail.BadInput},
		"a line that is endlessly long": {text + strings.Repeat("x", lineLimit+1), "line 7: ", fail.BadInput},
	} {
		d := made(t)
		_, _, err := d.Import(t.Context(), strings.NewReader(c.text))
		storetest.WantKind(t, what, err, c.kind)
		rig.Check(t, err != nil && strings.Contains(err.Error(), c.says), "%s: %v; want %q", what, err, c.says)
		all, err := d.Status(t.Context())
		rig.Check(t, err == nil && len(all) == 0, "%s: left are %+v, %v", what, all, err)
	}
}

// What an export comes from may take its time: others write meanwhile.
func TestImportKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	d := made(t)
	n, _, err := d.Import(t.Context(), &busy{strings.NewReader(exported(t, remembered(t))), func() {
		_, err := d.Spend(t.Context(), "2026-02-20", 1)
		rig.Must(t, err)
	}})
	rig.Check(t, err == nil && n == 3, "%d, %v", n, err)
}

// busy is a text, of which something is done before each part.
type busy struct {
	*strings.Reader

	before func()
}

func (b *busy) Read(p []byte) (int, error) {
	b.before()
	return b.Reader.Read(p)
}

// SQLite takes a path within a URI, in which one that is relative is none.
func TestBackupToARelativePath(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	rig.Must(t, err)
	path := filepath.Join(rig.MemoryDir(t), "a%20b?c.db")
	relative, err := filepath.Rel(here, path)
	rig.Must(t, err)
	d := remembered(t)
	rig.Must(t, d.Backup(t.Context(), relative))
	rig.Equal(t, exported(t, opened(t, path)), exported(t, d), "the export of the backup")
}

func TestBackupIsTheWholeDatabase(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	dir := rig.MemoryDir(t)
	path := filepath.Join(dir, "backup.db")
	rig.Must(t, d.Backup(t.Context(), path))
	rig.MustBePrivate(t, dir, 1)
	storetest.WantNames(t, dir, "backup.db")
	storetest.WantKind(t, "to write it again", d.Backup(t.Context(), path), fail.Conflict)
	storetest.WantNames(t, dir, "backup.db")

	restored := opened(t, path)
	rig.Equal(t, exported(t, restored), exported(t, d), "the export of the backup")
	rig.Equal(t, restored.Instance(), d.Instance(), "the instance")
	rig.Equal(t, mustObserved(t, restored, alice).MemoryID, watcher, "the memory id")
	mustBeWhole(t, restored)
	found, err := restored.Search(t.Context(), memory.Query{Text: "sqlite"})
	rig.Check(t, err == nil && len(found) == 2, "%v, %v", found, err)
}
