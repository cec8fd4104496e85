package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// EachVersion is a team on the newest Claude Code, and on the oldest in make test-all, which runs the tests that call it
// a second time.
func EachVersion(t *testing.T) *Team {
	t.Helper()
	t.Parallel()
	return NewTeam(t, rig.ClaudeBinary(t, rig.Version()))
}

// OnOldest reports whether the tests of each version run on the oldest Claude Code.
func OnOldest() bool { return rig.Version() == rig.Oldest }

// Real is a team on the current Claude Code.
func Real(t *testing.T) *Team {
	t.Helper()
	t.Parallel()
	return NewTeam(t, rig.ClaudeBinary(t, rig.Newest))
}

// StandIn is a team on the stand-in, which misbehaves as the words say.
func StandIn(t *testing.T, misbehaviour ...string) *Team {
	t.Helper()
	t.Parallel()
	m := NewTeam(t, rig.StandIn(t))
	m.Env = append(m.Env, "NBS_SIM_CLAUDE="+strings.Join(misbehaviour, ","))
	return m
}

// Team is one project with its own Claude configuration, tmux server and API.
type Team struct {
	*testing.T
	World  *rig.World
	API    *api.Server
	Worker string
	Env    []string
	Dir    string // where commands are run
}

func NewTeam(t *testing.T, claude string) *Team {
	t.Helper()
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	world := rig.NewWorld(t, server.URL())
	m := &Team{T: t, World: world, API: server, Worker: rig.Worker(t), Dir: world.Project}
	m.Env = world.Env("NBS_CLAUDE="+claude, "PATH="+filepath.Dir(m.Worker)+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		m.KillServer()
		_ = server.Close()
	})
	return m
}

// Result is what a user sees of one command.
type Result struct {
	Code           int
	Stdout, Stderr string
}

func (r Result) String() string {
	return fmt.Sprintf("exit code %d\nstdout: %s\nstderr: %s", r.Code, r.Stdout, r.Stderr)
}

// Command prepares a run of nbs-worker; extra changes the environment.
func (m *Team) Command(args []string, extra ...string) *exec.Cmd {
	cmd := exec.Command(m.Worker, args...)
	cmd.Dir = m.Dir
	cmd.Env = slices.Concat(m.Env, extra)
	return cmd
}

func (m *Team) NBS(args ...string) Result {
	m.Helper()
	return m.Finish(m.Command(args))
}

// NBSWith runs nbs-worker with more variables.
func (m *Team) NBSWith(env []string, args ...string) Result {
	m.Helper()
	return m.Finish(m.Command(args, env...))
}

func (m *Team) Finish(cmd *exec.Cmd) Result {
	m.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		m.Fatalf("%s: %v", cmd, err)
	}
	r := Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	CheckSchema(m, cmd.Args, r)
	return r
}

// Running is a command that goes on while the test does.
type Running struct {
	*exec.Cmd
	Team     *Team
	Out, Err bytes.Buffer
}

func (m *Team) Begin(args ...string) *Running {
	m.Helper()
	return m.BeginWith(nil, args...)
}

// BeginWith begins a command with more variables.
func (m *Team) BeginWith(env []string, args ...string) *Running {
	m.Helper()
	r := &Running{Cmd: m.Command(args, env...), Team: m}
	r.Stdout, r.Stderr = &r.Out, &r.Err
	m.Must(r.Start())
	return r
}

// End waits for the command.
func (r *Running) End() Result {
	_ = r.Wait() // the code tells
	out := Result{Code: r.ProcessState.ExitCode(), Stdout: r.Out.String(), Stderr: r.Err.String()}
	if out.Code >= 0 { // else it was killed, maybe in the middle of a line
		CheckSchema(r.Team, r.Args, out)
	}
	return out
}

// Decode reads the JSON of a command that must succeed.
func (m *Team) Decode(into any, args ...string) {
	m.Helper()
	m.Must(json.Unmarshal([]byte(m.OK(args...)), into))
}

