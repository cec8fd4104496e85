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
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 24*time.Minute)) }

// versions are the pinned Claude Codes: the one that is built for, and the oldest.
var versions = []string{"2.1.329", "2.1.197"}

// eachVersion runs a test against each pinned Claude Code.
func eachVersion(t *testing.T, test func(t *testing.T, m *team)) {
	t.Helper()
	t.Parallel()
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

// realIf is a team on the real one where that counts, else on the stand-in.
func realIf(t *testing.T, counts bool) *team {
	t.Helper()
	if counts {
		return real(t)
	}
	return standIn(t)
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
	rig.Must(t, err)
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
	r := result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	checkSchema(m, cmd.Args, r)
	return r
}

// running is a command that goes on while the test does.
type running struct {
	*exec.Cmd
	team           *team
	stdout, stderr bytes.Buffer
}

func (m *team) begin(args ...string) *running {
	m.Helper()
	return m.beginWith(nil, args...)
}

// beginWith begins a command with more variables.
func (m *team) beginWith(env []string, args ...string) *running {
	m.Helper()
	r := &running{Cmd: m.command(args, env...), team: m}
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	m.must(r.Start())
	return r
}

// end waits for the command.
func (r *running) end() result {
	_ = r.Wait() // the code tells
	out := result{code: r.ProcessState.ExitCode(), stdout: r.stdout.String(), stderr: r.stderr.String()}
	if out.code >= 0 { // else it was killed, maybe in the middle of a line
		checkSchema(r.team, r.Args, out)
	}
	return out
}

// session is what session --json tells, as far as tests ask.
type session struct {
	Handle         string
	SessionID      string `json:"session_id"`
	State          string
	Cause          string
	Running        bool
	StateSource    string `json:"state_source"`
	Desired        string
	Model          string
	PermissionMode string `json:"permission_mode"`
	RecordedPID    int    `json:"recorded_pid"`
	PID            int    // 0: it does not run
	TmuxSession    string `json:"tmux_session"`
	TmuxAlive      bool   `json:"tmux_alive"`
	UptimeS        *int   `json:"uptime_s"`
	StateAgeMS     *int   `json:"state_age_ms"`
	Retry          *struct {
		Attempt, Of int
		InS         int `json:"in_s"`
	}
	Context *struct {
		UsedPercent int `json:"used_percent"`
		LeftPercent int `json:"left_percent"`
		Tokens      int
		Window      int
		Band        string
		Source      string
		AgeS        *int `json:"age_s"`
	}
	Cost *struct {
		USD    float64
		Source string
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
		Reason     string
		LastScreen string `json:"last_screen"`
		OOMKills   int    `json:"oom_kills"`
	} `json:"last_exit"`
	LastError *struct{ Class, Text, At string } `json:"last_error"`
	Drift     []struct{ Field, Recorded, Live string }
	Advice    []string
}

// isDead tells whether the agent is known not to run.
func (s session) isDead() bool { return !s.Running && s.State != "unknown" }

func (m *team) session(handle string) (s session) {
	m.Helper()
	m.decode(&s, "session", handle, "--json")
	return s
}

// decode reads the JSON of a command that must succeed.
func (m *team) decode(into any, args ...string) {
	m.Helper()
	m.must(json.Unmarshal([]byte(m.ok(args...)), into))
}

// run runs a program that must succeed, and returns what it says.
func (m *team) run(cmd *exec.Cmd) string {
	m.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func (m *team) waitFor(what string, check func() (bool, string)) {
	m.Helper()
	rig.WaitFor(m, what, check)
}

// waitSession waits until session says of an agent what is waited for.
func (m *team) waitSession(handle, what string, is func(s session) bool) (s session) {
	m.Helper()
	m.waitFor(handle+" "+what, func() (bool, string) {
		s = m.session(handle)
		return is(s), fmt.Sprintf("%+v", s)
	})
	return s
}

// waitState waits until the agent is in the state, alive or dead.
func (m *team) waitState(handle, state string) session {
	m.Helper()
	return m.waitSession(handle, "is "+state, func(s session) bool { return s.State == state })
}

// waitDeath waits until the agent is known not to run.
func (m *team) waitDeath(handle string) session {
	m.Helper()
	return m.waitSession(handle, "does not run", session.isDead)
}

// waitClaude waits until the agent's claude has a process, ready or not: a start that is
// asked for counts as running before.
func (m *team) waitClaude(handle string) {
	m.Helper()
	m.waitFor("claude runs", func() (bool, string) {
		r := m.nbs("session", handle, "--json")
		var s session
		_ = json.Unmarshal([]byte(r.stdout), &s) // no record yet, no JSON
		return s.Running && s.PID != 0, r.String()
	})
}

// variable reads the environment of the team's commands.
func (m *team) variable(name string) string {
	value := ""
	for _, entry := range m.env {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	return value
}

// before is the PATH on which a program comes first.
func (m *team) before(program string) (entry string) {
	return "PATH=" + filepath.Dir(program) + ":" + m.variable("PATH")
}

// folder makes a folder below the team's own.
func (m *team) folder(name string) string {
	m.Helper()
	path := filepath.Join(m.world.Root, name)
	m.must(os.MkdirAll(path, 0o700))
	return path
}

// otherProject makes a second project folder. It is not trusted.
func (m *team) otherProject() string {
	m.Helper()
	return m.folder("other")
}
