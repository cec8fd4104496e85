package life

import (
	"os"
	"testing"
)

// A folder that is gone from where it was is named, and so is the way out.
func TestFolderThatWentElsewhere(t *testing.T) {
	m := standIn(t)
	outside := m.Folder("outside")
	m.OK("spawn", "alpha", "--model", "sonnet", "--cwd", outside, "--trust="+outside, "--prompt", "Remember 42.")
	m.MustAnswer("alpha", "OK, I will remember 42.")
	m.OK("stop", "alpha")
	before := m.Session("alpha")
	elsewhere := m.World.Root + "/elsewhere"
	m.Must(os.Rename(outside, elsewhere))
	m.Refused(2, "nbs-worker resume alpha --cwd DIR", "resume", "alpha")
	m.MustRemember("alpha", before, "--cwd", elsewhere, "--trust="+elsewhere)
	m.OK("dismiss", "alpha")
	m.Must(os.Rename(elsewhere, outside))
	m.Refused(2, "--session-id "+before.SessionID+" --cwd DIR", "spawn", "beta", "--session-id", before.SessionID)
	m.OK("spawn", "beta", "--session-id", before.SessionID, "--cwd", outside, "--trust="+outside, "--prompt", "What number?")
	m.MustAnswer("beta", "42")
}
