package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A loop that gives an agent each of its tasks in a new conversation makes some hundred of them a day.
func TestAgentWithManyConversations(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	id := func(i int) agent.SessionID {
		return agent.SessionID(fmt.Sprintf("abc12345-1234-1234-1234-%012d", i))
	}
	const many = 10_000
	_, err := s.Update(t.Context(), "alice", func(r *agent.Record) error {
		for i := range many {
			r.PreviousSessions = append(r.PreviousSessions, agent.PreviousSession{SessionID: id(i), Until: r.Started, Reason: "clear"})
		}
		return nil
	})
	rig.Must(t, err)
	_, err = s.Update(t.Context(), "alice", func(r *agent.Record) error { r.Replace(id(many), r.Started, "clear"); return nil })
	rig.Must(t, err)
	r, err := s.Load("alice")
	rig.Must(t, err)
	rig.Check(t, r.SessionID == id(many) && len(r.PreviousSessions) == many+1, "%s, %d earlier ones", r.SessionID, len(r.PreviousSessions))
	r.Handle = "bob" // as rename does
	rig.Must(t, s.Insert(t.Context(), r))
}

// legacy is a record as the original tools wrote it.
const legacy = `{"handle":"theologian","session_id":"abc12345-1234-1234-1234-123456789abc","model":"opus",
"tmux_session":"nbs-theologian-live","started":"2026-02-20T11:44:07Z","initial_prompt":"Load /nbs-teams-chat...",
"project_root":"/home/user/project","pid":12345,"mood":{"calm":true}}`

func TestInsertedRecordIsLoaded(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "Alice")
	for _, spelled := range []agent.Handle{"Alice", "alice", "ALICE"} {
		got, err := s.Load(spelled)
		rig.Check(t, err == nil && got.Handle == "Alice" && got.SessionID == aliceID, "Load(%s) = %+v, %v", spelled, got, err)
	}
	text := storetest.Read(t, path(s, "sessions", "Alice.json"))
	rig.Check(t, strings.HasSuffix(text, "}\n") && strings.Contains(text, "\n  \"schema\": 1"), "the record is not for people: %s", text)
}

func TestInsertConflictsInAnyCase(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "Alice")
	before := storetest.Read(t, path(s, "sessions", "Alice.json"))
	for _, handle := range []agent.Handle{"Alice", "alice", "aLICE"} {
		taken := record(handle)
		taken.SessionID = otherID
		err := s.Insert(t.Context(), taken)
		storetest.WantKind(t, string(handle), err, fail.Conflict)
		storetest.WantHint(t, err, "resume Alice")
	}
	storetest.WantText(t, path(s, "sessions", "Alice.json"), before)
}

func TestInsertRefusesAnInvalidRecord(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	bad := record("alice")
	bad.SessionID = "x; rm -rf ~"
	storetest.WantKind(t, "insert", s.Insert(t.Context(), bad), fail.BadInput)
	bad = record("alice")
	bad.InitialPrompt = strings.Repeat("x", fileLimit)
	storetest.WantKind(t, "a record beyond the limit", s.Insert(t.Context(), bad), fail.BadInput)
	handles, err := s.Handles()
	rig.Check(t, len(handles) == 0 && err == nil, "Handles() = %v, %v; want none", handles, err)
}

func TestOneOfManyInsertsWins(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	outcomes := make(chan error)
	for _, handle := range []agent.Handle{"alice", "Alice", "aLice", "alIce", "aliCe", "alicE"} {
		go func() { outcomes <- s.Insert(t.Context(), record(handle)) }()
	}
	won := 0
	for range 6 {
		err := <-outcomes
		if err == nil {
			won++
		} else if fail.KindOf(err) != fail.Conflict {
			t.Errorf("a loser gets %v; want a conflict", err)
		}
	}
	handles, _ := s.Handles()
	rig.Check(t, won == 1 && len(handles) == 1, "%d won, on disk are %v", won, handles)
}

func TestHandlesAreSortedRecords(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, handle := range []agent.Handle{"zoe", "Bob", "alice"} {
		rig.Must(t, s.Insert(t.Context(), record(handle)))
	}
	for _, name := range []string{"notes.txt", "bad name.json", "-x.json", "alice.json.damaged", ".json"} {
		storetest.Write(t, path(s, "sessions", name), "x")
	}
	storetest.Write(t, path(s, "sessions", "broken.json"), "x")
	got, err := s.Handles()
	diff := cmp.Diff([]agent.Handle{"Bob", "alice", "broken", "zoe"}, got)
	rig.Check(t, diff == "" && err == nil, "%v, -want +got:\n%s", err, diff)
}

