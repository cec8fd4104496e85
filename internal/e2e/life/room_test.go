package life

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Open files: at its soft limit a tmux server answers nobody any more.

// withLimit runs nbs-worker with limits of open files, SOFT:HARD, and must succeed.
func (m *team) withLimit(nofile string, args ...string) {
	m.Helper()
	cmd := exec.Command("prlimit", append([]string{"--nofile=" + nofile, m.Worker}, args...)...)
	cmd.Dir, cmd.Env = m.Dir, m.Env
	if r := m.Finish(cmd); r.Code != 0 {
		m.Fatal(r)
	}
}

// serverWithLimit starts the team's tmux server as a person with that ulimit would.
func (m *team) serverWithLimit(nofile string) {
	m.Helper()
	cmd := exec.Command("prlimit", "--nofile="+nofile, "tmux", "-L", "default", "new-session", "-d", "-s", "somebody", "cat")
	cmd.Env = m.Env
	m.MustRun(cmd)
}

// manySessions starts sessions of somebody else's.
func (m *team) manySessions(n int) {
	m.Helper()
	m.Tmux(slices.Repeat([]string{"new-session", "-d", "cat", ";"}, n)...)
}

// pasteRemedy runs the program that a text names behind the words, up to the end of the line.
func (m *team) pasteRemedy(text, behind string) {
	m.Helper()
	_, remedy, _ := strings.Cut(text, behind)
	remedy, _, _ = strings.Cut(remedy, "\n")
	words := strings.Fields(remedy)
	if len(words) != 4 || words[0] != "prlimit" {
		m.Fatal(text)
	}
	m.MustRun(exec.Command(words[0], words[1:]...))
}

func filesLimit(t *testing.T, pid int) unix.Rlimit {
	t.Helper()
	var limit unix.Rlimit
	rig.Must(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit))
	return limit
}

func TestServerThatIsNearItsLimitGetsNoMoreAgents(t *testing.T) {
	m := standIn(t)
	m.serverWithLimit("64:4096")
	server := m.ServerPID()
	m.manySessions(30)
	var agents []string
	var refusal e2e.Result
	for i := range 64 {
		handle := fmt.Sprintf("agent%d", i)
		if refusal = m.NBS("spawn", handle); refusal.Code != 0 {
			break
		}
		agents = append(agents, handle)
	}
	m.MustRefuse(refusal, 6, fmt.Sprintf("the tmux server, pid %d, has ", server))
	m.Check(len(agents) != 0 && strings.Contains(refusal.Stderr, "--tmux-socket NAME"), "%d agents; %s", len(agents), refusal)
	m.manySessions(4) // clients come and go: now it is beyond the mark without them
	m.Refused(6, "file descriptors in use", "resume", agents[0], "--force")
	m.mustAllLive(agents...)
	// The refused one has lost nothing, and both ways out work.
	refused := fmt.Sprintf("agent%d", len(agents))
	m.OK("resume", refused, "--tmux-socket", "aside")
	m.OK("stop", refused)
	const remedy = "hint: give it more, which does not disturb its agents: "
	m.MustSay(refusal.Stderr, remedy+fmt.Sprintf("prlimit --pid %d --nofile=4096:4096", server))
	m.pasteRemedy(refusal.Stderr, remedy)
	m.OK("resume", refused, "--tmux-socket", "default")
}

// mustAllLive checks that agents run in sessions that can be reached.
func (m *team) mustAllLive(handles ...string) {
	m.Helper()
	for _, handle := range handles {
		s := m.Session(handle)
		m.Check(s.Running && s.TmuxAlive, "%s: %+v", handle, s)
	}
}

// A server that is started here has room, whatever the caller's limit; claude and what
// it starts have the caller's.
func TestRaisedLimitIsForTheServerOnly(t *testing.T) {
	m := standIn(t)
	out := filepath.Join(m.World.Root, "limit")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script("ulimit -Sn >>"+out+"; ulimit -Hn >>"+out+"; exec "+m.Variable("NBS_CLAUDE")+` "$@"`))
	m.withLimit("200:3000", "spawn", "alpha")
	limit := filesLimit(t, m.ServerPID())
	m.Check(limit.Cur == 3000 && limit.Max == 3000, "the server's limits: %+v", limit)
	m.withLimit("300:3000", "spawn", "beta")
	m.withLimit("5000:5000", "resume", "alpha", "--force") // more than the server has to give
	text, err := os.ReadFile(out)
	want := "200\n3000\n300\n3000\n3000\n3000\n"
	m.Check(err == nil && string(text) == want, "claude's limits: %q, want %q, %v", text, want, err)
}

// More sessions than the caller's own limit of open files would let the server have.
func TestHundredsOfSessionsFit(t *testing.T) {
	m := standIn(t)
	hard := strconv.FormatUint(filesLimit(t, os.Getpid()).Max, 10)
	m.withLimit("256:"+hard, "spawn", "alpha")
	for range 4 {
		m.manySessions(100)
	}
	if n := strings.Count(m.Tmux("list-sessions", "-F", "#{session_id}"), "\n"); n != 4*100+1 {
		t.Fatalf("%d sessions", n)
	}
	m.withLimit("256:"+hard, "spawn", "beta")
	m.OK("list")
	m.mustAllLive("alpha", "beta")
	m.OK("stop", "alpha", "beta")
}

// What people do by hand nobody checks: a server that really ran full, and is mended by
// the command that the hint names, with all that lives in it.
func TestServerThatRanFullIsMended(t *testing.T) {
	m := standIn(t)
	m.serverWithLimit("64:4096")
	server := m.ServerPID()
	t.Cleanup(func() { m.limitFiles(server, 4096) }) // else it could not be ended in peace
	before := m.Remembers("alpha")
	m.WaitFor("the server answers nobody", func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), rig.Scaled(time.Second))
		defer cancel()
		// Without a pipe: the server would hold it.
		cmd := exec.CommandContext(ctx, "tmux", "-L", "default", "new-session", "-d", "cat")
		cmd.Env = m.Env
		return cmd.Run() != nil, ""
	})
	r := m.Refused(3, fmt.Sprintf("its server, pid %d, has no free file descriptor", server), "list")
	m.Check(strings.HasPrefix(r.Stdout, "alpha\tidle\t"), "%s", r)
	m.pasteRemedy(r.Stderr, "which does not disturb its agents: ")
	m.mustAllLive("alpha")
	m.MustBeLeftAlone("alpha", before)
	m.OK("list")
}
