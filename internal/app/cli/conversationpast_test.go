package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// One session that cannot be taken over ends with its own code, several with what they have in common, and 7 is only
// where another one was taken over.
func TestExitCodeOfAnImport(t *testing.T) {
	t.Parallel()
	project, folder, other := newProject(t), t.TempDir(), string(agent.NewSessionID())
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	importing := func(args ...string) ran {
		return run(append([]string{"--root", project, "conversation", "import"}, args...)...)
	}
	file := write("1", string(uitest.SessionID))
	rig.Equal(t, importing(file, "--key", "telegram:1").want(t, 0).out, "telegram:1 continues in "+string(uitest.SessionID)+", which has no transcript here\n", "import")
	write("1", other)
	r := importing(file, "--key", "telegram:1").want(t, fail.Conflict, "conversation import "+file+": the conversation \"telegram:1\" already has another session")
	rig.Check(t, r.out == "" && strings.Count(r.err, "has another session") == 1, "%+v", r)
	importing(folder).want(t, fail.Conflict, "has another session")
	r = importing(folder, "--json").want(t, fail.Conflict, `"exit_code":5`)
	rig.Equal(t, r.out, "[]\n", "import")
	write("2", "no id")
	importing(folder).want(t, fail.Failed, "has another session", "is not a UUID")
	write("3", other)
	r = importing(folder).want(t, fail.Partial, "has another session", "is not a UUID")
	rig.Check(t, strings.HasPrefix(r.out, "telegram:3 continues in "+other), "%+v", r)
}
