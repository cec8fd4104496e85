package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/trust"
)

// A text from a pipe is the same for the agents of all hosts.
func TestOneTextForTwoHosts(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("alpha")), "build2": newProject(t, uitest.Record("bob"))})
	t.Chdir(newProject(t, uitest.Record("carol")))
	text := strings.Repeat("0123456789", 2000)
	runOn(ui.Streams{In: strings.NewReader(text)}, "send", "alpha@build1", "bob@build2", "carol", "--queue", "-").want(t, 0)
	for _, agent := range []string{"alpha@build1", "bob@build2", "carol"} {
		r := run("outbox", "list", agent, "--json").want(t, 0)
		rig.Check(t, strings.Count(r.out, text) == 1, "%s: %s", agent, r.out)
	}
}

// A command that goes on until it is ended is refused, and a line with an @ in a text reads no file of hosts.
func TestWhatIsNotForAllHosts(t *testing.T) {
	dir := withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t, uitest.Record("alpha")))
	run("list", "--watch", "--hosts").want(t, fail.BadInput, "this command goes on", "hint: for all agents on one screen: nbs-worker dash --hosts")
	run("stop", "alpha", "--hosts").want(t, fail.BadInput, "--hosts is for commands that show something")
	run("list", "--hosts", "--root", "/").want(t, fail.BadInput, "each host has its own")

	rig.Must(t, os.WriteFile(dir+"/config/nbs-worker/hosts.yaml", []byte("nonsense"), 0o600))
	run("send", "alpha", "--queue", "mail me@example.org").want(t, 0)
}

// What a host has shown is told when it does not answer, and is not told of another place under its name.
func TestTheLastViewIsOfItsPlace(t *testing.T) {
	far := newProject(t, uitest.Record("bob"))
	dir := withProjects(t, map[string]string{"build1": far})
	t.Chdir(t.TempDir())
	run("list", "--hosts").want(t, 0)
	rig.WriteProgram(t, dir+"/ssh", "#!/bin/sh\necho 'ssh: connect to host x: Connection refused' >&2\nexit 255\n")
	r := run("list", "--hosts").want(t, fail.TimedOut, "build1 is unreachable: it refuses connections; its rows are as of 2")
	rig.Check(t, strings.HasPrefix(r.out, "build1\tbob\t"), "%q", r.out)
	r = runOn(ui.Streams{OutTTY: true, Width: 80}, "list", "--hosts").want(t, fail.TimedOut)
	rig.Check(t, !strings.Contains(r.out, "bob"), "a text for a pipe, on a terminal: %q", r.out)

	rig.Must(t, os.WriteFile(dir+"/config/nbs-worker/hosts.yaml", []byte("version: 1\nhosts:\n  build1:\n    destination: another\n"), 0o700))
	r = run("list", "--hosts").want(t, fail.TimedOut, "build1 is unreachable")
	rig.Equal(t, r.out, "", "rows of another place")

	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	kept := func() []string { // other tests have other hosts
		all, err := filepath.Glob(home.Path("hosts", "build1*"))
		rig.Must(t, err)
		return all
	}
	rig.Equal(t, len(kept()), 2, "what is kept of the host")
	run("host", "remove", "build1").want(t, 0)
	rig.Equal(t, len(kept()), 0, "what is kept of a removed one")
}

// The user's limits for a host hold for what is started from here.
func TestLimitsOfAHost(t *testing.T) {
	full := newProject(t, uitest.Record("alpha"), uitest.Record("bob"))
	withProjects(t, map[string]string{"build1": full})
	t.Chdir(t.TempDir())
	const hint = "hint: to see the limits, where you typed this: nbs-worker host list\n"
	run("host", "add", "build1", "of-build1", "--agents", "2").want(t, 0)
	run("spawn", "carol@build1").want(t, fail.Held, "its limit there of 2 agents is reached", hint)
	run("host", "add", "build1", "of-build1", "--agents", "0", "--running", "1").want(t, 0)
	run("spawn", "carol@build1").want(t, fail.Held, "its limit there of 1 running agent is reached", hint)
	run("resume", "alpha@build1").want(t, fail.Held, "its limit there of 1 running agent is reached", hint)
	rig.Equal(t, strings.Fields(run("list", "--host", "build1").want(t, 0).out)[0], "alpha", "the first agent there")
}

