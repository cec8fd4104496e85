package db

import (
	"path/filepath"
	"slices"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestCreateIsIdempotentAndKeepsTheFirstHandleAndPrompt(t *testing.T) {
	t.Parallel()
	d := made(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: alice, Handle: "alice", FirstPrompt: "first", Created: storetest.SomeTime()}))
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: alice, Handle: "bob", FirstPrompt: "second"}))
	rig.Same(t, "the conversation", memory.Observed{ContentID: alice, Handle: "alice", FirstPrompt: "first", Created: storetest.SomeTime()}, mustObserved(t, d, alice))
	_, err := d.Observed(t.Context(), other)
	storetest.WantKind(t, "a conversation that nobody observes", err, fail.NotFound)
}

func TestMemoryIDIsUnknownAtBirth(t *testing.T) {
	t.Parallel()
	d := made(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: alice, Handle: "alice", MemoryID: watcher, Synthesized: true, ReadTo: "x"}))
	o := mustObserved(t, d, alice)
	rig.Check(t, !o.Captured() && !o.Synthesized && o.ReadTo == "" && o.State() == "not captured", "%+v", o)
	var isNull bool
	rig.Must(t, d.sql.QueryRowContext(t.Context(), "SELECT memory_id IS NULL FROM observed").Scan(&isNull))
	rig.Check(t, isNull, "the memory id is not NULL")
}

func TestLastCaptureWins(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r1", by(watcher, "before"))
	rig.Must(t, d.Capture(t.Context(), alice, newWatcher))
	rig.Equal(t, mustObserved(t, d, alice).MemoryID, newWatcher, "the memory id")
	keep(t, d, alice, 2, "r2", by(newWatcher, "after"))
	all, err := d.Latest(t.Context(), memory.Query{})
	rig.Check(t, err == nil && len(all) == 2 && all[0].MemoryID == newWatcher && all[1].MemoryID == newWatcher, "%+v, %v", all, err)
	storetest.WantKind(t, "to capture for nobody", d.Capture(t.Context(), other, watcher), fail.NotFound)
	mustBeWhole(t, d)
}

func TestMemoryIDOfAnotherConversationIsRefused(t *testing.T) {
	t.Parallel()
	d := watched(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: other, Handle: "bob"}))
	storetest.WantKind(t, "a memory id twice", d.Capture(t.Context(), other, watcher), fail.Conflict)
	rig.Check(t, !mustObserved(t, d, other).Captured(), "the second has it")
	rig.Equal(t, mustObserved(t, d, alice).MemoryID, watcher, "the memory id of the first")
}

// An observer has one id over its prompts, and each after the first continues it.
func TestMemoryIDStaysOverThePrompts(t *testing.T) {
	t.Parallel()
	d := made(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: alice, Handle: "alice"}))
	for prompt := 1; prompt <= 3; prompt++ {
		resumes := memory.ShouldResume(mustObserved(t, d, alice), prompt, false)
		rig.Equal(t, resumes, prompt > 1, "prompt %d resumes", prompt)
		rig.Must(t, d.Capture(t.Context(), alice, watcher))
		keep(t, d, alice, prompt, "r", by(watcher, string(rune('a'+prompt))))
		rig.Equal(t, mustObserved(t, d, alice).MemoryID, watcher, "prompt %d: the memory id", prompt)
	}
}

func TestObservationOfAnUnknownConversationIsRefused(t *testing.T) {
	t.Parallel()
	d := watched(t)
	_, err := d.Store(t.Context(), other, 1, []memory.Observation{by(watcher, "x")}, "r")
	storetest.WantKind(t, "an observation of nobody", err, fail.NotFound)
	rig.Equal(t, len(titles(t, d, memory.Query{})), 0, "observations")
}