// One decodes the JSON of a verb that takes several handles, about one agent.
func One(text string, into any) error {
	all := []any{into}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("%d results, want one: %s", len(all), text)
	}
	return nil
}

// MustRun runs a program that must succeed, and returns what it says.
func (m *Team) MustRun(cmd *exec.Cmd) string {
	m.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func (m *Team) WaitFor(what string, check func() (bool, string)) {
	m.Helper()
	rig.WaitFor(m, what, check)
}

// WaitNews is WaitFor for a check that starts a program: it is made when the news, which cost less, have changed, and else
// once a second, for what they do not tell.
func (m *Team) WaitNews(what string, news func() string, check func() (bool, string)) {
	m.Helper()
	var last, detail string
	var checked time.Time
	m.WaitFor(what, func() (ok bool, _ string) {
		now := news()
		if !checked.IsZero() && now == last && time.Since(checked) < time.Second {
			return false, detail
		}
		last, checked = now, time.Now()
		ok, detail = check()
		return ok, detail
	})
}

// News is what is on disk of an agent, and the states of its processes: what a command says of it hardly changes before.
func (m *Team) News(handle string) string {
	var r struct {
		SessionID string `json:"session_id"`
		PID       int
		Process   *struct{ Launcher struct{ PID int } }
	}
	text, _ := os.ReadFile(m.RecordPath(handle)) // not there: news as well
	_ = json.Unmarshal(text, &r)
	found, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "sessions", "*.json"))
	if r.SessionID != "" {
		written, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "projects", "*", r.SessionID+".jsonl"))
		found = append(found, written...)
	}
	var all strings.Builder
	for _, path := range append(found, m.RecordPath(handle), m.InNbs("status", handle+".json"), m.InNbs("journal.jsonl")) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&all, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	pids := []int{r.PID}
	if r.Process != nil {
		pids = append(pids, r.Process.Launcher.PID)
	}
	for _, pid := range pids {
		if stat := StatFields(pid); len(stat) > StatState {
			fmt.Fprintln(&all, pid, Ended(stat), stat[StatState] == "T")
		}
	}
	return all.String()
}

// WaitSession waits until session says of an agent what is waited for.
func (m *Team) WaitSession(handle, what string, is func(s Session) bool) (s Session) {
	m.Helper()
	m.WaitNews(handle+" "+what, func() string { return m.News(handle) }, func() (bool, string) {
		s = m.Session(handle)
		return is(s), fmt.Sprintf("%+v", s)
	})
	return s
}

// WaitState waits until the agent is in the state, alive or dead.
func (m *Team) WaitState(handle, state string) Session {
	m.Helper()
	return m.WaitSession(handle, "is "+state, func(s Session) bool { return s.State == state })
}

// WaitDeath waits until the agent is known not to run.
func (m *Team) WaitDeath(handle string) Session {
	m.Helper()
	return m.WaitSession(handle, "does not run", Session.IsDead)
}

// WaitClaude waits until the agent's claude has a process, ready or not: a start that is
// asked for counts as running before.
func (m *Team) WaitClaude(handle string) {
	m.Helper()
	m.WaitNews("claude runs", func() string { return m.News(handle) }, func() (bool, string) {
		r := m.NBS("session", handle, "--json")
		var s Session
		_ = One(r.Stdout, &s) // no record yet
		return s.Running && s.PID != 0, r.String()
	})
}

// Variable reads the environment of the team's commands.
func (m *Team) Variable(name string) string {
	value := ""
	for _, entry := range m.Env {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	return value
}

// Before is the PATH on which a program comes first.
func (m *Team) Before(program string) (entry string) {
	return "PATH=" + filepath.Dir(program) + ":" + m.Variable("PATH")
}

// Folder makes a folder below the team's own.
func (m *Team) Folder(name string) string {
	m.Helper()
	path := filepath.Join(m.World.Root, name)
	m.Must(os.MkdirAll(path, 0o700))
	return path
}

// OtherProject makes a second project folder. It is not trusted.
func (m *Team) OtherProject() string {
	m.Helper()
	return m.Folder("other")
}
