package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// world is a project with an agent that was never started.
type world struct {
	*testing.T
	Project *observe.Project
	config  string
}

func newWorld(t *testing.T, r agent.Record) *world {
	t.Helper()
	dir := rig.MemoryDir(t)
	w := &world{T: t, config: dir + "/config"}
	rig.Must(t, os.Mkdir(dir+"/project", 0o700))
	opened, err := store.Create(dir + "/project")
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	w.Project = &observe.Project{Store: opened, Now: time.Now}
	unlock, err := opened.LockVerb("alpha", "spawn", storetest.SomeTime()) // which makes the folders
	rig.Must(t, err)
	unlock()
	r.Schema, r.Handle, r.ProjectRoot, r.ConfigDir = agent.Schema, "alpha", opened.Project(), w.config
	rig.Must(t, opened.Insert(t.Context(), r))
	return w
}

// says puts the transcript of a conversation in its place, with one message.
func (w *world) says(id agent.SessionID, words string) {
	w.Helper()
	path := filepath.Join(w.config, "projects/-lab", string(id)+".jsonl")
	rig.Must(w, os.MkdirAll(filepath.Dir(path), 0o700))
	storetest.Write(w, path, `{"type":"user","uuid":"1","message":{"role":"user","content":"`+words+`"}}`+"\n")
}

// A follower that is slower than its agent is told of each conversation in between.
func TestFollowerThatLagsBehind(t *testing.T) {
	t.Parallel()
	a, b, c := agent.NewSessionID(), agent.NewSessionID(), agent.NewSessionID()
	w := newWorld(t, agent.Record{Spec: agent.Spec{SessionID: a}})
	w.says(a, "first")
	w.says(b, "second")
	w.says(c, "third")
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	err := Logs(ctx, w.Project, LogQuery{Handle: "alpha", Follow: true}, LogReader{
		Said: func(m Said) error {
			told = append(told, m.Text)
			switch m.Text {
			case "first":
				_, err := w.Project.Store.Update(ctx, "alpha", func(r *agent.Record) error {
					r.Replace(b, storetest.SomeTime(), "clear")
					r.Replace(c, storetest.SomeTime(), "clear")
					return nil
				})
				return err
			case "third":
				cancel()
			}
			return nil
		},
		Session: func(s LogSession) error {
			told = append(told, string(s.SessionID))
			return nil
		},
		Note: func(what string) { told = append(told, what) },
	})
	rig.Check(t, err != nil, "it ended without its context")
	rig.Equal(t, strings.Join(told, " "), strings.Join([]string{"first", string(b), "second", string(c), "third"}, " "), "what was told")
}

// That a conversation has no transcript is told of the one that was asked for.
func TestConversationWithoutATranscript(t *testing.T) {
	t.Parallel()
	now, earlier := agent.NewSessionID(), agent.NewSessionID()
	left := storetest.SomeTime()
	for what, c := range map[string]struct {
		seen  time.Time
		asked agent.SessionID
		want  string
	}{
		"the present one, never seen": {time.Time{}, "", "it has no transcript yet"},
		"the present one":             {left.Add(time.Hour), "", "its transcript is gone; it was last seen 2026-02-20T12:44:07Z"},
		"an earlier one":              {time.Time{}, earlier, "there is no transcript of the conversation " + string(earlier) + ", which the agent left 2026-02-20T11:44:07Z"},
		"an earlier one, the other":   {left.Add(time.Hour), earlier, "there is no transcript of the conversation " + string(earlier)},
	} {
		w := newWorld(t, agent.Record{Spec: agent.Spec{
			SessionID: now, PreviousSessions: []agent.PreviousSession{{SessionID: earlier, Until: left, Reason: "clear"}},
		}, TranscriptSeen: c.seen})
		err := Logs(t.Context(), w.Project, LogQuery{Handle: "alpha", SessionID: c.asked}, LogReader{})
		rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), c.want), "%s: %v; want %s", what, err, c.want)
	}
}

// Who cannot be told of an event is told of none that follows.
func TestReaderThatLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agent.Record{Spec: agent.Spec{SessionID: agent.NewSessionID()}})
	for range 3 {
		rig.Must(t, w.Project.Store.Journal().Append(t.Context(), journal.Event{At: storetest.SomeTime(), Event: "spawn", Handle: "alpha"}))
	}
	for _, last := range []int{0, 3} {
		visits := 0
		err := Events(t.Context(), w.Project.Store, EventQuery{Last: last}, func(journal.Event) error { visits++; return unix.EPIPE }, func(string) {})
		rig.Check(t, visits == 1 && errors.Is(err, unix.EPIPE), "of the last %d: %d visits, %v", last, visits, err)
	}
}

// What an agent has said is not of a dismissed one because the agent's record cannot be read.
func TestSearchOfADamagedRecord(t *testing.T) {
	t.Parallel()
	id, earlier := agent.NewSessionID(), agent.NewSessionID()
	w := newWorld(t, agent.Record{Spec: agent.Spec{SessionID: id}})
	w.Project.Env = []string{"CLAUDE_CONFIG_DIR=" + w.config}
	w.says(id, "the tide")
	w.says(earlier, "the tide before")
	for handle, id := range map[agent.Handle]agent.SessionID{"alpha": id, "gone": earlier} {
		rig.Must(t, w.Project.Store.Journal().Append(t.Context(), journal.Event{At: storetest.SomeTime(), Event: "spawn", Handle: handle, SessionID: id}))
	}
	storetest.Write(w, filepath.Join(w.Project.Store.Project(), ".nbs/sessions/alpha.json"), "{")
	places, unread := map[string]bool{}, ""
	q := Search{Match: regexp.MustCompile("tide"), Sees: func(conversations.Key) bool { return true }, Dismissed: true}
	rig.Must(t, q.Run(t.Context(), w.Project, func(m Found) error { places[m.Place.String()] = true; return nil }, func(p Place, _ error) { unread += p.String() }))
	rig.Check(t, unread == "alpha" && len(places) == 2 && places["alpha"] && places["gone (dismissed)"], "found in %v; unread: %s", places, unread)
}
