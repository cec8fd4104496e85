package conversation

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/observe"
)

// classPowers is the class of a turn whose agent no longer has the right to run it.
const classPowers turn.Class = "powers"

// powers returns the agent's powers as text, so that different powers compare unequal.
func (j *job) powers() string {
	if j.ask.Powers == nil {
		return ""
	}
	text, _ := json.Marshal(j.ask.Powers) // words and a number: it cannot fail
	return string(text)
}

// rights returns what claude may do in this turn: what the turn asks for, and otherwise what the conversation has. A
// turn with a mode of its own does not get the conversation's tools: they may be more than that mode permits. An
// agent's turn gets no more than the agent has.
func (j *job) rights() conversations.Rights {
	rights, asked := j.state.Meta.Rights, j.ask.Rights
	switch {
	case asked.PermissionMode != "":
		rights = asked
	case asked.AllowedTools != "":
		rights.AllowedTools = asked.AllowedTools
	}
	powers := j.ask.Powers
	if powers == nil {
		return rights
	}
	if rights.PermissionMode == "" || !rights.PermissionMode.Within(powers.PermissionMode) {
		rights.PermissionMode = powers.PermissionMode
	}
	if powers.PermissionMode != agent.BypassPermissions { // otherwise the rules permit what the agent has not
		rights.AllowedTools = ""
	}
	return rights
}

// settings returns Claude's settings for this turn: an agent's turn has the agent's own too. Errors: BadInput.
func (j *job) settings(hook bool) (string, error) {
	ours := turn.Settings(observe.Closed(j.Project.Store), hook)
	if j.ask.Powers == nil {
		return ours, nil
	}
	return claude.JoinSettings(ours, j.ask.Powers.Settings)
}

// toolArgs returns the argument with which claude gets rules that permit tools.
func toolArgs(rules agent.ToolRules) []string {
	if rules == "" {
		return nil
	}
	return []string{"--allowedTools=" + string(rules)}
}

// checkRights refuses to an agent other rights than those with which a conversation was begun. Errors: Held.
func checkRights(state *conversations.State, say *Say) error {
	begun := state.Session.ID != "" || len(state.Open) > 0
	if say.Powers == nil || say.Isolated || !begun || say.Rights == (conversations.Rights{}) || say.Rights == state.Meta.Rights {
		return nil
	}
	return fail.Errorf(fail.Held, "%s called this, and only a person may change what a conversation may do", say.Powers.Agent).
		Hint("begin a conversation under another key")
}

// withdrawn returns why the turn of an agent is not run: the agent was dismissed, or has fewer powers than when it
// asked. "": the turn is run.
func (j *job) withdrawn() (why string, err error) {
	powers := j.ask.Powers
	if powers == nil || powers.Handle == "" {
		return "", nil
	}
	r, err := j.Project.Store.Load(powers.Handle)
	if fail.KindOf(err) == fail.NotFound {
		return powers.Agent + ", which asked for it, is not there any more", nil
	}
	if err == nil {
		err = j.Project.Store.CheckSeal(&r)
	}
	if err != nil {
		return "", err
	}
	if !hasStill(&r.Spec, powers) {
		return powers.Agent + ", which asked for it, has other powers now", nil
	}
	return "", nil
}

func hasStill(r *agent.Spec, powers *conversations.Powers) bool {
	return powers.PermissionMode.Within(r.LaunchPermissionMode()) && slices.Equal(powers.ClaudeArgs, r.ClaudeArgs) && maps.Equal(powers.Env, r.Env) && powers.Settings == r.Settings
}

// given returns the environment that the turn's claude inherits. A person's turn gets the runner's environment. An
// agent's turn gets that of the agent's claude; if that does not run, it gets only the variables that each claude
// needs. The runner may have secrets that the agent must not get.
func (j *job) given() []string {
	powers := j.ask.Powers
	if powers == nil {
		return j.Project.Env
	}
	if r, err := j.Project.Store.Load(powers.Handle); err == nil && r.Process != nil {
		if env := j.Project.Machine.EnvironOf(r.Process.Identity); env != nil {
			return env
		}
	}
	return slices.DeleteFunc(slices.Clone(j.Project.Env), func(entry string) bool { return !isNeeded(entry) })
}

var (
	neededNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "IS_SANDBOX",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS",
	}
	neededPrefixes = []string{"LC_", "XDG_", "ANTHROPIC_", "CLAUDE_"}
)

func isNeeded(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return slices.Contains(neededNames, name) || slices.ContainsFunc(neededPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
