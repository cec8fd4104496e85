package contract

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// pane is a running subject in a tmux session on a private socket. A shell leads it and writes down the exit code,
// because tmux 3.3a loses exit statuses.
type pane struct {
	t     *testing.T
	s     *stage
	name  string
	codes string
}

var leader = `"$@"; echo $? >"$0.tmp"; mv "$0.tmp" "$0"; read forever`

// start runs the subject in a new tmux session, in the world's project.
func (s *stage) start(t *testing.T, args ...string) *pane {
	t.Helper()
	return s.startIn(t, s.world.Project, args...)
}

func (s *stage) startIn(t *testing.T, dir string, args ...string) *pane {
	t.Helper()
	name := fmt.Sprintf("p%d", time.Now().UnixNano())
	p := &pane{t: t, s: s, name: name, codes: filepath.Join(s.world.Root, name+".code")}
	command := []string{"new-session", "-d", "-s", name, "-x", "120", "-y", "40", "-c", dir}
	for _, e := range s.paneEnv {
		command = append(command, "-e", e)
	}
	command = append(command, "--", "sh", "-c", leader, p.codes, s.path)
	p.tmux(append(command, args...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", p.screen())
		}
		_ = p.command("kill-server").Run()
	})
	return p
}

func (p *pane) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-L", "contract", "-f", "/dev/null"}, args...)...)
	cmd.Env = p.s.env
	return cmd
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (p *pane) screen() string {
	out, err := p.command("capture-pane", "-p", "-t", p.name).CombinedOutput()
	return fmt.Sprintf("%s%v", out, map[bool]any{true: err, false: ""}[err != nil])
}

// shows waits until every text is on the screen.
func (p *pane) shows(texts ...string) {
	p.t.Helper()
	rig.WaitFor(p.t, fmt.Sprintf("screen shows %q", texts), func() (bool, string) {
		screen := p.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false, screen
			}
		}
		return true, screen
	})
}

// key presses keys by their tmux names.
func (p *pane) key(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "-t", p.name}, names...)...)
}

// says types a line and Enter. The program must be idle: what is typed earlier loses its Enter.
func (p *pane) says(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", "-t", p.name, text)
	p.key("Enter")
}

// takes presses a key until the check holds: a dialog ignores what comes within a moment of its appearance.
func (p *pane) takes(key, what string, check func() bool) {
	p.t.Helper()
	var pressed time.Time
	rig.WaitFor(p.t, what, func() (bool, string) {
		if check() {
			return true, ""
		}
		if time.Since(pressed) > time.Second {
			p.key(key)
			pressed = time.Now()
		}
		return false, ""
	})
}

func (p *pane) exited() bool {
	_, err := os.Stat(p.codes)
	return err == nil
}

// exits waits for the end and returns the exit code.
func (p *pane) exits() int {
	p.t.Helper()
	var text []byte
	rig.WaitFor(p.t, "the program ends", func() (bool, string) {
		var err error
		text, err = os.ReadFile(p.codes)
		return err == nil, fmt.Sprint(err)
	})
	code, err := strconv.Atoi(strings.TrimSpace(string(text)))
	rig.Must(p.t, err)
	return code
}

// pid is the subject's: the only child of the pane's leader.
func (p *pane) pid() int {
	p.t.Helper()
	lead := strings.TrimSpace(p.tmux("display-message", "-p", "-t", p.name, "#{pane_pid}"))
	var pid int
	rig.WaitFor(p.t, "the program runs", func() (bool, string) {
		children, err := os.ReadFile("/proc/" + lead + "/task/" + lead + "/children")
		pid, _ = strconv.Atoi(strings.TrimSpace(string(children)))
		return pid != 0, fmt.Sprint(err)
	})
	return pid
}

func (p *pane) signal(name string) {
	p.t.Helper()
	s := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[name]
	rig.Must(p.t, syscall.Kill(p.pid(), s))
}
