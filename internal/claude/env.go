package claude

import (
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// ScreenReaderVariable makes claude draw for a screen reader, whatever the settings say: the prompt and the dialogs
// then look different.
const ScreenReaderVariable = "CLAUDE_AX_SCREEN_READER"

// scrubbed are the variables that Claude sets in its tools' shells. An agent that is started from such a shell must
// not inherit them: with CLAUDE_CODE_CHILD_SESSION claude writes no transcript, so that there is no conversation to
// resume. A person's variables for Claude's drawing are removed too.
var scrubbed = []string{
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "AI_AGENT",
	"CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
	"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_CHILD_NOTES_DIR",
	"CLAUDE_CODE_SKIP_PROMPT_HISTORY", // no transcript either
	ScreenReaderVariable,
}

func isScrubbed(name string) bool { return slices.Contains(scrubbed, name) }

// CheckEnv refuses variables of a record that would make the record untrue: they set the configuration or the agent's
// identity, or keep claude from writing a transcript. It also refuses variables that run code that the record does
// not show, in claude or in its tools' shells. Errors: BadInput.
func CheckEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if isScrubbed(name) || name == ConfigDirVariable || name == "HOME" || strings.HasPrefix(name, "NBS_") {
			return fail.Errorf(fail.BadInput, "variable %s cannot be set for an agent", name).
				Hint("if nbs-worker itself needs it, export it before the call")
		}
		if why := whyLoader(name); why != "" {
			return fail.Errorf(fail.BadInput, "variable %s cannot be set for an agent: %s; agents get it only from the caller's environment", name, why).
				Hint("to pass it to the agent, export it before the call")
		}
	}
	return nil
}

// Env returns the environment of claude: the caller's, without the variables that Claude set for its tools, then the
// record's own variables, then ours.
func Env(spec *agent.Spec, caller []string, ours map[string]string) []string {
	env := make(map[string]string, len(caller))
	for _, entry := range caller {
		if name, value, ok := strings.Cut(entry, "="); ok && !isScrubbed(name) {
			env[name] = value
		}
	}
	// The full-screen mode of 2.1.329 turns itself off after an early kill; what a
	// screen looks like must not depend on how the last start ended.
	if _, chosen := env["CLAUDE_CODE_NO_FLICKER"]; !chosen {
		env["CLAUDE_CODE_NO_FLICKER"] = "0"
	}
	setConfigDir(env, spec)
	maps.Copy(env, spec.Env)
	maps.Copy(env, ours)
	entries := make([]string, 0, len(env))
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return entries
}

// setConfigDir makes claude use the configuration of the spec, whatever the caller's is. A spec of the original tools
// names none.
func setConfigDir(env map[string]string, spec *agent.Spec) {
	switch {
	case spec.ConfigDir != "":
		env[ConfigDirVariable] = spec.ConfigDir
	case spec.Schema > 0:
		delete(env, ConfigDirVariable)
	}
}

// RefusesRoot reports whether claude will refuse to start: it does not bypass
// permissions as root unless IS_SANDBOX=1 is set.
func RefusesRoot(spec *agent.Spec, env []string, uid int) bool {
	bypass := spec.LaunchPermissionMode() == agent.BypassPermissions
	return uid == 0 && bypass && !slices.Contains(env, "IS_SANDBOX=1")
}

// RootRefusal is the error that claude prints in this case.
const RootRefusal = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"

// IsOfTools reports whether a process was started by a claude's tools, by its environment variables.
func IsOfTools(variable func(name string) string) bool { return variable("CLAUDECODE") != "" }
