package security

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/requests"
)

// An agent answers for no agent, whatever its mode: not for a colleague, and not for itself.
func TestSecurityAgentAnswersForNoAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta")
	m.OK("spawn", "gamma", "--root", m.OtherProject(), "--cwd", m.World.Project, "--model", "sonnet")
	m.OK("spawn", "alpha", "--model", "sonnet")
	const why = "to answer for an agent needs --may-manage"
	m.mustDeny("alpha", map[string]string{
		"nbs-worker approve beta":                         why,
		"nbs-worker approve alpha":                        why,
		"nbs-worker approve beta 00000000 --always":       why,
		"nbs-worker deny beta --message no":               why,
		"nbs-worker answer alpha 1":                       why,
		"NBS_HANDLE=beta nbs-worker approve alpha":        why,
		"nbs-worker approve x --root " + m.OtherProject(): why,
		"nbs-worker requests --root " + m.OtherProject():  "it belongs to another project",
	})
}

// asks has an agent ask, by a hook that the test plays. It returns the id of the request, and whether it was allowed.
func (m *team) asks(handle agent.Handle, tool, input string) (id string, allowed func() bool) {
	m.Helper()
	drawer := requests.In(private.Tree(filepath.Join(filepath.Dir(m.LaunchFolder()), "requests")))
	asked, err := drawer.Open(requests.Request{Handle: handle, At: time.Now(), Tool: tool, Input: json.RawMessage(input)})
	m.Must(err)
	var answers atomic.Pointer[requests.Answer]
	ctx, stop := context.WithCancel(m.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer asked.Close()
		_ = clock.Poll(ctx, time.Hour, func() (bool, error) {
			a, there, err := asked.Answer()
			if there && asked.Take(a) == nil {
				answers.Store(&a)
			}
			return there, err
		})
	}()
	m.Cleanup(func() { stop(); <-ended })
	return asked.ID, func() bool { a := answers.Load(); return a != nil && a.Allow }
}

// An agent that may manage answers for its colleagues, and allows no more than its own mode does without asking.
func TestSecurityManagerAnswersWithinItsMode(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta", "--model", "sonnet")
	m.OK("spawn", "lead", "--model", "sonnet", "--permission-mode", "acceptEdits", "--may-manage", "--", "--allowedTools", "Bash")
	edit := func(path string) string {
		return `{"file_path":` + e2e.Encoded(m.Team, path) + `,"old_string":"a","new_string":"b"}`
	}
	command, commandAllowed := m.asks("beta", "Bash", `{"command":"make"}`)
	inside, insideAllowed := m.asks("beta", "Edit", edit(filepath.Join(m.World.Project, "a.go")))
	hidden, _ := m.asks("beta", "Edit", edit(filepath.Join(m.World.Project, ".claude/settings.json")))
	outside, _ := m.asks("beta", "Write", edit(filepath.Join(m.World.Home, "a.go")))
	question, questionAllowed := m.asks("beta", "AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"this"},{"label":"that"}]}]}`)
	const wider = " is more than its own permission mode, acceptEdits, does without asking"
	m.mustDeny("lead", map[string]string{
		"nbs-worker approve beta " + command: "to allow Bash" + wider, "nbs-worker approve beta " + hidden: "to allow Edit" + wider, "nbs-worker approve beta " + outside: "to allow Write" + wider,
	})
	said := m.AsAgent("lead", "nbs-worker approve beta "+inside, "nbs-worker answer beta "+question+" that", "nbs-worker deny beta "+hidden)
	for i := range said {
		m.Check(said[i] == "beta\ncode 0\n", "%q", said[i])
	}
	m.Check(insideAllowed() && questionAllowed() && !commandAllowed(), "what was allowed is another")
	m.Check(strings.Contains(m.Journal(), "Edit ("+inside+"): allowed; by agent lead"), "the journal has not who answered: %s", m.Journal())
	m.OK("dismiss", "lead")
	m.OK("spawn", "lead", "--model", "sonnet", "--may-manage")
	said = m.AsAgent("lead", "nbs-worker approve beta "+command, "nbs-worker approve beta "+inside)
	m.Check(said[0] == "beta\ncode 0\n" && commandAllowed(), "one that bypasses: %q", said[0])
	m.Check(strings.Contains(said[1], "the request is answered already: "+inside+", by agent lead") && strings.HasSuffix(said[1], "code 5\n"), "%q", said[1])
}
