package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Claude trusts all that is in a folder with it, so --trust is for one that was named.

func TestSecurityTrustNamesItsFolder(t *testing.T) {
	m := standIn(t)
	outside := m.OtherProject()
	m.OK("spawn", "alpha", "--trust")
	m.OK("spawn", "beta", "--cwd", outside, "--trust="+outside)
	text, err := os.ReadFile(filepath.Join(m.World.ConfigDir, ".claude.json"))
	m.Check(err == nil && strings.Contains(string(text), outside), "%v: %s", err, text)
}
