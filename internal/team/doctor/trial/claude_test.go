package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A claude on a busy machine does everything late, but it does everything. The test uses virtual time.
func TestClaudeThatIsLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rig.Must(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o700))
	synctest.Test(t, func(t *testing.T) {
		p := probing{machine: local.New(), grace: grace, Probe: claude.Probe{Dir: dir, Session: agent.NewSessionID()}}
		p.pane.PID = os.Getpid()
		writes := func(after time.Duration, name, text string) {
			time.AfterFunc(after, func() { rig.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) })
		}
		writes(5*time.Second, fmt.Sprintf("sessions/%d.json", os.Getpid()), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":"idle"}`, os.Getpid(), p.Session))
		writes(5*time.Second, "said.hook.1", fmt.Sprintf(`{"session_id":%q,"hook_event_name":"SessionStart"}`, p.Session))
		writes(9*time.Second, "said.statusline.1", fmt.Sprintf(`{"session_id":%q}`, p.Session))
		p.watch(t.Context())
		heard := p.Heard()
		rig.Check(t, p.seen.Registered && heard.Started && heard.StatusLine, "%+v, heard %+v", p.seen, heard)
	})
}
