package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What Claude may not do is told. What the first turn permits, it may do in the later ones too.
func TestPermissionsOfAConversation(t *testing.T) {
	m := eachVersion(t)
	refused := m.NBS("ask", "review", `[[tool Bash {"command":"mkdir REFUSED"}]]`)
	m.Check(refused.Code == 0 && strings.Contains(refused.Stderr, "note: Claude was not permitted to use Bash.") && strings.Contains(refused.Stderr, "nbs-worker help permissions"), "%s", refused)
	m.Ask(0, "notes", "Hello.", "--permission-mode", "default", "--allowed-tools", "Bash(mkdir *)", "--allowed-tools", "Read")
	got := m.Ask(0, "notes", `[[tool Bash {"command":"mkdir PERMITTED"}]]`)
	_, err := os.Stat(filepath.Join(m.Dir, "PERMITTED"))
	m.Check(err == nil && len(got.Denials) == 0 && got.Notice == "", "%v, %+v", err, got)
	got = m.Ask(0, "notes", `[[tool Bash {"command":"mkdir OTHER"}]]`, "--permission-mode", "dontAsk")
	m.Check(len(got.Denials) == 1 && got.Denials[0].Tool == "Bash" && got.Denials[0].Input == "mkdir OTHER", "%+v", got)
	m.MustSay(m.OK("conversation", "show", "notes"), "permissions    default; allowed tools Bash(mkdir *), Read")
}
