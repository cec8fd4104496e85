package claude

import (
	"slices"
	"strings"
)

// ScratchEnv returns the environment of a claude that is started only to be examined. It is the caller's, without the
// variables through which claude could reach an account or the network. The configuration and all files that claude
// may leave behind are in a temporary folder.
func ScratchEnv(caller []string, dir string) []string {
	var env []string
	for _, entry := range caller {
		name, _, _ := strings.Cut(entry, "=")
		if !isScrubbed(name) && !choosesProvider(name) && !slices.Contains(scratchNames, name) {
			env = append(env, entry)
		}
	}
	for name, value := range ScratchVariables(dir) {
		env = append(env, name+"="+value)
	}
	return env
}

// ScratchVariables confine a claude to a temporary folder, and to this machine.
func ScratchVariables(dir string) map[string]string {
	const nobody = "http://127.0.0.1:9" // the discard port: nothing listens, and nothing leaves the machine
	return map[string]string{
		ConfigDirVariable: dir, "TMPDIR": dir, "XDG_RUNTIME_DIR": dir, "TERM": "xterm-256color", "IS_SANDBOX": "1",
		"ANTHROPIC_BASE_URL": nobody, "HTTP_PROXY": nobody, "HTTPS_PROXY": nobody, "ANTHROPIC_API_KEY": scratchKey,
		"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_INSTALLATION_CHECKS": "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
		"CLAUDE_CODE_NO_FLICKER": "0",
	}
}

// scratchNames are the variables that ScratchEnv sets itself, or must not pass on.
var scratchNames = []string{
	ConfigDirVariable, "CLAUDE_CODE_NO_FLICKER",
	"TMPDIR", "XDG_RUNTIME_DIR", "TERM", "IS_SANDBOX", "TMUX", "TMUX_PANE", "NBS_HANDLE", "NBS_ROOT", "NBS_INVOCATION_ID", "NBS_LAUNCH",
}

// scratchKey is not a real key; Claude remembers an approved key by its last 20 characters.
const scratchKey = "sk-ant-no-key-of-anybody-00000000000000000000"
