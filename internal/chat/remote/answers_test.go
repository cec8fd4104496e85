package remote

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// A message that names an agent, and comes again after a crash, does not answer what the agent asks by then: its user has
// not seen that.
func TestAMessageThatComesAgainAnswersNoOtherRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rig.Must(t, os.Mkdir(dir+"/project", 0o700))
	opened, err := store.Create(dir + "/project")
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	opened.RunIn(dir + "/run")
	unlock, err := opened.LockVerb("alpha", "spawn", time.Now())
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), agent.Record{Spec: agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir + "/project"}}))

	project := &observe.Project{Machine: fake.New().Machine(), Store: opened, Now: time.Now, UID: 1000}
	team := &Team{Supervisor: &supervisor.Supervisor{Project: project}, Notes: opened.Deliveries()}
	answers := answer.New(project, nil)
	asks := func() *requests.Waiting {
		t.Helper()
		w, err := opened.Requests().Open(requests.Request{Handle: "alpha", At: time.Now(), Tool: "Bash", Input: []byte(`{"command":"make"}`)})
		rig.Must(t, err)
		t.Cleanup(w.Close)
		return w
	}
	meant := func(id, named string) (string, error) {
		r, err := team.meant(t.Context(), answers, &bridge.Answering{ID: id, Request: named, Allow: true})
		return r.ID, err
	}

	none := func() {
		t.Helper()
		got, err := meant("telegram:0", "alpha")
		rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "no request of it is open"), "a message that came when none was open means %s, %v", got, err)
	}
	none()
	first := asks()
	none()
	for range 2 {
		got, err := meant("telegram:1", "alpha")
		rig.Check(t, err == nil && got == first.ID, "%s, %v; want %s", got, err, first.ID)
	}
	first.Close()
	second := asks()
	got, err := meant("telegram:1", "alpha")
	rig.Check(t, errors.Is(err, answer.ErrOver), "the message that came again means %s, %v; it came for %s", got, err, first.ID)
	got, err = meant("telegram:2", "Alpha")
	rig.Check(t, err == nil && got == second.ID, "%s, %v; want %s", got, err, second.ID)
	got, err = meant("telegram:3", second.ID)
	rig.Check(t, err == nil && got == second.ID, "%s, %v; want %s", got, err, second.ID)
}
