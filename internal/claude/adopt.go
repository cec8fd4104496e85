package claude

import (
	"path/filepath"

	"nbs-worker/internal/agent"
)

// What can be known of a claude that somebody started by hand.

// IsClaude tells whether a command line is one of Claude Code, by the program's name: of a
// session that has not entered itself into the registry nothing else can be known.
func IsClaude(cmdline []string) bool {
	return len(cmdline) > 0 && filepath.Base(cmdline[0]) == "claude"
}

// Amnesia returns the variable of an environment that keeps claude from writing a
// transcript, or "".
func Amnesia(variable func(name string) (string, bool)) string {
	for _, name := range []string{"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SKIP_PROMPT_HISTORY"} {
		if value, set := variable(name); set && value != "" {
			return name
		}
	}
	return ""
}

// LastWords are the model of the last reply and the last permission mode of a conversation,
// as the transcript has them; "" for what it does not tell. The model is the one of the API:
// under which name the user chose it, it does not say.
func (c Config) LastWords(id agent.SessionID) (model, mode string) {
	transcript, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", ""
	}
	_ = transcript.backward(func(record transcriptRecord) bool {
		if model == "" && record.replied() {
			model = record.Message.Model
		}
		if mode == "" && record.Type == "permission-mode" {
			mode = record.Mode
		}
		return model == "" || mode == ""
	})
	return model, mode
}
