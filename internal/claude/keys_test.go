package claude

import (
	"fmt"
	"os"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestReboundKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"bindings":[{"context":"Chat","bindings":{"enter":"chat:newline"}}]}`:                                                       "[{enter chat:newline}]",
		`{"bindings":[{"context":"Chat","bindings":{"Return":"chat:newline","esc":null}}]}`:                                           "[{enter chat:newline} {escape nothing}]",
		`{"bindings":[{"context":"Chat","bindings":{"enter":"chat:newline"}},{"context":"Chat","bindings":{"enter":"chat:submit"}}]}`: "[]",
		`{"bindings":[{"context":"Confirmation","bindings":{"enter":null}},{"context":"Chat","bindings":{"ctrl+j":"chat:submit"}}]}`:  "[]",
		`{"bindings":`: "[]",
	} {
		config, err := ConfigAt(t.TempDir())
		rig.Must(t, err)
		rig.Must(t, os.WriteFile(config.KeybindingsFile(), []byte(text), 0o600))
		rig.Equal(t, fmt.Sprint(config.Rebound(KeySubmit, KeyInterrupt)), want, "%s", text)
	}
}