// Wrong pattern 1: what was observed is stored under the id of the agent's own conversation.
func TestNothingIsStoredUnderAContentID(t *testing.T) {
	t.Parallel()
	d := watched(t)
	observe(t, d, "bob", other, newWatcher)
	for what, memoryID := range map[string]agent.SessionID{"its own": alice, "another one's": other, "of another observer": newWatcher, "none": ""} {
		_, err := d.Store(t.Context(), alice, 1, []memory.Observation{by(watcher, "first"), by(memoryID, "x")}, "r")
		storetest.WantKind(t, what, err, fail.Conflict)
	}
	rig.Equal(t, len(titles(t, d, memory.Query{})), 0, "observations")
	rig.Equal(t, mustObserved(t, d, alice).ReadTo, "", "read to")
	for _, id := range []agent.SessionID{alice, agent.NewSessionID()} { // not even past all code
		_, err := d.sql.ExecContext(t.Context(), `INSERT INTO observations (memory_id, turn, type, title, narrative, facts, files, at, hash)
			VALUES (?, 1, 'fix', 'x', '', '[]', '[]', 1, 'h')`, id)
		rig.Check(t, isConstraint(err), "the schema takes an observation under %s: %v", id, err)
	}
}

// Wrong pattern 2: the observer resumes with the id of the agent's own conversation. It can have no such id,
// whichever of the two is known first.
func TestContentIDIsNeverAMemoryID(t *testing.T) {
	t.Parallel()
	d := watched(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: other, Handle: "bob"}))
	for _, content := range []agent.SessionID{alice, other} {
		storetest.WantKind(t, "to capture a content id", d.Capture(t.Context(), alice, content), fail.Conflict)
		rig.Equal(t, mustObserved(t, d, alice).MemoryID, watcher, "the memory id")
	}
	storetest.WantKind(t, "to observe an observer", d.Create(t.Context(), memory.Observed{ContentID: watcher, Handle: "bob"}), fail.Conflict)
	for _, memoryID := range []agent.SessionID{alice, other, "unknown"} { // not even past all code
		_, err := d.sql.ExecContext(t.Context(), "INSERT INTO observed (content_id, handle, first_prompt, memory_id, created) VALUES (?, 'bob', '', ?, 1)",
			agent.NewSessionID(), memoryID)
		rig.Check(t, isConstraint(err), "the schema takes the memory id %s: %v", memoryID, err)
	}
	own := agent.NewSessionID()
	_, err := d.sql.ExecContext(t.Context(), "INSERT INTO observed (content_id, handle, first_prompt, memory_id, created) VALUES (?1, 'bob', '', ?1, 1)", own)
	rig.Check(t, isConstraint(err), "the schema takes a memory id that is its own content id: %v", err)
	for _, bad := range []agent.SessionID{"", "unknown", "../../etc"} {
		storetest.WantKind(t, "to capture what is no id", d.Capture(t.Context(), alice, bad), fail.BadInput)
	}
	mustBeWhole(t, d)
}

// Wrong pattern 3: an id is taken for an observer's before it was captured.
func TestNothingIsStoredBeforeTheCapture(t *testing.T) {
	t.Parallel()
	d := made(t)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: alice, Handle: "alice"}))
	for _, id := range []agent.SessionID{"", watcher, alice} {
		_, err := d.Store(t.Context(), alice, 1, []memory.Observation{by(id, "x")}, "r")
		storetest.WantKind(t, "to store before the capture", err, fail.Conflict)
	}
	_, err := d.Store(t.Context(), alice, 1, nil, "r")
	storetest.WantKind(t, "to store nothing before the capture", err, fail.Conflict)

	note, err := d.Add(t.Context(), "alice", alice, memory.Observation{Type: memory.Fix, Title: "by hand"})
	rig.Must(t, err)
	o := mustObserved(t, d, alice)
	rig.Check(t, o.Synthesized && o.MemoryID == note.MemoryID && !memory.ShouldResume(o, 2, false), "%+v", o)
	_, err = d.Store(t.Context(), alice, 1, []memory.Observation{by(note.MemoryID, "x")}, "r")
	storetest.WantKind(t, "to store under an id that we made up", err, fail.Conflict)
	rig.Must(t, d.Capture(t.Context(), alice, watcher))
	keep(t, d, alice, 1, "r", by(watcher, "observed"))
	o = mustObserved(t, d, alice)
	rig.Check(t, !o.Synthesized && memory.ShouldResume(o, 2, false), "%+v", o)
	rig.Same(t, "what is remembered", []string{"by hand", "observed"}, slices.Sorted(slices.Values(titles(t, d, memory.Query{}))))
}

