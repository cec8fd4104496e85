package tmux

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A program in tmux's place says what it was started as.
func TestAttachBecomesAClient(t *testing.T) {
	t.Parallel()
	fake := t.TempDir()
	script := "#!/bin/sh\nprintf '%s ' \"$@\"\nprintf '%s' \"${TMUX-unset}\"\n"
	rig.Must(t, os.WriteFile(filepath.Join(fake, "tmux"), []byte(script), 0o700))
	for what, c := range map[string]struct{ tmux, want string }{
		"from another server":    {"/tmp/other,1,0", "-u -S " + attachSocket + " attach-session -t " + attachPane + " unset"},
		"from a terminal":        {"", "-u -S " + attachSocket + " attach-session -t " + attachPane + " unset"},
		"from a pane of its own": {attachSocket + ",991,0", "-u -S " + attachSocket + " switch-client -t " + attachPane + " " + attachSocket + ",991,0"},
	} {
		cmd := rig.Command("attach")
		cmd.Env = append(cmd.Env, "TMUX="+c.tmux, "PATH="+fake+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		rig.Check(t, err == nil, "%s: %v", what, err)
		rig.Same(t, what, c.want, string(out))
	}
}
