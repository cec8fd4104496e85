package live

import "nbs-worker/internal/agent"

// EndedAtPrompt reports whether a SessionEnd reason says that a person left claude: by /exit,
// or with C-c or C-d pressed twice.
func EndedAtPrompt(reason string) bool { return reason == "prompt_input_exit" || reason == "logout" }

// EndReason returns the reason that claude gave for its end, in the form of an exit. A switch to another conversation
// inside claude does not end the process, and returns "".
func EndReason(end *agent.End) string {
	if end == nil || end.Reason == "clear" || end.Reason == "resume" || !agent.IsEndReason(end.Reason) {
		return ""
	}
	return end.Reason
}
