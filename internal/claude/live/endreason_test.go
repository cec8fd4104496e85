package live

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
)

func TestEndReasons(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"prompt_input_exit": "prompt_input_exit", "other": "other", "": "",
		"clear": "", "resume": "", "\x1b[2J": "", strings.Repeat("a", 65): "",
	} {
		if got := EndReason(&agent.End{Reason: said}); got != want {
			t.Errorf("%q: %q; want %q", said, got, want)
		}
	}
	if EndReason(nil) != "" {
		t.Error("nothing was said")
	}
}
