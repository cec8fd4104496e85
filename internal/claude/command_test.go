package claude

import (
	"testing"

	"nbs-worker/internal/fail"
)

// Commands of the project are for a conversation. Those that change or leave it are not.
func TestCommandsForAConversation(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{
		"/daily": true, "/daily now\nand then": true, "/team:review 7": true, "/security-review": true, "/mcp__home__light on": true,
		"/clear": false, "/new": false, "/compact": false, "/exit": false, "/model opus": false, "/login": false, "/permissions": false, "/loop 5m /daily": false,
		"daily": false, "/": false, "//daily": false, "!ls": false, " /daily": false, "/daily/now": false, "": false,
	} {
		err := CheckCommand(text)
		if fine != (err == nil) || err != nil && (fail.KindOf(err) != fail.BadInput || len(fail.HintsOf(err)) == 0) {
			t.Errorf("%q: %v, hints %q", text, err, fail.HintsOf(err))
		}
	}
}
