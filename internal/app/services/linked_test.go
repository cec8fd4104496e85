package services

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What costs every process that links it, time at its start and memory, is not in nbs-worker, of which each
// agent has a launcher and each event a hook.
func TestCommandLineLinksNoServices(t *testing.T) {
	t.Parallel()
	for program, links := range map[string]bool{"nbs-worker": false, "nbs-worker-services": true} {
		cmd := exec.Command("go", "list", "-deps", "./cmd/"+program)
		cmd.Dir = rig.Root(t)
		out, err := cmd.Output()
		rig.Must(t, err)
		packages := strings.Fields(string(out))
		for _, heavy := range []string{"net/http", "crypto/tls", "github.com/go-telegram/bot", "nbs-worker/internal/app/services"} {
			rig.Equal(t, slices.Contains(packages, heavy), links, "%s links %s", program, heavy)
		}
		rig.Check(t, links || !slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(p, "modernc.org/") }), "%s links SQLite", program)
	}
}
