package contract

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// help names each option that is relied on, at no other cost than to print.
func help(t *testing.T, s *stage) {
	out, _, code := s.run(t, "--help")
	for _, option := range []string{"--session-id", "--resume", "--model", "--permission-mode", "--settings"} {
		rig.Check(t, strings.Contains(out, option+" ") || strings.Contains(out, option+"\n"), "--help does not name %s: code %d, %q", option, code, out)
	}
	if code != 0 || len(s.api.Requests()) > 0 {
		t.Errorf("--help: code %d, %d requests", code, len(s.api.Requests()))
	}
}
