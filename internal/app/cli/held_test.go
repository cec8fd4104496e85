package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/trust"
)

// Who looks for the reason why a chat gets no answer finds it, and what to do about it, in each of three places.
func TestAHeldMessageIsExplained(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	held(t, project, "telegram:3", conversations.Held{Class: string(turn.Authentication), Reason: "Not logged in", Mends: true, Until: time.Now().Add(time.Hour)})
	person := ui.Streams{OutTTY: true, ErrTTY: true}
	const login = "start claude once by hand, and type /login: claude"
	retry := "to try it now: nbs-worker --root " + project + " conversation retry 'telegram:3'"
	r := runOn(person, "--root", project, "conversation", "queue").want(t, 0, "to log in: "+login, retry, "skip 'telegram:3' 1")
	rig.Check(t, strings.Contains(r.out, "Not logged in"), "the queue has no reason: %s", r.out)
	r = run("--root", project, "conversation", "queue").want(t, 0)
	rig.Check(t, r.err == "", "a script is told %q", r.err)
	r = run("--root", project, "conversation", "show", "telegram:3").want(t, 0)
	rig.Check(t, strings.Contains(r.out, "1 held (Not logged in): morning"), "show has no reason: %s", r.out)
	found := checkBot(t, project)["bot.held"]
	for _, want := range []string{"warning: a message of telegram:3 is held: Not logged in", login, "conversation retry 'telegram:3'"} {
		rig.Check(t, strings.Contains(found, want), "check finds %q; want %q", found, want)
	}
	rig.Check(t, checkBot(t, newProject(t))["bot.held"] == "ok: no message is held\n", "check of a project without one")
}

// held has a turn of a chat wait.
func held(t *testing.T, project string, key conversations.Key, why conversations.Held) {
	t.Helper()
	s, err := store.Open(project)
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	c := s.Conversations().Of(key)
	accepted, _, err := c.Enqueue(t.Context(), conversations.Meta{Key: key, Cwd: project}, conversations.Request{Text: "morning"})
	rig.Must(t, err)
	rig.Must(t, c.Hold(t.Context(), accepted.Seq, why))
}
