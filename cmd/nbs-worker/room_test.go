package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"

	"golang.org/x/sys/unix"
)

// Open files: at its soft limit a tmux server answers nobody any more.

// withLimit runs nbs-worker with limits of open files, SOFT:HARD.
func (m *team) withLimit(nofile string, args ...string) result {
	m.Helper()
	cmd := exec.Command("prlimit", append([]string{"--nofile=" + nofile, m.worker}, args...)...)
	cmd.Dir, cmd.Env = m.dir, m.env
	return m.finish(cmd)
}

// serverWithLimit starts the team's tmux server as a person with that ulimit would.
func (m *team) serverWithLimit(nofile string) {
	m.Helper()
	cmd := exec.Command("prlimit", "--nofile="+nofile, "tmux", "-L", "default", "new-session", "-d", "-s", "somebody", "cat")
	cmd.Env = m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("%v: %s", err, out)
	}
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
	server := m.serverPID()
	const some = 30
	var sessions []string
	for range some {
		sessions = append(sessions, "new-session", "-d", "cat", ";")
	}
	m.tmux(sessions...)
	var agents []string
	var refusal result
	for i := range 64 {
		handle := fmt.Sprintf("agent%d", i)
		if refusal = m.nbs("spawn", handle); refusal.code != 0 {
			break
		}
		agents = append(agents, handle)
	}
	m.mustRefuse(refusal, 6, fmt.Sprintf("the tmux server, pid %d, has ", server))
	if len(agents) == 0 || !strings.Contains(refusal.stderr, "--tmux-socket NAME") {
		t.Errorf("%d agents; %s", len(agents), refusal)
	}
	m.tmux(sessions[:4*4]...) // clients come and go: now it is beyond the mark without them
	m.refused(6, "file descriptors in use", "resume", agents[0], "--force")
	for _, handle := range agents {
		if s := m.session(handle); !s.Running || !s.TmuxAlive {
			t.Errorf("%+v", s)
		}
	}
	// The refused one has lost nothing, and both ways out work.
	refused := fmt.Sprintf("agent%d", len(agents))
	m.ok("resume", refused, "--tmux-socket", "aside")
	m.ok("stop", refused)
	remedy := fmt.Sprintf("prlimit --pid %d --nofile=4096:4096", server)
	if !strings.Contains(refusal.stderr, "hint: give it more, its agents live through it: "+remedy) {
		t.Errorf("%s", refusal)
	}
	words := strings.Fields(remedy)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.ok("resume", refused, "--tmux-socket", "default")
}

// A server that is started here has room, whatever the caller's limit; claude and what
// it starts have the caller's.
func TestRaisedLimitIsForTheServerOnly(t *testing.T) {
	m := standIn(t)
	out := filepath.Join(m.world.Root, "limit")
	m.env = append(m.env, "NBS_CLAUDE="+m.script("ulimit -Sn >>"+out+"; ulimit -Hn >>"+out+"; exec "+m.variable("NBS_CLAUDE")+` "$@"`))
	if r := m.withLimit("200:3000", "spawn", "alpha"); r.code != 0 {
		t.Fatal(r)
	}
	if limit := filesLimit(t, m.serverPID()); limit.Cur != 3000 || limit.Max != 3000 {
		t.Errorf("the server's limits: %+v", limit)
	}
	if r := m.withLimit("300:3000", "spawn", "beta"); r.code != 0 {
		t.Fatal(r)
	}
	if r := m.withLimit("5000:5000", "resume", "alpha", "--force"); r.code != 0 { // more than the server has to give
		t.Fatal(r)
	}
	text, err := os.ReadFile(out)
	if want := "200\n3000\n300\n3000\n3000\n3000\n"; err != nil || string(text) != want {
		t.Errorf("claude's limits: %q, want %q, %v", text, want, err)
	}
}

// More sessions than the caller's own limit of open files would let the server have.
func TestHundredsOfSessionsFit(t *testing.T) {
	m := standIn(t)
	hard := strconv.FormatUint(filesLimit(t, os.Getpid()).Max, 10)
	if r := m.withLimit("256:"+hard, "spawn", "alpha"); r.code != 0 {
		t.Fatal(r)
	}
	const hundreds = 400
	begun := time.Now()
	const each = 100
	for range hundreds / each {
		var sessions []string
		for range each {
			sessions = append(sessions, "new-session", "-d", "cat", ";")
		}
		m.tmux(sessions...)
	}
	t.Logf("%d sessions in %s", hundreds, time.Since(begun))
	if n := strings.Count(m.tmux("list-sessions", "-F", "#{session_id}"), "\n"); n != hundreds+1 {
		t.Fatalf("%d sessions", n)
	}
	if r := m.withLimit("256:"+hard, "spawn", "beta"); r.code != 0 {
		t.Fatal(r)
	}
	m.ok("list")
	for _, handle := range []string{"alpha", "beta"} {
		if s := m.session(handle); !s.Running || !s.TmuxAlive {
			t.Errorf("%+v", s)
		}
		m.ok("stop", handle)
	}
}

// What people do by hand nobody checks: a server that really ran full, and is mended by
// the command that the hint names, with all that lives in it.
func TestServerThatRanFullIsMended(t *testing.T) {
	m := standIn(t)
	m.serverWithLimit("64:4096")
	server := m.serverPID()
	t.Cleanup(func() { m.limitFiles(server, 4096) }) // else it could not be ended in peace
	before := m.remembers("alpha")
	m.waitFor("the server answers nobody", func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// Without a pipe: the server would hold it.
		cmd := exec.CommandContext(ctx, "tmux", "-L", "default", "new-session", "-d", "cat")
		cmd.Env = m.env
		return cmd.Run() != nil, ""
	})
	r := m.refused(3, fmt.Sprintf("its server, pid %d, has no file descriptor left", server), "list")
	if !strings.HasPrefix(r.stdout, "alpha\tidle\t") {
		t.Error(r)
	}
	_, remedy, _ := strings.Cut(r.stderr, "its agents live through it: ")
	remedy, _, _ = strings.Cut(remedy, "\n")
	words := strings.Fields(remedy)
	if len(words) != 4 || words[0] != "prlimit" {
		t.Fatal(r)
	}
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s := m.session("alpha"); !s.Running || !s.TmuxAlive || s.RecordedPID != before.RecordedPID {
		t.Errorf("before %+v\nafter %+v", before, s)
	}
	m.ok("list")
}
