package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/macos"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// onMac returns an examination of a machine that behaves like a Mac, and the folder of its programs.
func onMac(t *testing.T, programs map[string]string) (*examination, string) {
	t.Helper()
	dir := rig.ShortDir(t)
	for name, script := range programs {
		rig.WriteProgram(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	mac := fake.New()
	mac.Mac = true
	d := &examination{project: &observe.Project{Machine: mac.Machine(), Socket: filepath.Join(dir, "s"), Tmux: tmux.New, Store: store.Absent(dir)}, scratch: rig.ShortDir(t)}
	d.rows = func() ([]inspect.Row, error) { return nil, nil }
	return d, dir
}

func words(all findings) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s\n", f.Level, f.What)
	}
	return b.String()
}

// serverOf starts a tmux server as launchd does, and returns its pid.
func serverOf(t *testing.T, d *examination) int {
	t.Helper()
	rig.Needs(t, "tmux")
	cmd := exec.CommandContext(t.Context(), "tmux", "-S", d.project.Socket, "-f", "/dev/null", "-D")
	rig.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	client, err := tmux.New(d.project.Socket)
	rig.Must(t, err)
	rig.Eventually(t, "the server answers", func() bool { _, err := client.ServerPID(); return err == nil })
	return cmd.Process.Pid
}

func TestWhoEndsTheServerOfAMac(t *testing.T) {
	d, dir := onMac(t, map[string]string{"sw_vers": "echo 27.1", "launchctl": `case $1 in managername) echo Aqua ;; *) exit 113 ;; esac`})
	rig.Same(t, "without a server", "warning: no tmux server runs yet, and one that is started from here ends with this terminal application\n", words(d.keptByLaunchd(t.Context())))
	pid := serverOf(t, d)
	found := d.keptByLaunchd(t.Context())
	rig.Same(t, "a server of a terminal", fmt.Sprintf("warning: the tmux server, pid %d, was not started by launchd: macOS 27 ends it with the terminal application in which it was started\n", pid), words(found))
	team := export.Team{Socket: d.project.Socket, Project: d.project.Store.Project()}
	rig.Same(t, "what mends it", []string{"nbs-worker export launchd --dir ~/Library/LaunchAgents", "once no agent works: nbs-worker stop --all; tmux -S '" + d.project.Socket + "' kill-server; " +
		fmt.Sprintf("launchctl kickstart gui/%d/%s; launchctl kickstart gui/%[1]d/%[3]s", os.Getuid(), team.ServerName(), team.RecoverName())}, found[0].Fix)

	rig.Must(t, os.WriteFile(filepath.Join(dir, "launchctl"), fmt.Appendf(nil, "#!/bin/sh\ncase $2 in gui/%d/nbs-tmux-*) ;; *) exit 113 ;; esac\nprintf '%%s = {\\n\\tstate = running\\n\\tpid = %d\\n\\tdomain = {\\n\\t\\tpid = 1\\n' \"$2\"\n", os.Getuid(), pid), 0o700))
	rig.Same(t, "a server of launchd", "", words(d.keptByLaunchd(t.Context())))
	rig.Must(t, os.Remove(filepath.Join(dir, "launchctl")))
	rig.Check(t, strings.HasPrefix(words(d.keptByLaunchd(t.Context())), "note: launchd does not answer: "), "without launchctl: %s", words(d.keptByLaunchd(t.Context())))
}

func TestJudgeServersOfAMac(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{words(judgeServer("it", 26, "")), "note: it was not started by launchd\n"},
		{words(judgeServer("it", 0, "")), "note: it was not started by launchd\n"},
		{words(judgeServer("it", 28, "")), "warning: it was not started by launchd: macOS 28 ends it with the terminal application in which it was started\n"},
		{words(judgeNextServer("Background", nil, 15)), "warning: no tmux server runs yet, and one that is started from here cannot read the login keychain: this is not a login at the screen, but \"Background\"\n"},
		{words(judgeNextServer("Aqua", nil, 15)), "ok: no tmux server runs yet\n"},
		{words(judgeNextServer("", errors.New("no launchctl"), 15)), "ok: no tmux server runs yet\n"},
	} {
		rig.Equal(t, test.got, test.want, "what is said")
	}
}

func TestAgedServersOfAMac(t *testing.T) {
	d, dir := onMac(t, nil)
	rig.Same(t, "without a server", "", words(d.agedServers(t.Context())))
	pid := serverOf(t, d)
	rig.Same(t, "a server of this tmux", "", words(d.agedServers(t.Context())))
	newer := func(version string) {
		rig.WriteProgram(t, filepath.Join(dir, "tmux"), "#!/bin/sh\ncase \" $* \" in *' -V '*) echo tmux "+version+" ;; *) exec /usr/bin/tmux \"$@\" ;; esac\n")
	}
	newer("9.9")
	said := words(d.agedServers(t.Context()))
	rig.Check(t, strings.HasPrefix(said, fmt.Sprintf("warning: the tmux server, pid %d, has version 3.", pid)) && strings.HasSuffix(said, ", and the installed tmux has 9.9\n"), "an old server: %s", said)
	newer("3.6a")
	said = words(d.agedServers(t.Context()))
	rig.Check(t, strings.HasPrefix(said, "warning: tmux 3.6a can crash when a client attaches in control mode"), "a tmux that crashes: %s", said)
}

func TestJudgeSleepOfAMac(t *testing.T) {
	t.Parallel()
	const lid = "note: this Mac sleeps while its lid is closed\n"
	for power, want := range map[macos.Power]string{
		{After: 1, Battery: true}:                           "warning: this Mac sleeps after 1 minute without input\n" + lid,
		{After: 1, Battery: true, AwakeBy: "a, caffeinate"}: "note: this Mac sleeps after 1 minute without input, once these programs end: a, caffeinate\n" + lid,
		{Battery: true}:                                     lid,
		{After: 5, Battery: true, Disabled: true}:           "ok: this Mac does not sleep\n",
		{}: "ok: this Mac does not sleep by itself\n",
	} {
		rig.Equal(t, words(judgeSleep(power)), want, "%+v", power)
	}
}

func TestSleepOfAMacThatDoesNotSay(t *testing.T) {
	d, _ := onMac(t, map[string]string{"pmset": "exit 1"})
	rig.Equal(t, words(d.sleeps(t.Context())), "note: whether this Mac falls asleep is unknown: exit status 1\n", "what is said")
}

// Checks of one system are not made on another.
func TestAMacHasChecksOfItsOwn(t *testing.T) {
	d, _ := onMac(t, nil)
	t.Setenv("PATH", t.TempDir())
	rig.Equal(t, d.tmuxVersion(t.Context())[0].Fix[0], "brew install tmux", "the command where there is no tmux")
	rig.Equal(t, d.weakerPromises(t.Context())[0].Level, Note, "the level of what is weaker")
	for _, c := range checks {
		group, _, _ := strings.Cut(c.id, ".")
		rig.Check(t, (group == "mac") == (c.system == "darwin") && (group == "logout") == (c.system == "linux"), "%s is for %q", c.id, c.system)
	}
}