func TestNobody(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	_, err := s.Load("alic")
	storetest.WantKind(t, "load", err, fail.NotFound)
	_, err = s.Update(t.Context(), "nobody", func(*agent.Record) error { return nil })
	storetest.WantKind(t, "update", err, fail.NotFound)
	storetest.WantKind(t, "remove", s.Remove(t.Context(), "nobody"), fail.NotFound)
}

func TestUpdateThatFailsWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	before := storetest.Read(t, path(s, "sessions", "alice.json"))
	refusal := errors.New("no")
	for what, change := range map[string]func(*agent.Record) error{
		"an error":          func(r *agent.Record) error { r.PID = 7; return refusal },
		"an invalid record": func(r *agent.Record) error { r.Model = "--settings"; return nil },
	} {
		_, err := s.Update(t.Context(), "alice", change)
		rig.Check(t, err != nil, "%s: no error", what)
	}
	_, err := s.Update(t.Context(), "alice", func(*agent.Record) error { return refusal })
	rig.Check(t, errors.Is(err, refusal), "the cause is lost: %v", err)
	storetest.WantText(t, path(s, "sessions", "alice.json"), before)
}

// The original tools made .nbs/sessions and nothing else, for all to read.
func TestProjectOfTheOriginalTools(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	rig.Must(t, os.MkdirAll(project+"/.nbs/sessions", 0o755))
	storetest.Write(t, project+"/.nbs/sessions/theologian.json", legacy)
	s, err := own(Open(project))
	rig.Must(t, err)
	defer s.Close()
	defer locked(t, s, "theologian", "resume", storetest.SomeTime())()
	rig.Must(t, s.DropLaunch("theologian"))
	rig.Must(t, s.PutLaunch("theologian", Launch{Invocation: "i"}))
	got, err := s.Update(t.Context(), "theologian", func(r *agent.Record) error { r.PID = 7; return nil })
	rig.Check(t, err == nil && got.Schema == 0 && got.PID == 7 && got.Model == "opus", "Update = %+v, %v", got, err)
	text := storetest.Read(t, path(s, "sessions", "theologian.json"))
	rig.Check(t, strings.Contains(text, `"mood": {`), "an unknown field is lost: %s", text)
}

func count(ctx context.Context, s *Store, n int) error {
	for range n {
		if _, err := s.Update(ctx, "alice", func(r *agent.Record) error { r.PID++; return nil }); err != nil {
			return err
		}
	}
	return nil
}

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	const goroutines, processes, each = 4, 4, 20
	others := make([]*rig.Child, processes)
	for i := range others {
		others[i] = rig.StartChild(t, rig.Command("count", s.Project(), strconv.Itoa(each)))
	}
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			err := count(t.Context(), s, each)
			rig.Check(t, err == nil, "%v", err)
		})
	}
	wait.Wait()
	for _, o := range others {
		o.Said()
	}
	r, err := s.Load("alice")
	rig.Check(t, err == nil && r.PID == (goroutines+processes)*each, "counted to %d, %v; want %d", r.PID, err, (goroutines+processes)*each)
	entries, _ := os.ReadDir(path(s, "sessions"))
	rig.Check(t, len(entries) == 1, "left behind: %v", entries)
}

func TestRemoveKeepsTheLockFiles(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "Alice")
	unlock := locked(t, s, "alice", "dismiss", storetest.SomeTime())
	rig.Must(t, s.Remove(t.Context(), "aLICE"))
	unlock()
	_, err := s.Load("Alice")
	storetest.WantKind(t, "load", err, fail.NotFound)
	for _, name := range []string{"alice.verb", "alice.record"} {
		_, err := os.Stat(path(s, "locks", name))
		rig.Check(t, err == nil, "%v: whoever unlinks a lock file lets a second holder in", err)
	}
	err = s.Insert(t.Context(), record("alice"))
	rig.Check(t, err == nil, "the handle is not free: %v", err)
}

func TestAllRecords(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "Alice")
	rig.Must(t, s.Insert(t.Context(), record("carol")))
	storetest.Write(t, path(s, "sessions", "bob.json"), `{"handle": "bob", `) // damaged
	records, err := s.Records()
	rig.Must(t, err)
	var got []string
	for _, one := range records {
		got = append(got, fmt.Sprint(one.Handle, " ", one.Record.Handle, " ", one.Err != nil))
	}
	rig.Check(t, slices.Equal(got, []string{"Alice Alice false", "bob  true", "carol carol false"}), "%q", got)
}