func TestConversationsNeverMix(t *testing.T) {
	t.Parallel()
	d := watched(t)
	observe(t, d, "alice", other, newWatcher)
	keep(t, d, alice, 1, "a1", by(watcher, "of the first"))
	keep(t, d, other, 1, "b1", by(newWatcher, "of the second"), by(newWatcher, "of the first")) // said by both
	all, err := d.Latest(t.Context(), memory.Query{Handle: "ALICE"})
	rig.Check(t, err == nil && len(all) == 3, "%+v, %v", all, err)
	for _, o := range all {
		rig.Check(t, (o.ContentID == alice) == (o.MemoryID == watcher) && (o.ContentID == other) == (o.MemoryID == newWatcher), "%+v", o)
	}
	rig.Equal(t, mustObserved(t, d, alice).ReadTo, "a1", "the first is read to")
	rig.Equal(t, mustObserved(t, d, other).ReadTo, "b1", "the second is read to")
}

func TestObservationIsStoredOnce(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r1", by(watcher, "one"))
	n, err := d.Store(t.Context(), alice, 2, []memory.Observation{by(watcher, "one"), by(watcher, "two"), by(watcher, "two")}, "r2")
	rig.Check(t, err == nil && n == 1, "%d stored, %v", n, err)
	rig.Same(t, "what is remembered", []string{"two", "one"}, titles(t, d, memory.Query{}))
	rig.Equal(t, mustObserved(t, d, alice).ReadTo, "r2", "read to")
}

// A turn is stored whole with its cursor, or not at all.
func TestRefusedObservationKeepsTheWholeTurnOut(t *testing.T) {
	t.Parallel()
	d := watched(t)
	bad := by(watcher, "bad")
	bad.Type = "poem"
	_, err := d.Store(t.Context(), alice, 1, []memory.Observation{by(watcher, "good"), bad}, "r1")
	storetest.WantKind(t, "an unknown type", err, fail.BadInput)
	rig.Equal(t, len(titles(t, d, memory.Query{})), 0, "observations")
	rig.Equal(t, mustObserved(t, d, alice).ReadTo, "", "read to")
}

func TestTroubleIsToldUntilTheObserverGetsOn(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r1", by(watcher, "one"))
	rig.Must(t, d.Trouble(t.Context(), alice, "usage limit"))
	all, err := d.Status(t.Context())
	rig.Check(t, err == nil && len(all) == 1 && all[0].Problem == "usage limit" && !all[0].ProblemAt.IsZero() && all[0].Observations == 1 && !all[0].Newest.IsZero(), "%+v, %v", all, err)
	rig.Must(t, d.Advance(t.Context(), alice, "r2"))
	all, err = d.Status(t.Context())
	rig.Check(t, err == nil && all[0].Problem == "" && all[0].ProblemAt.IsZero() && all[0].ReadTo == "r2", "%+v, %v", all, err)
	storetest.WantKind(t, "trouble of nobody", d.Trouble(t.Context(), other, "x"), fail.NotFound)
	storetest.WantKind(t, "nobody gets on", d.Advance(t.Context(), other, "x"), fail.NotFound)
}

func TestTokensOfADayAreSummed(t *testing.T) {
	t.Parallel()
	d := made(t)
	for i, c := range []struct {
		day         string
		tokens, sum int
	}{{"2026-02-20", 300, 300}, {"2026-02-20", 200, 500}, {"2026-02-21", 7, 7}, {"2026-02-20", 0, 500}} {
		rig.Gives(t, c.sum, "sum %d", i)(d.Spend(t.Context(), c.day, c.tokens))
	}
}

// Who asks what was spent waits for nobody who writes, and writes nothing.
func TestSpentIsReadBesideAWriter(t *testing.T) {
	t.Parallel()
	d := opened(t, filepath.Join(t.TempDir(), "memory.db"))
	rig.Gives(t, 7, "spent")(d.Spend(t.Context(), "2026-02-20", 7))
	tx, err := d.sql.BeginTx(t.Context(), nil)
	rig.Must(t, err)
	defer tx.Rollback() //nolint:errcheck // it has changed nothing
	rig.Gives(t, 7, "spent beside a writer")(d.Spend(t.Context(), "2026-02-20", 0))
}
