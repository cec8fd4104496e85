package schedule

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// What Claude may do in a scheduled turn, and what a refused tool makes of it.
func TestRightsOfASchedule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]conversations.Rights{
		"":                                  {},
		", permission_mode: manual":         {PermissionMode: "default"},
		", allowed_tools: 'Read,Bash(x *)'": {AllowedTools: "Read,Bash(x *)"},
		", permission_mode: plan, allowed_tools: [Read, 'Bash(x *)']": {PermissionMode: "plan", AllowedTools: "Read,Bash(x *)"},
	} {
		file := mustParse(t, "schedules: {a: {every: 1h, prompt: x"+text+"}}")
		rig.Equal(t, file.Entry("a").Rights, want, "%q", text)
		rig.Equal(t, file.Entry("a").OnDenied, "", "%q", text)
	}
	rig.Equal(t, mustParse(t, "schedules: {a: {every: 1h, prompt: x, on_denied: fail}}").Entry("a").OnDenied, DeniedFail, "on_denied")
	for _, wrong := range []string{"prompt: x, permission_mode: all", "prompt: x, allowed_tools: [Read, '-x']", "prompt: x, on_denied: stop", "permission_mode: plan, send: {to: a, text: x}"} {
		_, err := Parse("schedules.yaml", []byte("schedules: {a: {every: 1h, "+wrong+"}}"))
		rig.Check(t, err != nil && strings.Contains(err.Error(), "line 1"), "%s: %v", wrong, err)
	}
}

// A command is in place of a prompt, and is none of Claude's own.
func TestCommandOfASchedule(t *testing.T) {
	t.Parallel()
	e := mustParse(t, "schedules: {a: {every: 1h, command: /daily now}}").Entry("a")
	rig.Check(t, e.Command && e.Prompt == "/daily now", "%+v", e)
	for _, wrong := range []string{"command: /clear", "command: daily", "command: /daily, prompt: x", "command: /daily, send: {to: a, text: x}"} {
		_, err := Parse("schedules.yaml", []byte("schedules: {a: {every: 1h, "+wrong+"}}"))
		rig.Check(t, err != nil, "%s", wrong)
	}
}
