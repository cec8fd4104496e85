// Package upgrade tests that programs of different versions share a team: an upgrade replaces the program while agents,
// launchers and servers of the version before run on.
package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// also names commits or tags that are tested like releases: NBS_TEST_RELEASES='v1.0 HEAD~50'.
const also = "NBS_TEST_RELEASES"

// program is nbs-worker of a version.
type program struct{ version, path string }

// stamped builds this checkout as a version.
func stamped(t *testing.T, version string) program {
	t.Helper()
	return program{version, rig.WorkerWith(t, "-X nbs-worker/internal/app/cli.stamped="+version)}
}

// released builds a version of the past.
func released(t *testing.T, version string) program {
	t.Helper()
	source := t.TempDir()
	archive := exec.Command("git", "-C", rig.Root(t), "archive", version)
	unpack := exec.Command("tar", "-x", "-C", source)
	var err error
	unpack.Stdin, err = archive.StdoutPipe()
	rig.Must(t, err)
	rig.Must(t, archive.Start())
	said, err := unpack.CombinedOutput()
	rig.Check(t, err == nil, "%s: %v", said, err)
	if err := archive.Wait(); err != nil {
		t.Fatalf("git archive %s: %v; a clone without tags needs: git fetch --tags", version, err)
	}
	stamp := "was-" + strings.NewReplacer("~", "-", "^", "-", "/", "-").Replace(version)
	path := filepath.Join(source, "built")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X nbs-worker/internal/app/cli.stamped="+stamp, "-o", path, "./cmd/nbs-worker")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	said, err = build.CombinedOutput()
	if err != nil {
		t.Fatalf("build %s: %v\n%s", version, err, said)
	}
	return program{stamp, path}
}

// releases returns the versions of the past that are tested.
func releases(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rig.Root(t), "testdata", "releases"))
	rig.Must(t, err)
	all := strings.Fields(os.Getenv(also))
	for line := range strings.Lines(string(text)) {
		if tag := strings.TrimSpace(line); tag != "" && !strings.HasPrefix(tag, "#") {
			all = append(all, tag)
		}
	}
	return all
}

// Each version that was released and this one share a team, whichever of them was there first. So do two builds of this
// one, which differ only in their stamps.
func TestVersionsShareATeam(t *testing.T) {
	now := stamped(t, "now")
	pairs := []program{stamped(t, "before")}
	for _, version := range releases(t) {
		pairs = append(pairs, released(t, version))
	}
	for _, before := range pairs {
		t.Run(before.version+" to "+now.version, func(t *testing.T) { sharesTeam(t, before, now) })
		t.Run(now.version+" to "+before.version, func(t *testing.T) { sharesTeam(t, now, before) })
	}
}

// team is a project whose program can be replaced. It looks at agents by the program of this checkout.
type team struct {
	*e2e.Team
	looks *e2e.Team
	was   []string // versions
}

func (m *team) install(p program) {
	m.Helper()
	// By another process: a command that this one starts meanwhile would hold the new file open for writing.
	m.MustRun(exec.Command("cp", p.path, m.Worker+".new"))
	m.Must(os.Rename(m.Worker+".new", m.Worker))
	m.was = append(m.was, p.version)
	m.MustSay(m.OK("version"), "nbs-worker "+p.version+" ")
}

// sharesTeam starts a team by one program, replaces it by the next, and does by that all that is usual.
func sharesTeam(t *testing.T, first, next program) {
	m := &team{Team: e2e.StandIn(t)}
	looks := *m.Team
	m.looks = &looks
	bin := m.Folder("bin")
	m.Worker = filepath.Join(bin, "nbs-worker")
	m.Env = append(m.Env, "PATH="+bin+":"+m.Variable("PATH"))
	looks.Env = m.Env

	m.install(first)
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta"} {
		m.OK("spawn", handle, "--model", "sonnet", "--restart", "on-failure", "--prompt", "Remember 42.")
		m.looks.MustAnswer(handle, "OK, I will remember 42.")
		before[handle] = m.looks.WaitState(handle, "idle")
	}
	m.OK("memory", "add", "alpha", "The gate is of oak", "--type", "decision")
	m.OK("ask", "review", "Remember 46.")
	m.OK("stop", "beta")
	m.OK("send", "beta", "--queue", "What number?")
	server := m.Begin("serve", "--warm", "2")
	m.looks.WaitFor("serve to listen", func() (bool, string) {
		r := m.looks.NBS("serve", "check")
		return strings.Contains(r.Stdout, "nbs-worker serve runs, "), r.Stdout
	})

	m.install(next)
	m.goesOn(before)
	m.MustSay(m.OK("ask", "review", "What number?"), "46\n")
	m.Check(slices.ContainsFunc(m.Processes(), func(p e2e.WorldProcess) bool { return p.AnswersTurns() && e2e.Parent(p.PID) == server.Process.Pid }),
		"the server of %s did not answer: %v", first.version, m.Processes())
	m.Must(server.Process.Signal(syscall.SIGTERM))
	_ = server.Wait()
	m.comesBack(before)
	m.MustSay(m.OK("memory", "search", "oak"), "The gate is of oak\n")
	m.looks.Doctor(0).IsWell(m.looks, "team.health", "team.sessions", "team.transcripts", "left.journal", "conversations.readable")
}

// goesOn uses an agent whose launcher is that of the first program.
func (m *team) goesOn(before map[string]e2e.Session) {
	m.Helper()
	m.looks.MustBeLeftAlone("alpha", before["alpha"])
	m.MustSay(m.OK("list"), "alpha\tidle", "beta\tstopped")
	m.MustSay(m.OK("session", "alpha"), before["alpha"].SessionID)
	m.OK("send", "alpha", "What number?")
	m.looks.MustAnswer("alpha", "42")
	m.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
	m.MustSay(m.OK("logs", "alpha"), " you: What number?\n", " agent: 42\n")
	m.OK("set", "alpha", "restart=always")
	shown := m.looks.OK("session", "alpha")
	m.Check(strings.Contains(shown, "Launcher: "), "session does not say that the launcher is of %s:\n%s", m.was[0], shown)

	alpha := m.looks.Session("alpha")
	m.Kill(alpha.RecordedPID, syscall.SIGKILL) // its launcher starts it again
	m.looks.WaitSession("alpha", "is back", func(s e2e.Session) bool { return s.State == "idle" && s.RecordedPID != alpha.RecordedPID })
	m.OK("send", "alpha", "What number?")
	m.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
}

// comesBack stops and resumes agents of the first program.
func (m *team) comesBack(before map[string]e2e.Session) {
	m.Helper()
	m.OK("resume", "beta") // what waited for it arrives
	m.looks.MustAnswer("beta", "42")
	m.OK("stop", "alpha")
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.looks.MustAnswer("alpha", "42")
	m.Check(m.looks.Session("alpha").SessionID == before["alpha"].SessionID, "alpha is in another conversation")
	m.OK("rename", "beta", "gamma")
	m.OK("stop", "gamma")
	m.OK("dismiss", "gamma", "--yes")
	m.MustSay(m.OK("events"), "\tspawn\talpha\t", "\tsent\talpha\t", "\tdismiss\tgamma\t")
	m.MustSay(m.OK("triage"), "alpha\tidle\t")
}
