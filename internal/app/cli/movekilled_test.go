package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
)

// Each step that a move takes at another machine is killed before each system call by which a file comes or goes. The
// agent can be started at one machine at most, and the command that moves it completes the move.
func TestStepsKilledAtTheOtherMachine(t *testing.T) {
	self, err := os.Executable()
	rig.Must(t, err)
	dir := withProjects(t, nil)
	for step, least := range map[string]int{"take": 2, "leave": 3, "arrive": 4} {
		points := rig.EachKill(t, []string{"renameat,renameat2,unlinkat"}, func() (*exec.Cmd, func(bool)) {
			far, own := newProject(t), newProject(t, uitest.Record("alpha"))
			hosts := "version: 1\nhosts:\n  build1:\n    destination: build1\n    folder: " + far + "\n"
			rig.Must(t, os.WriteFile(dir+"/config/nbs-worker/hosts.yaml", []byte(hosts), 0o600))
			t.Chdir(own)
			run("send", "alpha", "--queue", "Go on.").want(t, 0)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), isFar+"=yes")
			if step == "take" {
				id, text := given(t, "alpha", far)
				cmd.Args = append(cmd.Args, "--root", far, "host", "take", "--id", id)
				cmd.Stdin = strings.NewReader(text)
			} else {
				id, digest := packed(t, "alpha", far)
				leave := []string{"--root", own, "host", "leave", "alpha", "--id", id, "--digest", digest}
				cmd.Args = append(cmd.Args, leave...)
				if step == "arrive" {
					run(leave...).want(t, 0)
					cmd.Args = []string{self, "--root", far, "host", "arrive", "alpha", "--id", id, "--digest", digest, "--from", "laptop", "--no-start"}
				}
			}
			return cmd, func(bool) {
				here := run("session", "alpha")
				rig.Check(t, here.code != 0 || strings.Contains(here.out, "being moved"), "it can be started here: %+v", here)
				if run("--root", far, "session", "alpha").code == 0 {
					rig.Check(t, step == "arrive" && here.code != 0, "it is at both machines")
				}
				run("move", "alpha", "--to", "build1", "--no-start").want(t, 0)
				rig.Check(t, run("session", "alpha").code != 0, "it is still here")
				run("--root", far, "session", "alpha").want(t, 0)
				waits := run("--root", far, "outbox", "list", "alpha").want(t, 0).out
				rig.Equal(t, strings.Count(waits, "Go on."), 1, "messages that wait: %s", waits)
				wantNoPackage(t, ofProject(t, far))
			}
		})
		rig.Check(t, points >= least, "%s can be killed at %d points only", step, points)
	}
}
