package chat

import (
	"strings"
	"testing"
)

// Who looks at a turn that the API refuses, as with an expired login, sees that while Claude tries again.
func TestATurnThatTheAPIRefusesSaysSo(t *testing.T) {
	m := eachVersion(t)
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=10")
	ask := m.Begin("ask", "review", "[[error 401]] hello")
	m.WaitFor("the refusal is shown", func() (bool, string) {
		r := m.NBS("conversation", "show", "review")
		return strings.Contains(r.Stdout, "1 running (the API of Claude refuses (401); Claude tries again): [[error 401]] hello"), r.String() + ask.Err.String()
	})
	m.MustPrint("review has stopped turn 1\n", "conversation", "interrupt", "review")
	m.MustRefuse(ask.End(), 1, "stopped by nbs-worker conversation interrupt")
	m.noClaude()
	m.NoTurnFiles()
}
