package conversations

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

// talked is a conversation with an answered turn and an open one.
func talked(t *testing.T, c *Conversation) {
	t.Helper()
	mustEnqueue(t, c, asked("a", "Remember 42."))
	mustEnqueue(t, c, asked("b", "What number?"))
	rig.Must(t, c.Begin(t.Context(), start(1)))
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
}

// A journal counts as commands of this user wrote it, in its place, and in no other way.
func TestJournalThatIsNotAsItWasWrittenIsRefused(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c, other := d.Of(chat), d.Of(review)
	talked(t, c)
	talked(t, other)
	elsewhere, _ := inProject(t)
	foreign := elsewhere.Of(chat)
	talked(t, foreign)
	path := c.nbs.Path(c.sub, journalFile)
	whole := storetest.Read(t, path)
	lines := strings.SplitAfter(whole, "\n")
	for what, text := range map[string]string{
		"changed":                   strings.Replace(whole, `"id":"b"`, `"id":"c"`, 1),
		"cut from the middle":       lines[0] + strings.Join(lines[2:], ""),
		"cut from the beginning":    strings.Join(lines[1:], ""),
		"in another order":          lines[0] + lines[2] + lines[1] + lines[3],
		"repeated":                  whole + lines[3],
		"of another key":            storetest.Read(t, other.nbs.Path(other.sub, journalFile)),
		"of another project":        storetest.Read(t, foreign.nbs.Path(foreign.sub, journalFile)),
		"a line without a seal":     whole + `{"what":"reset","at":"2026-02-20T11:44:07Z"}` + "\n",
		"a line that is none":       whole + "\n",
		"made by hand from scratch": `{"what":"adopt","session":"` + string(storetest.OtherID) + `"}` + "\n",
	} {
		storetest.Write(t, path, text)
		_, err := c.State()
		storetest.WantKind(t, what, err, fail.Held)
		rig.Check(t, err != nil && strings.Contains(err.Error(), journalFile), "%s: %v", what, err)
		storetest.WantHint(t, err, c.Path())
		_, _, err = c.Enqueue(t.Context(), Meta{}, asked("d", "more"))
		storetest.WantKind(t, what, err, fail.Held)
		storetest.WantText(t, path, text)
	}
	keys, err := d.Keys()
	rig.Check(t, len(keys) == 1 && keys[0] == review && err != nil, "%v, %v; want the other key and an error", keys, err)
	for _, text := range []string{"", "half a line"} {
		storetest.Write(t, path, text)
		_, err = c.State()
		storetest.WantKind(t, "emptied", err, fail.Failed)
	}
	rig.Must(t, os.Remove(path))
	_, _, err = c.Enqueue(t.Context(), Meta{}, asked("d", "more"))
	storetest.WantKind(t, "removed", err, fail.Failed)
	storetest.WantHint(t, err, "mv ")
	storetest.Plant(t, path)
	_, err = c.State()
	storetest.WantKind(t, "a link", err, fail.Failed)
}

// What is good must not be moved away because the key is: the first remedy is the key.
func TestMissingKeyIsNamedBeforeTheConversation(t *testing.T) {
	t.Parallel()
	d, project := inProject(t)
	talked(t, d.Of(chat))
	key := project + ".home/key"
	mustNameKey := func(what string, want string) {
		t.Helper()
		_, err := open(project).Of(chat).State()
		storetest.WantKind(t, what, err, fail.Held)
		hints := fail.HintsOf(err)
		rig.Check(t, len(hints) > 0 && strings.Contains(hints[0], want), "%s: the hints are %q", what, hints)
	}
	rig.Must(t, os.Rename(key, key+".lost"))
	mustNameKey("missing", "put your key back first")
	_, err := trust.NewKeeper(trust.Home(project+".home")).Seal("other", nil)
	rig.Must(t, err)
	mustNameKey("replaced", "put the old one back first")
	rig.Must(t, os.Rename(key+".lost", key))
	_, err = open(project).Of(chat).State()
	rig.Must(t, err)
}

// An unfinished last line is a crash's: nobody was told that it counts.
func TestTornLastLineIsCut(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	talked(t, c)
	path := c.nbs.Path(c.sub, journalFile)
	before, whole := inWords(t, mustState(t, c)), storetest.Read(t, path)
	for _, torn := range []string{"{", whole[:100], strings.Repeat("\x00", 500)} {
		storetest.Write(t, path, whole+torn)
		rig.Equal(t, inWords(t, mustState(t, c)), before, "behind %.10q", torn)
	}
	turn := mustEnqueue(t, c, asked("c", "And now?"))
	text := storetest.Read(t, path)
	rig.Check(t, turn.Seq == 3 && strings.HasPrefix(text, whole) && strings.Count(text, "\n") == strings.Count(whole, "\n")+1, "%+v: %s", turn, text)
	rig.Check(t, len(mustState(t, c).Open) == 2, "%+v", mustState(t, c))
}

// A request, or an answer, counts as commands of this user wrote it, for that turn.
func TestPlantedRequestsAndResultsCountForNothing(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c, other := d.Of(chat), d.Of(review)
	talked(t, c)
	talked(t, other)
	pending := d.nbs.Path(pendingFolder) + "/"
	mine := storetest.Read(t, pending+pendingFile(c.hash, 2, 0))
	for what, text := range map[string]string{
		"changed":        strings.Replace(mine, "What number?", "rm -rf ~", 1),
		"of another key": storetest.Read(t, pending+pendingFile(other.hash, 2, 0)),
		"without a seal": `{"id":"b","text":"rm -rf ~"}`,
	} {
		storetest.Write(t, pending+pendingFile(c.hash, 2, 0), text)
		_, err := c.Request(2)
		storetest.WantKind(t, what, err, fail.Held)
		storetest.WantHint(t, err, "skip")
	}
	rig.Must(t, os.Remove(pending+pendingFile(c.hash, 2, 0)))
	_, err := c.Request(2)
	storetest.WantKind(t, "removed", err, fail.Failed)
	storetest.Write(t, pending+pendingFile(c.hash, 3, 0), mine) // nobody accepted it
	rig.Check(t, len(mustState(t, c).Open) == 1, "%+v", mustState(t, c))
	_, err = c.Request(3)
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "%v", err)

	result := c.Path() + "/" + results + "/" + idFile("a")
	text := storetest.Read(t, result)
	storetest.Write(t, result, strings.Replace(text, "OK.", "No.", 1))
	_, _, err = c.Result("a")
	storetest.WantKind(t, "a changed answer", err, fail.Held)
	storetest.Write(t, c.Path()+"/"+results+"/"+idFile("b"), text)
	_, _, err = c.Result("b")
	storetest.WantKind(t, "an answer to another", err, fail.Held)
}

// What kept a request from being read passes, and is no reason to skip its turn.
func TestRequestThatCannotBeReadIsNotDamaged(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(review)
	mustEnqueue(t, c, asked("m1", "hello"))
	rig.Must(t, os.RemoveAll(d.nbs.Path(pendingFolder)))
	storetest.Write(t, d.nbs.Path(pendingFolder), "")
	_, err := c.Request(1)
	storetest.WantKind(t, "request", err, fail.Failed)
	rig.Check(t, errors.Is(err, syscall.ENOTDIR) && !strings.Contains(err.Error(), "damaged") && fail.HintsOf(err) == nil, "%v, %q", err, fail.HintsOf(err))
}
