package store

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/storetest"
)

// A writer is killed before each of its system calls in turn. What is then on disk is
// the old or the new, its locks are free, and the next verb leaves nothing half done.

// eachKill kills a role, on a store of its own each time.
func eachKill(t *testing.T, role string, begin func(t *testing.T) (project string), check func(s *Store, killed bool)) {
	t.Helper()
	points := rig.EachKill(t, rig.FileCalls, func() (*exec.Cmd, func(bool)) {
		project := begin(t)
		return rig.Command(role, project), func(killed bool) {
			s, err := own(Create(project)) // as a spawn does; it is there, but for the very first one
			rig.Must(t, err)
			mustBeUsable(t, s)
			check(s, killed)
			_ = s.Close()
		}
	})
	rig.Check(t, points >= 5, "only %d points", points)
}

// mustBeUsable checks that a verb finds all locks free and no half-written file after it.
func mustBeUsable(t *testing.T, s *Store) {
	t.Helper()
	for _, handle := range []agent.Handle{"alice", "bob"} {
		locked(t, s, handle, "resume", time.Now())()
		unlock, err := s.lockRecord(t.Context(), handle)
		rig.Must(t, err)
		unlock()
	}
	for _, folder := range []string{path(s, sessions), string(s.launches())} {
		for _, name := range storetest.Names(t, folder) {
			rig.Check(t, !strings.HasPrefix(name, "."), "the next verb left %s/%s", folder, name)
		}
	}
}

func newProject(t *testing.T) string { return storetest.MemoryProject(t) }

func withAlice(t *testing.T) (project string) {
	t.Helper()
	return newStoreWith(t, "alice").Project()
}

func TestKilledUpdateLeavesTheOldOrTheNewRecord(t *testing.T) {
	t.Parallel()
	seen := map[int]int{}
	eachKill(t, "update", withAlice, func(s *Store, killed bool) {
		r, err := s.Load("alice")
		rig.Check(t, err == nil && r.SessionID == aliceID && (r.PID == 0 || r.PID == newPID) && (killed || r.PID == newPID), "%+v, %v", r, err)
		seen[r.PID]++
		storetest.WantNames(t, path(s, sessions), "alice.json")
		if r, err = s.Update(t.Context(), "alice", func(r *agent.Record) error { r.PID = 7; return nil }); err != nil || r.PID != 7 {
			t.Errorf("the next update: %+v, %v", r, err)
		}
	})
	rig.Check(t, seen[0] != 0 && seen[newPID] >= 2, "records seen, by pid: %v; want the old and the new", seen)
}

func TestKilledInsertLeavesAWholeRecordOrNone(t *testing.T) {
	t.Parallel()
	for role, begin := range map[string]func(t *testing.T) (project string){"insert": withAlice, "first-spawn": newProject} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			eachKill(t, role, begin, func(s *Store, killed bool) {
				r, err := s.Load("bob")
				switch {
				case err == nil && r.SessionID == aliceID:
					storetest.WantKind(t, "a second insert", s.Insert(t.Context(), record("bob")), fail.Conflict)
				case killed && fail.KindOf(err) == fail.NotFound:
					rig.Must(t, s.Insert(t.Context(), record("bob")))
				default:
					t.Errorf("%+v, %v", r, err)
				}
			})
		})
	}
}

func TestKilledRemoveLeavesAWholeRecordOrNone(t *testing.T) {
	t.Parallel()
	eachKill(t, "remove", withAlice, func(s *Store, killed bool) {
		_, err := s.Load("alice")
		rig.Check(t, (err == nil || fail.KindOf(err) == fail.NotFound) && (err != nil || killed), "%v", err)
	})
}

func TestKilledPutLaunchLeavesNoSecret(t *testing.T) {
	t.Parallel()
	eachKill(t, "put-launch", withAlice, func(s *Store, killed bool) {
		if got := storetest.Names(t, string(s.launches())); len(got) > 0 {
			launch, err := s.TakeLaunch("alice", "i")
			rig.Check(t, err == nil && launch.Env[0] == secretLaunch.Env[0], "%v: %+v, %v", got, launch, err)
		} else if !killed {
			t.Error("no launch file")
		}
	})
}

// The launch of a killed verb goes with the next verb of any agent, once no launcher can be on its way to it. So do
// temporary files, and nothing else.
func TestLeftoversOfAKilledVerbAreRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, s.PutLaunch("alice", secretLaunch))
	places := []string{string(s.launches())}
	for _, sub := range []string{sessions, statuses, queue.Folder} {
		storetest.Write(t, path(s, sub, ".alice.json123"), "half")
		storetest.Write(t, path(s, sub, "notes.txt"), "a person's")
		places = append(places, path(s, sub))
	}
	for _, c := range []struct {
		at   time.Time
		left string
	}{{time.Now(), "[1 2 2 2]"}, {time.Now().Add(2 * leftAfter), "[0 1 1 1]"}} {
		locked(t, s, "bob", "spawn", c.at)()
		got := fmt.Sprint(agent.Mapped(places, func(place string) int { return len(storetest.Names(t, place)) }))
		rig.Equal(t, got, c.left, "files at %s", c.at)
	}
}

// A temporary file of a writer that is at work is not taken from it.
func TestSweepLeavesTheFileOfALiveWriter(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	end, err := s.lockRecord(t.Context(), "alice")
	rig.Must(t, err)
	storetest.Write(t, path(s, sessions, ".alice.json123"), "half")
	for _, want := range []int{2, 1} {
		locked(t, s, "Alice", "stop", time.Now())()
		got := storetest.Names(t, path(s, sessions))
		rig.Check(t, len(got) == want, "left are %v; want %d", got, want)
		end()
	}
}
