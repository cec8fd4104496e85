package live

import "nbs-worker/internal/agent"

// EndedAtPrompt tells whether a SessionEnd reason says that a person left claude: by /exit,
// or with C-c or C-d pressed twice.
func EndedAtPrompt(reason string) bool { return reason == "prompt_input_exit" || reason == "logout" }

// EndReason is why claude said it would leave, as it is kept with an exit. A conversation
// that was left for another one, inside claude, is no end of the process.
func EndReason(end *agent.End) string {
	if end == nil || end.Reason == "clear" || end.Reason == "resume" || !agent.IsEndReason(end.Reason) {
		return ""
	}
	return end.Reason
}
