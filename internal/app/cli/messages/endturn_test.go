package messages

import (
	"errors"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/message"
)

// Claude has forgotten the prompt, and it is deleted from the box: what fails afterwards must not lose it.
func TestPromptThatWasGivenBackIsPrintedBesideAnError(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Read PLAN.md. ", 100)
	for prompt, want := range map[string]string{
		"Read PLAN.md.": `alpha: interrupted; this prompt had no answer yet: "Read PLAN.md."`,
		long:            `alpha: interrupted; this prompt had no answer yet: "` + long + `"`,
		"":              "",
	} {
		var out strings.Builder
		f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true}}
		err := f.Each(t.Context(), "interrupt", []agent.Handle{"alpha"}, false, 1, func(handle agent.Handle) (ui.Outcome, error) {
			return interrupted(message.Interruption{Handle: handle, Outcome: message.Interrupted, Prompt: prompt}, errors.New("no journal"))
		})
		rig.Check(t, err != nil && strings.TrimSpace(out.String()) == want, "%v, stdout %q; want %q", err, out.String(), want)
	}
}
