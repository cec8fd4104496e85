package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// However often a launcher tries to follow into a conversation that another has, the journal
// tells it once, and once that it holds it.
func TestHoldingTriesAgainAndTellsItOnce(t *testing.T) {
	t.Parallel()
	const next = agent.SessionID("5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	s := newProject(t)
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	record := moveAlpha(t, s, alphaID)
	h, err := l.hold(&record, store.Launch{Invocation: start})
	rig.Must(t, err)
	defer h.release()
	endOthers, err := s.AcquireLease(next, store.Holder{PID: 1, Verb: "run", Handle: "beta"})
	rig.Must(t, err)
	moveAlpha(t, s, next)
	follow := func(wantFailed, wantLeased int) {
		t.Helper()
		for range 3 {
			h.follow(t.Context())
		}
		if told := events(t, s); told["failed"] != wantFailed || told["leased"] != wantLeased {
			t.Errorf("the journal has %v; want failed %d times, leased %d times", told, wantFailed, wantLeased)
		}
	}
	follow(1, 0)
	moveAlpha(t, s, alphaID)
	follow(1, 0)
	moveAlpha(t, s, next)
	follow(2, 0)
	holder, held := s.LeaseHolder(alphaID)
	rig.Check(t, held && holder.Handle == "alpha", "it has let go of what it holds: %v", holder)
	endOthers()
	follow(2, 1)
	holder, held = s.LeaseHolder(next)
	rig.Check(t, held && holder.Handle == "alpha", "it does not hold %s: %v", next, holder)
	holder, held = s.LeaseHolder(alphaID)
	rig.Check(t, !held, "it still holds %s: %v", alphaID, holder)
}

// What cannot be read beside the transcripts keeps no agent down whose conversation has none yet.
func TestHoldingOfANewConversationBesideABrokenFolder(t *testing.T) {
	t.Parallel()
	s := newProject(t)
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	record := moveAlpha(t, s, alphaID)
	config, err := claude.ConfigOf(&record.Spec, nil)
	rig.Must(t, err)
	path, err := config.RestorePath(alphaID, "-srv-project", "")
	rig.Must(t, err)
	broken := filepath.Join(filepath.Dir(filepath.Dir(path)), "-loop")
	rig.Must(t, os.Symlink("-loop", broken))
	_, _, err = config.Hold(alphaID)
	rig.Check(t, errors.Is(err, unix.ELOOP), "the folder is not broken: %v", err)
	h, err := l.hold(&record, store.Launch{Invocation: start})
	rig.Must(t, err)
	h.release()
	record.TranscriptSeen = time.Now()
	_, err = l.hold(&record, store.Launch{Invocation: start})
	_, held := s.LeaseHolder(alphaID)
	rig.Check(t, errors.Is(err, unix.ELOOP) && !held, "an old conversation is held without its transcript: %v, %v", err, held)
}

// A first run has no transcript to lock before its first prompt, nor has what follows a /clear.
func TestHoldingLocksATranscriptThatComesLater(t *testing.T) {
	t.Parallel()
	const next = agent.SessionID("5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	s := newProject(t)
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	record := moveAlpha(t, s, alphaID)
	h, err := l.hold(&record, store.Launch{Invocation: start})
	rig.Must(t, err)
	for _, id := range []agent.SessionID{alphaID, next} {
		moveAlpha(t, s, id)
		h.follow(t.Context())
		path, err := h.config.RestorePath(id, "-srv-project", "")
		rig.Must(t, err)
		rig.Must(t, os.WriteFile(path, nil, 0o600))
		h.follow(t.Context())
		_, _, err = h.config.Hold(id)
		rig.Check(t, fail.KindOf(err) == fail.Conflict, "another project's launcher: %v; want a conflict", err)
	}
	h.release()
	for _, id := range []agent.SessionID{alphaID, next} {
		release, held, err := h.config.Hold(id)
		rig.Must(t, err)
		rig.Check(t, held, "%s is not found", id)
		release()
	}
	rig.Equal(t, events(t, s)["failed"], 0, "told as failed")
}

// moveAlpha makes a conversation the agent's present one.
func moveAlpha(t *testing.T, s *store.Store, id agent.SessionID) agent.Record {
	t.Helper()
	r, err := s.Update(t.Context(), "alpha", func(r *agent.Record) error {
		r.ConfigDir = s.Project()
		r.SessionID = id
		return nil
	})
	rig.Must(t, err)
	return r
}

// events counts the events of the journal by their names.
func events(t *testing.T, s *store.Store) map[string]int {
	t.Helper()
	told := map[string]int{}
	for _, e := range journalOf(t, s) {
		told[e.Event]++
	}
	return told
}

func journalOf(t *testing.T, s *store.Store) (all []journal.Event) {
	t.Helper()
	tail := s.Journal().Tail()
	defer tail.Close()
	rig.Must(t, tail.Read(func(e journal.Event) error { all = append(all, e); return nil }, func() {}))
	return all
}
