package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What is there: every process and tmux session of one team's world.

// WorldProcess is a process that was started, through however many others, by a command of the team. All of them carry
// the folder of the team's tmux socket in their environment.
type WorldProcess struct {
	PID        int
	Name       string // the kernel's
	Args       []string
	Invocation string // "" for a command, a tmux client, the tmux server
	Handle     string
}

func (p WorldProcess) String() string {
	return fmt.Sprintf("%d %s %q of %s, invocation %s", p.PID, p.Name, p.Args, p.Handle, p.Invocation)
}

// IsLauncher reports whether the process leads a pane; an agent's handle on its command line stands for it.
func (p WorldProcess) IsLauncher(worker, handle string) bool {
	return slices.Equal(p.Args, []string{worker, "run", handle})
}

// IsClaude reports whether it is a claude on some conversation.
func (p WorldProcess) IsClaude() bool {
	return len(p.Args) > 1 && (p.Args[1] == "--session-id" || p.Args[1] == "--resume")
}

// IsTransient reports whether it is one that ends by itself in a moment: a command, or a tmux client of one.
func (p WorldProcess) IsTransient(worker string) bool {
	return strings.HasPrefix(p.Name, "tmux: client") || len(p.Args) > 0 && filepath.Base(p.Args[0]) == "tmux" && p.Name != "tmux: server" ||
		len(p.Args) > 1 && p.Args[0] == worker && p.Args[1] != "run"
}

func (m *Team) Processes() []WorldProcess {
	mark := []byte("TMUX_TMPDIR=" + m.World.TmuxDir + "\x00")
	var found []WorldProcess
	for _, pid := range AllPIDs() {
		environ, _ := os.ReadFile(ProcFile(pid, "environ"))
		if !bytes.Contains(environ, mark) || pid == os.Getpid() {
			continue
		}
		name, _ := os.ReadFile(ProcFile(pid, "comm"))
		cmdline, _ := os.ReadFile(ProcFile(pid, "cmdline"))
		if Dead(pid) {
			continue
		}
		found = append(found, WorldProcess{
			PID: pid, Name: strings.TrimSpace(string(name)), Args: strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00"),
			Invocation: ValueIn(environ, "NBS_INVOCATION_ID"), Handle: ValueIn(environ, "NBS_HANDLE"),
		})
	}
	return found
}
