package tmux

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program in tmux's place says what it was started as.
func TestAttachBecomesAClient(t *testing.T) {
	t.Parallel()
	fake := t.TempDir()
	script := "#!/bin/sh\nprintf '%s ' \"$@\"\nprintf '%s' \"${TMUX-unset}\"\n"
	if err := os.WriteFile(filepath.Join(fake, "tmux"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ tmux, want string }{
		"from another server":    {"/tmp/other,1,0", "-S " + attachSocket + " attach-session -t " + attachSession + " unset"},
		"from a terminal":        {"", "-S " + attachSocket + " attach-session -t " + attachSession + " unset"},
		"from a pane of its own": {attachSocket + ",991,0", "-S " + attachSocket + " switch-client -t " + attachSession + " " + attachSocket + ",991,0"},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), attachVariable+"=1", "TMUX="+c.tmux, "PATH="+fake+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(c.want, string(out)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
}
