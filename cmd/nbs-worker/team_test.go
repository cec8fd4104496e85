package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// versions are the pinned Claude Codes: the one that is built for, and the oldest.
var versions = []string{"2.1.329", "2.1.197"}

// eachVersion runs a test against each pinned Claude Code.
func eachVersion(t *testing.T, test func(t *testing.T, m *team)) {
	t.Helper()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, newTeam(t, rig.ClaudeBinary(t, version)))
		})
	}
}

// real is a team on the current Claude Code.
func real(t *testing.T) *team {
	t.Helper()
	t.Parallel()
	return newTeam(t, rig.ClaudeBinary(t, versions[0]))
}

// standIn is a team on the stand-in, which misbehaves as the words say.
func standIn(t *testing.T, misbehaviour ...string) *team {
	t.Helper()
	t.Parallel()
	m := newTeam(t, rig.StandIn(t))
	m.env = append(m.env, "NBS_SIM_CLAUDE="+strings.Join(misbehaviour, ","))
	return m
}

// team is one project with its own Claude configuration, tmux server and API.
type team struct {
	*testing.T
	world  *rig.World
	api    *api.Server
	worker string
	env    []string
	dir    string // where commands are run
}

func newTeam(t *testing.T, claude string) *team {
	t.Helper()
	server, err := api.Start(api.Options{})
	if err != nil {
		t.Fatal(err)
	}
	world := rig.NewWorld(t, server.URL())
	m := &team{T: t, world: world, api: server, worker: rig.Worker(t), dir: world.Project}
	m.env = world.Env("NBS_CLAUDE="+claude, "PATH="+filepath.Dir(m.worker)+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		m.killServer()
		_ = server.Close()
	})
	return m
}

// result is what a user sees of one command.
type result struct {
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("exit code %d\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
}

// command prepares a run of nbs-worker; extra changes the environment.
func (m *team) command(args []string, extra ...string) *exec.Cmd {
	cmd := exec.Command(m.worker, args...)
	cmd.Dir = m.dir
	cmd.Env = slices.Concat(m.env, extra)
	return cmd
}

func (m *team) nbs(args ...string) result {
	m.Helper()
	return m.finish(m.command(args))
}

// nbsWith runs nbs-worker with more variables.
func (m *team) nbsWith(env []string, args ...string) result {
	m.Helper()
	return m.finish(m.command(args, env...))
}

func (m *team) finish(cmd *exec.Cmd) result {
	m.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		m.Fatalf("%s: %v", cmd, err)
	}
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// ok runs a command that must succeed and returns its stdout.
func (m *team) ok(args ...string) string {
	m.Helper()
	r := m.nbs(args...)
	if r.code != 0 {
		m.Fatalf("nbs-worker %q: %s", args, r)
	}
	return r.stdout
}

// refused runs a command that must end with the code and say the words on stderr.
func (m *team) refused(code int, words string, args ...string) result {
	m.Helper()
	r := m.nbs(args...)
	m.mustRefuse(r, code, words)
	return r
}

func (m *team) mustRefuse(r result, code int, words string) {
	m.Helper()
	if r.code != code || !strings.Contains(r.stderr, words) {
		m.Fatalf("want exit code %d and %q on stderr, got %s", code, words, r)
	}
}

// session is what session --json tells, as far as tests ask.
type session struct {
	SessionID      string `json:"session_id"`
	State          string
	Cause          string
	Detail         string
	Running        bool
	Desired        string
	Model          string
	PermissionMode string `json:"permission_mode"`
	RecordedPID    int    `json:"recorded_pid"`
	SameProcess    bool   `json:"same_process"`
	TmuxSession    string `json:"tmux_session"`
	TmuxAlive      bool   `json:"tmux_alive"`
	UptimeS        *int   `json:"uptime_s"`
	Context        *struct {
		UsedPercent int `json:"used_percent"`
		Tokens      int
		Source      string
	}
	Transcript *struct {
		Path  string
		Bytes int
	}
	PreviousSessions []struct {
		SessionID string `json:"session_id"`
		Reason    string
	} `json:"previous_sessions"`
	LastExit *struct {
		Code       int
		Signal     string
		Error      string
		LastScreen string `json:"last_screen"`
	} `json:"last_exit"`
	Drift []struct{ Field, Recorded, Live string }
}

func (m *team) session(handle string) session {
	m.Helper()
	var s session
	if err := json.Unmarshal([]byte(m.ok("session", handle, "--json")), &s); err != nil {
		m.Fatal(err)
	}
	return s
}

// record reads the record as the file has it.
func (m *team) record(handle string) map[string]any {
	m.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(m.recordText(handle)), &fields); err != nil {
		m.Fatal(err)
	}
	return fields
}

func (m *team) recordText(handle string) string {
	m.Helper()
	data, err := os.ReadFile(m.recordPath(handle))
	if err != nil {
		m.Fatal(err)
	}
	return string(data)
}

