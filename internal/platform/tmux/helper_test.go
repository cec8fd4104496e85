package tmux

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

const (
	canaryVariable = "ANTHROPIC_API_KEY"
	canary         = "canary-of-the-caller"
	attachSocket   = "/tmp/s"
	attachPane     = "%3"
)

// The tests run as from a pane of another tmux, with a secret in the environment and
// without anybody's tmux.conf.
func TestMain(m *testing.M) {
	if role := rig.Role(); role != nil {
		playAttach(role[0])
	}
	os.Exit(inPrivate(m))
}

func inPrivate(m *testing.M) int {
	home, err := os.MkdirTemp("", "nbs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "TMUX_TMPDIR": home, canaryVariable: canary,
		"TMUX": filepath.Join(home, "elsewhere") + ",1,0", "TMUX_PANE": "%0",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return rig.Tight(m)
}

func playAttach(how string) {
	c, err := New(attachSocket)
	if err == nil && how == "move" {
		err = c.MoveTo(attachSocket, attachPane)
	}
	if err == nil {
		err = c.Attach(attachSocket, attachPane)
	}
	panic(err)
}

// server is a tmux server of the test's own. It starts with its first session.
type server struct {
	*Client
	t      *testing.T
	dir    string // short: the path of a socket is bounded
	socket string
}

// newServer is for a test that runs beside others.
func newServer(t *testing.T) *server {
	t.Helper()
	t.Parallel()
	dir := rig.ShortDir(t)
	s := &server{t: t, dir: dir, socket: filepath.Join(dir, "s")}
	client, err := New(s.socket)
	rig.Must(t, err)
	s.Client = client
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

// raw runs tmux as a person would.
func (s *server) raw(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// shell is the command of a pane that runs a script with arguments.
func shell(script string, args ...string) []string {
	return append([]string{"sh", "-c", script, "sh"}, args...)
}

// stay ends when its terminal is closed.
const stay = "exec cat"

// open starts a session and returns its pane.
func (s *server) open(spec Spec) Pane {
	s.t.Helper()
	if spec.Dir == "" {
		spec.Dir = s.dir
	}
	if spec.Invocation == "" {
		spec.Invocation = agent.NewInvocation()
	}
	rig.Must(s.t, s.NewSession(s.t.Context(), spec))
	pane, there := s.find(spec.Invocation)
	if !there {
		s.t.Fatalf("no pane has the invocation %s", spec.Invocation)
	}
	return pane
}

func (s *server) panes() []Pane {
	s.t.Helper()
	panes, err := s.Panes(s.t.Context())
	rig.Must(s.t, err)
	return panes
}

func (s *server) find(id agent.Invocation) (Pane, bool) {
	s.t.Helper()
	panes := s.panes()
	i := slices.IndexFunc(panes, func(p Pane) bool { return p.Invocation == id })
	if i < 0 {
		return Pane{}, false
	}
	return panes[i], true
}

// written waits for a file to be complete, and returns it.
func (s *server) written(name string) string {
	s.t.Helper()
	var text []byte
	rig.Eventually(s.t, name+" is written", func() bool {
		var err error
		text, err = os.ReadFile(filepath.Join(s.dir, name))
		return err == nil
	})
	return string(text)
}

// wholly makes a script write its output to a file in one step.
func (s *server) wholly(script, name string) string {
	at := filepath.Join(s.dir, name)
	return fmt.Sprintf("{ %s; } > %s.part && mv %s.part %s; %s", script, at, at, at, stay)
}

func environ(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	rig.Must(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

func signal(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	rig.Must(t, syscall.Kill(pid, signal))
}
