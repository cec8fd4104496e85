package turn

import (
	"slices"
	"testing"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"

	"nbs-worker/internal/sim/rig"
)

// What a turn's claude has beside what nbs-worker gives each of them is read off its command line.
func TestExtraUndoesArgs(t *testing.T) {
	t.Parallel()
	closed := claude.Closed{Edits: []string{"/p/.nbs"}, All: []string{"/state"}}
	known := []string{Settings(closed, false), Settings(closed, true)}
	user := []string{"--disallowedTools", "Bash", "--add-dir", "/x"}
	for what, spec := range map[string]Spec{
		"a new one":    {SessionID: "a", Opening: cmdline.OpenNew, Settings: known[0], Extra: user},
		"a resumed":    {SessionID: "a", Opening: cmdline.OpenResume, Model: "opus", SystemPromptFile: "/s", Settings: known[1], Partial: true, Extra: user},
		"a copy":       {SessionID: "a", Fork: "b", Settings: known[0], Extra: user},
		"with nothing": {SessionID: "a", Opening: cmdline.OpenNew, Settings: known[0]},
	} {
		extra, ok := Extra(Args(spec), known)
		rig.Check(t, ok && slices.Equal(extra, spec.Extra), "%s: %q, %t", what, extra, ok)
	}
	extra, ok := Extra(Args(Spec{SessionID: "a", Opening: cmdline.OpenNew, PermissionMode: "plan", Settings: known[0], Extra: user}), known)
	rig.Check(t, ok && slices.Equal(extra, append([]string{"--permission-mode", "plan"}, user...)), "the mode is a power: %q", extra)
	for what, args := range map[string][]string{
		"other settings": Args(Spec{SessionID: "a", Opening: cmdline.OpenNew, Settings: `{}`}),
		"no settings":    Args(Spec{SessionID: "a", Opening: cmdline.OpenNew}),
		"another shape":  {"-p", "--settings", known[0], "hello"},
	} {
		_, ok := Extra(args, known)
		rig.Check(t, !ok, "%s counts as a turn of ours", what)
	}
}