func (m *team) recordPath(handle string) string {
	return filepath.Join(m.world.Project, ".nbs", "sessions", handle+".json")
}

func (m *team) writeRecord(handle, text string) {
	m.Helper()
	if err := os.MkdirAll(filepath.Dir(m.recordPath(handle)), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(m.recordPath(handle), []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// launcher is the pid of the agent's launcher.
func (m *team) launcher(handle string) int {
	m.Helper()
	process := m.record(handle)["process"].(map[string]any)
	return int(process["launcher"].(map[string]any)["pid"].(float64))
}

// kill sends a signal to a process that a record names.
func (m *team) kill(pid int, signal syscall.Signal) {
	m.Helper()
	if pid < 2 {
		m.Fatalf("no process to kill: %d", pid)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		m.Fatal(err)
	}
}

func (m *team) waitFor(what string, check func() (bool, string)) {
	m.Helper()
	rig.WaitFor(m, 30*time.Second, what, check)
}

// waitState waits until the agent is in the state, or dead of the cause.
func (m *team) waitState(handle, state string) session {
	m.Helper()
	var s session
	m.waitFor(handle+" is "+state, func() (bool, string) {
		s = m.session(handle)
		return s.State == state || s.Cause == state, fmt.Sprintf("%+v", s)
	})
	return s
}

// mustAnswer waits until the agent has said the words on its screen.
func (m *team) mustAnswer(handle, words string) {
	m.Helper()
	m.waitFor(handle+" says "+words, func() (bool, string) {
		screen := m.screen(handle)
		return strings.Contains(screen, "● "+words), screen
	})
}

func (m *team) screen(handle string) string {
	screen := m.tmux("capture-pane", "-p", "-t", "="+m.session(handle).TmuxSession+":")
	return strings.ReplaceAll(screen, "\u00a0", " ")
}

// remembers spawns an agent that was told 42.
func (m *team) remembers(handle string, args ...string) session {
	m.Helper()
	m.ok(append([]string{"spawn", handle, "--model", "sonnet", "--prompt", "Remember 42."}, args...)...)
	m.mustAnswer(handle, "OK, I will remember 42.")
	return m.waitState(handle, "idle")
}

// mustRemember resumes an agent and hears the number from it, in the same
// conversation and on the same model.
func (m *team) mustRemember(handle string, before session, args ...string) {
	m.Helper()
	m.ok(append([]string{"resume", handle, "--prompt", "What number?"}, args...)...)
	m.mustAnswer(handle, "42")
	after := m.session(handle)
	if after.SessionID != before.SessionID || after.Model != before.Model || after.PermissionMode != before.PermissionMode {
		m.Errorf("before %+v\nafter %+v", before, after)
	}
}

// tmux runs a command on the team's own server and returns its output.
func (m *team) tmux(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "default"}, args...)...)
	cmd.Env = m.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// keepServer gives the tmux server a session of somebody else's, so that it does not
// end with the agent's.
func (m *team) keepServer() { m.tmux("new-session", "-d", "-s", "somebody", m.worker+" version; cat") }

// serverPID is the pid of the team's tmux server; 0 without one.
func (m *team) serverPID() int {
	pid, _ := strconv.Atoi(strings.TrimSpace(m.tmux("display-message", "-p", "#{pid}")))
	return pid
}

// killServer ends the team's tmux server; what hangs is killed by its pid.
func (m *team) killServer() {
	pid := m.serverPID()
	if pid == 0 {
		return
	}
	m.tmux("kill-server")
	m.waitFor("the tmux server is gone", func() (bool, string) { return dead(pid), "" })
}

// dead tells whether a process has ended; a zombie has.
func dead(pid int) bool {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// waitDead waits until a process has ended.
func (m *team) waitDead(pid int) {
	m.Helper()
	m.waitFor(fmt.Sprintf("process %d is gone", pid), func() (bool, string) { return dead(pid), "" })
}

// claudesOn lists the live claudes on whose command line the session id stands behind
// --session-id or --resume. A child that claude has forked and that has not become its
// own program yet still shows claude's line; it is not counted.
func claudesOn(id string) []int {
	pids := showing(id)
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return slices.Contains(pids, parent(pid)) })
}

// parent is the pid of a process's parent; 0 when it is gone.
func parent(pid int) int {
	stat, _ := os.ReadFile(procFile(pid, "stat"))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

func showing(id string) []int {
	var pids []int
	for _, pid := range allPIDs() {
		cmdline, _ := os.ReadFile(procFile(pid, "cmdline"))
		args := strings.Split(string(cmdline), "\x00")
		at := slices.Index(args, id)
		if at > 0 && (args[at-1] == "--session-id" || args[at-1] == "--resume") && !dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func allPIDs() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