// An older program at a host is not asked for a start that the limits are for, and stops an agent.
func TestLimitsOfAHostWithAnOlderProgram(t *testing.T) {
	dir := withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t, uitest.Record("bob")))
	run("host", "add", "build1", "of-build1", "--agents", "2").want(t, 0)
	const hello, over = `{"protocol":1,"version":"0.9"}`, `{"code":0}`
	old := fmt.Sprintf("#!/bin/sh\nprintf 'nbs-worker host\\n\\1\\0\\0\\0\\0\\0\\0\\0\\%o%s'\nhead -c 1 >"+dir+"/asked && test -s "+dir+"/asked && printf '\\10\\0\\0\\0\\1\\0\\0\\0\\%o%s'\nexec cat >/dev/null\n",
		len(hello), hello, len(over), over)
	rig.WriteProgram(t, filepath.Join(dir, "nbs-worker"), old)
	run("stop", "alice@build1").want(t, 0)
	const refusal = "build1 has nbs-worker 0.9, which does not say that it keeps its limits of hosts.yaml"
	run("spawn", "alice@build1").want(t, fail.Unfit, refusal, "hint: nbs-worker host add build1 of-build1 --install")
	run("move", "bob", "--to", "build1").want(t, fail.Unfit, refusal)
}

// What waits for an agent goes with it when it moves. A message after that would stay behind.
func TestNoMessageIsKeptForAnAgentThatLeaves(t *testing.T) {
	leaving := uitest.Record("alpha")
	leaving.Move = &agent.HostMove{ID: agent.NewMoveID(), To: "build1", Command: "nbs-worker move alpha --to build1"}
	t.Chdir(newProject(t, leaving))
	run("send", "alpha", "--queue", "hello").want(t, fail.Conflict, "it is being moved to build1")
	rig.Equal(t, run("outbox", "list", "alpha").want(t, 0).out, "", "what waits")
}

// An agent that is only at a host, as list has shown it, is meant by its handle. A new agent is not.
func TestAnAgentThatWasSeenAtAHostIsMeant(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("alice")), "build2": newProject(t)})
	t.Chdir(newProject(t, uitest.Record("bob"), uitest.Record("alixe")))
	run("stop", "carol").want(t, fail.NotFound, "hint: to see the agents: nbs-worker list; to start it: nbs-worker spawn carol\n")
	run("list", "--hosts", "--json").want(t, 0)
	const hint = "did you mean alice@build1? It was seen there "
	for _, line := range []string{"stop alice", "session alice", "stop alice --json", "send alice hello"} {
		run(strings.Fields(line)...).want(t, fail.NotFound, hint)
	}
	run("stop", "alice", "bob").want(t, fail.Partial, "hint: "+hint)
	run("list", "--hosts").want(t, 0)
	r := run("session", "alice").want(t, fail.NotFound, "hint: "+hint)
	rig.Check(t, !strings.Contains(r.err, "spawn") && !strings.Contains(r.err, "alixe"), "%s", r.err)
	run("stop", "carol").want(t, fail.NotFound, "spawn carol\n")
	run("host", "remove", "build1").want(t, 0)
	run("session", "alice").want(t, fail.NotFound, "did you mean alixe?")
}

// What spawn says of a word that looks like a host does not tell an agent which hosts there are.
func TestSpawnDoesNotTellWhichHostsThereAre(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t))
	is, isNot := run("spawn", "alice", "@build1").want(t, fail.BadInput, "looks like a host"), run("spawn", "alice", "@other1").want(t, fail.BadInput)
	rig.Equal(t, isNot.err, strings.ReplaceAll(is.err, "build1", "other1"), "what is said of a name that is no host")
}

// What is done at a host is told by the handle that the person types.
func TestAResultNamesItsHost(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("bob"), uitest.Record("carol"))})
	t.Chdir(newProject(t, uitest.Record("bob")))
	r := run("stop", "bob", "bob@build1").want(t, 0)
	rig.Check(t, r.out == "bob\nbob@build1\n" || r.out == "bob@build1\nbob\n", "%q", r.out)
	rig.Equal(t, run("stop", "carol", "--host", "build1").want(t, 0).out, "carol@build1\n", "by --host")
	r = runOn(ui.Streams{OutTTY: true, Width: 80}, "stop", "bob@build1").want(t, 0)
	rig.Check(t, strings.HasPrefix(r.out, "bob@build1: "), "%q", r.out)
}
