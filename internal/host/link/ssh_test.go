package link

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
)

// The shell of a host gives the program the very words, and looks in ~/.local/bin first.
func TestTheWordsArriveUnchanged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	rig.Must(t, os.MkdirAll(filepath.Join(home, ".local/bin"), 0o700))
	rig.WriteProgram(t, filepath.Join(home, ".local/bin/nbs-worker"), "#!/bin/sh\nprintf '<%s>' \"$@\"\n")
	words := []string{"", "two words", "it's", `back\slash "$HOME" $(id) ;& *`, "-x", "two\nlines", "ä\x1b"}
	args := Command(host.Host{Name: "b", Destination: "u@b"}, words...)
	rig.Same(t, "the destination", "u@b", args[len(args)-2])
	far := exec.Command("bash", "-c", args[len(args)-1])
	far.Env, far.Dir = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, home
	out, err := far.Output()
	rig.Must(t, err)
	rig.Same(t, "the words there", "<"+strings.Join(words, "><")+">", string(out))
}

func TestOptionsOfTheConnection(t *testing.T) {
	t.Parallel()
	h := host.Host{Name: "b", Destination: "b", Program: "/opt/my nbs"}
	quiet, shown := Command(h, "list"), terminalCommand(h, "/log", "attach", "alice")
	for _, option := range []string{"ControlMaster=no", "ControlPath=none", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "BatchMode=yes"} {
		rig.Check(t, slices.Contains(quiet, option) && slices.Contains(shown, option), "%s is missing: %q, %q", option, quiet, shown)
	}
	rig.Same(t, "the end", []string{"--", "b", `env PATH="$HOME/.local/bin:$PATH" '/opt/my nbs' 'list'`}, quiet[len(quiet)-3:])
	rig.Same(t, "the end on a terminal", `env PATH="$HOME/.local/bin:$PATH" 'NBS_AS_HOST=b' '/opt/my nbs' 'attach' 'alice'`, shown[len(shown)-1])
	rig.Same(t, "another program", `env PATH="$HOME/.local/bin:$PATH" 'uname' '-sm'`, Plain(h, "uname", "-sm")[len(quiet)-1])
}
