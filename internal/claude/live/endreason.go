package live

import "nbs-worker/internal/agent"

// EndedAtPrompt reports whether a SessionEnd reason says that a person left claude: by /exit,
// or with C-c or C-d pressed twice.
func EndedAtPrompt(reason string) bool { return reason == "prompt_input_exit" || reason == "logout" }

// EndReason returns the reason that claude gave for its end, as an exit keeps it. Leaving a
// conversation for another one inside claude is no end of the process, and gives "".
func EndReason(end *agent.End) string {
	if end == nil || end.Reason == "clear" || end.Reason == "resume" || !agent.IsEndReason(end.Reason) {
		return ""
	}
	return end.Reason
}
