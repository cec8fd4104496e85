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
	says := func(keys string) string {
		return " ; run-shell -b -d 1 -C display-message -d 3000 'to go back: #{prefix}" + keys + "' "
	}
	attached := "-u -S " + attachSocket + " attach-session -t " + attachPane + says(", then d") + "unset"
	nested := "-u -S " + attachSocket + " attach-session -t " + attachPane + says(" twice, then d") + "unset"
	switched := "-u -S " + attachSocket + " switch-client -t " + attachPane + says(", then L") + attachSocket + ",991,0"
	moved := "-u -S /tmp/other detach-client -E exec env -u TMUX '" + fake + "/tmux' '-u' '-S' '" + attachSocket + "' 'attach-session' '-t' '" + attachPane + "' /tmp/other,1,0"
	for what, c := range map[string]struct{ how, tmux, want string }{
		"from another server":             {"attach", "/tmp/other,1,0", nested},
		"from a terminal":                 {"attach", "", attached},
		"from a pane of its own":          {"attach", attachSocket + ",991,0", switched},
		"from another server, to stay":    {"move", "/tmp/other,1,0", moved},
		"from a terminal, to stay":        {"move", "", attached},
		"from a pane of its own, to stay": {"move", attachSocket + ",991,0", switched},
	} {
		cmd := rig.Command(c.how)
		cmd.Env = append(cmd.Env, "TMUX="+c.tmux, "PATH="+fake+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		rig.Check(t, err == nil, "%s: %v", what, err)
		rig.Same(t, what, c.want, string(out))
	}
}
