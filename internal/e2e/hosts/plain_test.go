package hosts

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// ssh runs a line of shell at a host, in its project, as a person does by hand.
func (f *fleet) ssh(name, line string) e2e.Result {
	f.Helper()
	cmd := exec.Command(filepath.Join(f.bin, "ssh"), "-o", "BatchMode=yes", name, "cd "+f.hosts[name].Dir+" && "+line)
	cmd.Env = f.Env
	return f.Finish(cmd)
}

// By plain ssh a person reaches the team of a host. What was started goes on after the logout, and is no other host's.
func TestByPlainSSH(t *testing.T) {
	f := standIn(t, "build1", "build2")
	for name, handle := range map[string]string{"build1": "alice", "build2": "bob"} {
		r := f.ssh(name, "nbs-worker spawn "+handle)
		f.Check(r.Code == 0, "spawn at %s: %s", name, r)
		f.hosts[name].WaitState(handle, "idle")
	}
	r := f.ssh("build1", "nbs-worker list")
	f.Check(r.Code == 0 && strings.Contains(r.Stdout, "alice") && !strings.Contains(r.Stdout, "bob"), "list at build1: %s", r)
	f.Refused(2, "no .nbs folder", "list")
	r = f.ssh("build2", "nbs-worker send bob 'Hello there.' --wait-reply --timeout "+e2e.Patience())
	f.Check(r.Code == 0 && strings.Contains(r.Stdout, "You said: Hello there."), "send at build2: %s", r)
}
