package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
)

// isFar makes the test binary the nbs-worker of a host.
const isFar = "NBS_TEST_FAR"

// withHosts gives a test an ssh whose hosts are folders: each destination is the home folder of its user. It returns the
// folder of the homes, and that of the user's configuration here.
func withHosts(t *testing.T, destinations ...string) (homes, config string) {
	t.Helper()
	homes, config = rig.MemoryDir(t), rig.MemoryDir(t)
	bin := filepath.Join(homes, "bin")
	rig.Must(t, os.MkdirAll(bin, 0o700))
	script(t, filepath.Join(bin, "ssh"), fmt.Sprintf(`while [ "$1" != -- ]; do shift; done
case $2 in
down) echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255;;
shut) echo "me@shut: Permission denied (publickey)." >&2; exit 255;;
esac
cd %[1]s/"$2" || exit 255
echo "a greeting of the shell"
exec env -i HOME=%[1]s/"$2" PATH="%[1]s/$2/usr:/usr/bin:/bin" IS_SANDBOX=1 %[2]s=1 NBS_TMUX_SOCKET="%[1]s/$2/s" sh -c "$3"
`, homes, isFar))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", config)
	for _, destination := range destinations {
		rig.Must(t, os.MkdirAll(filepath.Join(homes, destination, "usr"), 0o700))
	}
	return homes, config
}

func script(t *testing.T, path, text string) {
	t.Helper()
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.WriteProgram(t, path, "#!/bin/sh\n"+text)
}

// workerAt puts nbs-worker into the ~/.local/bin of a host.
func workerAt(t *testing.T, home string) {
	t.Helper()
	self, err := os.Executable()
	rig.Must(t, err)
	script(t, filepath.Join(home, ".local/bin/nbs-worker"), "exec "+self+` "$@"`+"\n")
}

func TestHostsAreAddedListedAndRemoved(t *testing.T) {
	_, config := withHosts(t)
	rig.Equal(t, run("host", "list"), ran{}, "no hosts")
	run("host", "check").want(t, fail.NotFound, "host check: you have no hosts", "hint: to add one: nbs-worker host add NAME DESTINATION")
	home, err := os.UserHomeDir()
	rig.Must(t, err)
	rig.Equal(t, run("host", "add", "build1", "me@build1.example.org", "--folder", home+"/src/app"), ran{out: "build1\n"}, "the first")
	run("host", "add", "gpu", "gpu", "--folder", "/srv/app", "--program", "/opt/nbs-worker").want(t, 0)
	run("host", "add", "pi", "pi").want(t, 0)
	run("host", "add", "gpu", "gpu2").want(t, 0)
	run("host", "add", "gpu", "gpu2", "--agents", "9").want(t, 0)
	run("host", "add", "gpu", "gpu2", "--running", "4").want(t, 0)
	rig.Same(t, "the list", "build1\tme@build1.example.org\t~/src/app\t-\ngpu\tgpu2\t/srv/app\t9 agents, 4 running\npi\tpi\t~\t-\n", run("host", "list").out)
	var hosts []wire.Host
	rig.Must(t, json.Unmarshal([]byte(run("host", "list", "--json").out), &hosts))
	rig.Same(t, "a changed host", wire.Host{Name: "gpu", Destination: "gpu2", Folder: "/srv/app", Program: "/opt/nbs-worker", Limits: &wire.HostLimits{Agents: 9, Running: 4}}, hosts[1])
	rig.Same(t, "removed", "gpu\npi\n", run("host", "remove", "gpu", "pi").out)
	rig.Same(t, "the list", "build1\tme@build1.example.org\t~/src/app\t-\n", run("host", "list").out)
	run("host", "remove", "biuld1").want(t, fail.NotFound, `host remove: there is no host "biuld1"`, "did you mean build1?")
	for _, args := range [][]string{{"A", "x"}, {"a", "-oProxyCommand=sh"}, {"a", "x", "--folder", "~bob"}, {"a", "x", "--yes"}, {"a"}, {"a", "x", "--program", "p/q", "--install"}, {"a", "x", "--agents", "-1"}} {
		run(append([]string{"host", "add"}, args...)...).want(t, fail.BadInput)
	}
	text, err := os.ReadFile(filepath.Join(config, "nbs-worker/hosts.yaml"))
	rig.Check(t, err == nil && strings.Contains(string(text), "build1:\n    destination: me@build1.example.org\n    folder: src/app\n"), "hosts.yaml: %s, %v", text, err)
}

// A person sees what is wrong with each host, and how it is mended; one that is down costs its own lines only.
func TestHostCheckSaysWhatIsWrongAndTheMend(t *testing.T) {
	homes, _ := withHosts(t, "good", "bare")
	workerAt(t, filepath.Join(homes, "good"))
	script(t, filepath.Join(homes, "good/.local/bin/claude"), "echo '2.1.332 (Claude Code)'\n")
	for _, name := range []string{"good", "bare", "down", "shut"} {
		run("host", "add", name, name, "--folder", "app").want(t, 0)
	}
	check := func(name string, code fail.Kind, holds ...string) {
		t.Helper()
		r := run("host", "check", name).want(t, code)
		for _, text := range holds {
			rig.Check(t, strings.Contains(r.out, text), "check of %s does not hold %q:\n%s", name, text, r.out)
		}
	}
	check("down", fail.Failed, "failure  down is unreachable: it refuses connections", "fix: to see how far ssh gets: ssh -v down true")
	check("shut", fail.Unfit, "it does not let you in", "fix: log in without a password, by a key: ssh-copy-id shut")
	check("bare", fail.Unfit, "ok       ssh reaches bare", "nbs-worker is not there", "fix: nbs-worker host add bare bare --install")
	check("good", fail.Failed, "ok       ssh reaches good", "cannot be entered", "fix: make it, or name another one: ssh -t good 'mkdir -p app'\n",
		"ok       claude has version 2.1.332", "warning  Claude Code has not been set up for this user", "ok       tmux has version")
	rig.Must(t, os.MkdirAll(filepath.Join(homes, "good/app/.nbs"), 0o700))
	check("good", fail.Failed, "ok       it has nbs-worker ", "ok       its clock is right", "ok       claude has version 2.1.332",
		"warning  Claude Code has not been set up for this user", "fix: start claude once by hand, and answer its questions: ssh -t good 'claude'\n", "ok       tmux has version")

	var all []wire.HostCheckup
	r := run("host", "check", "--json").want(t, fail.Unfit)
	rig.Must(t, json.Unmarshal([]byte(r.out), &all))
	levels := map[string]string{}
	for _, one := range all {
		levels[one.Host] = one.Level
	}
	rig.Same(t, "the worst of each", map[string]string{"good": "warning", "bare": "failure", "down": "failure", "shut": "failure"}, levels)
}

func TestHostCheckOfAProgramThatIsTooOld(t *testing.T) {
	homes, _ := withHosts(t, "old")
	script(t, filepath.Join(homes, "old/.local/bin/nbs-worker"), "echo 'nbs-worker: unknown command host' >&2; exit 4\n")
	run("host", "add", "old", "old").want(t, 0)
	r := run("host", "check", "old").want(t, fail.Unfit)
	rig.Check(t, strings.Contains(r.out, "does not say how it is: nbs-worker: unknown command host") && strings.Contains(r.out, "nbs-worker host add old old --install"), "%s", r.out)
}

func TestAHostWithoutAProject(t *testing.T) {
	homes, _ := withHosts(t, "odd")
	script(t, filepath.Join(homes, "odd/.local/bin/nbs-worker"), `echo '{"Version":"v1"}'`+"\n")
	run("host", "add", "odd", "odd").want(t, 0)
	run("host", "enable", "odd", "--yes").want(t, fail.NotFound, "on odd: the project cannot be opened", "hint: nbs-worker host check odd")
}

// The copy replaces an older program only when it has arrived whole and runs there.
func TestAProgramIsInstalled(t *testing.T) {
	homes, _ := withHosts(t, "b")
	installed := filepath.Join(homes, "b/.local/bin/nbs-worker")
	run("host", "add", "b", "b", "--folder", "app", "--running", "2", "--install").want(t, fail.BadInput,
		"nothing was changed: ", "to confirm: nbs-worker host add b b --folder app --running 2 --install --yes")
	runOn(ui.Streams{In: strings.NewReader("n\n"), InTTY: true, ErrTTY: true}, "host", "add", "b", "b", "--install").want(t, fail.Interrupted, "nothing was changed")
	run("host", "add", "down", "down", "--install", "--yes").want(t, fail.TimedOut, "down is unreachable: ", "; your hosts were not changed\n", "ssh -v down true")
	rig.Equal(t, run("host", "list").out, "", "hosts")
	script(t, filepath.Join(homes, "b/usr/uname"), "echo Linux riscv64\n")
	run("host", "add", "b", "b", "--install", "--yes").want(t, fail.Unfit, "the system of b is not known")
	script(t, filepath.Join(homes, "b/usr/uname"), "echo Darwin arm64\n")
	run("host", "add", "b", "b", "--install", "--yes").want(t, fail.Unfit, "b is darwin/arm64", "tar -xzf nbs-worker-VERSION-darwin-arm64.tar.gz", "GOOS=darwin GOARCH=arm64 go build")
	rig.Must(t, os.Remove(filepath.Join(homes, "b/usr/uname")))

	script(t, installed, "echo nbs-worker v0 old\n")
	broken := filepath.Join(homes, "broken")
	text, err := os.ReadFile("/bin/true") // a program for this machine, which prints no version
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(broken, text[:4096], 0o600))
	run("host", "add", "b", "b", "--install", "--yes", "--binary", broken).want(t, fail.Failed, "copy nbs-worker to b: ")
	script(t, filepath.Join(homes, "b/usr/sha256sum"), "echo 0000  -\n")
	run("host", "add", "b", "b", "--install", "--yes").want(t, fail.Failed, "it arrived with another checksum: 0000")
	rig.Must(t, os.Remove(filepath.Join(homes, "b/usr/sha256sum")))
	rig.Same(t, "the program is the older one", "#!/bin/sh\necho nbs-worker v0 old\n", fileText(t, installed))

	r := runOn(ui.Streams{In: strings.NewReader("y\n"), InTTY: true, ErrTTY: true}, "host", "add", "b", "b", "--install").want(t, 0,
		"it replaces nbs-worker v0 old", "copy it to b? [y/N]", "b has nbs-worker ")
	rig.Check(t, strings.Count(r.err, "sha256") == 1, "%s", r.err)
	rig.Equal(t, run("host", "list").out, "b\tb\t~\t-\n", "hosts")
	info, err := os.Stat(installed)
	rig.Must(t, err)
	rig.Same(t, "its mode", os.FileMode(0o700), info.Mode())
	left, err := os.ReadDir(filepath.Dir(installed))
	rig.Check(t, err == nil && len(left) == 1, "%v, %v", left, err)
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(text)
}

func TestAHostIsEnabled(t *testing.T) {
	homes, _ := withHosts(t, "b")
	home := filepath.Join(homes, "b")
	workerAt(t, home)
	rig.Must(t, os.MkdirAll(filepath.Join(home, "app/.nbs"), 0o700))
	run("host", "add", "b", "b", "--folder", "app").want(t, 0)
	script(t, filepath.Join(home, "usr/systemctl"), "echo 'Failed to connect to bus: Host is down' >&2; exit 1\n")
	run("host", "enable", "b", "--yes").want(t, fail.Unfit, "host enable b: systemd does not run b\n", "hint: have its own init run this at boot: nbs-worker --root ")
	did := filepath.Join(home, "did")
	for _, program := range []string{"systemctl", "loginctl"} {
		script(t, filepath.Join(home, "usr", program), fmt.Sprintf("case \"$*\" in *show*) ;; *) echo %s \"$@\" >> %s ;; esac\n", program, did))
	}
	run("host", "enable", "b").want(t, fail.BadInput, "export systemd --dir ~/.config/systemd/user", "loginctl enable-linger", "to confirm: nbs-worker host enable b --yes")
	_, err := os.Stat(filepath.Join(home, ".config"))
	rig.Check(t, os.IsNotExist(err) && !strings.Contains(readIf(did), "enable"), "it was enabled without a yes: %s", readIf(did))

	run("host", "enable", "b", "--yes").want(t, fail.Failed, "all was done on b, and yet") // systemd does not run the machine of tests
	units, err := filepath.Glob(filepath.Join(home, ".config/systemd/user/nbs-*.service"))
	rig.Check(t, err == nil && len(units) == 4, "the units: %v, %v", units, err)
	said := readIf(did)
	rig.Check(t, strings.HasPrefix(said, "loginctl enable-linger\nsystemctl --user daemon-reload\nsystemctl --user enable --now nbs-") && strings.Contains(said, "nbs-recover-app-"), "what was done: %s", said)

	script(t, filepath.Join(home, "usr/loginctl"), "echo 'Could not enable linger: Access denied' >&2; exit 1\n")
	run("host", "enable", "b", "--yes").want(t, fail.Failed, "Access denied", `hint: as root there: ssh -t b 'sudo loginctl enable-linger "$USER"'`)
	rig.Must(t, os.Remove(filepath.Join(home, "usr/loginctl")))
	rig.Must(t, os.RemoveAll(filepath.Join(home, "app")))
	run("host", "enable", "b", "--yes").want(t, fail.NotFound)
}

// macAt makes a host one that says it is a Mac: its facts are made up, and all else is nbs-worker.
func macAt(t *testing.T, home, boot string) {
	t.Helper()
	self, err := os.Executable()
	rig.Must(t, err)
	facts := fmt.Sprintf(`{"Version":"v1","Protocol":%d,"System":"darwin","Root":%q,"Time":"2026-03-01T12:00:00Z","Findings":[%s,{"Check":"mac.server","Level":"warning","What":"the tmux server was not started by launchd","Fix":["nbs-worker export launchd"]},{"Check":"mac.sleep","Level":"warning","What":"it sleeps","Fix":["to keep it awake on mains: sudo pmset -c sleep 0"]}]}`,
		link.Protocol, filepath.Join(home, "app"), boot)
	script(t, filepath.Join(home, ".local/bin/nbs-worker"), "case \"$*\" in *'host facts'*) cat <<'.'\n"+facts+"\n.\n;; *) exec "+self+" \"$@\" ;; esac\n")
}

// A host that is a Mac keeps its agents by launchd.
func TestAMacIsEnabled(t *testing.T) {
	homes, _ := withHosts(t, "mac")
	home := filepath.Join(homes, "mac")
	const down = `{"Check":"host.boot","Level":"warning","What":"no LaunchAgent brings the agents back after a reboot"}`
	macAt(t, home, down)
	rig.Must(t, os.MkdirAll(filepath.Join(home, "app/.nbs"), 0o700))
	run("host", "add", "mac", "mac", "--folder", "app").want(t, 0)
	r := run("host", "check", "mac").want(t, fail.Failed)
	for _, text := range []string{
		"warning  no LaunchAgent brings the agents back after a reboot\n           fix: nbs-worker host enable mac\n", "was not started by launchd\n           fix: nbs-worker host enable mac\n",
		"fix: to keep it awake on mains: ssh -t mac 'sudo pmset -c sleep 0'\n", "ssh -t mac 'sudo systemsetup -setusingnetworktime on'",
	} {
		rig.Check(t, strings.Contains(r.out, text), "check does not hold %q:\n%s", text, r.out)
	}

	did := filepath.Join(home, "did")
	script(t, filepath.Join(home, "usr/launchctl"), "case $1 in print) exit 113 ;; esac\necho \"$@\" >> "+did+"\n")
	run("host", "enable", "mac").want(t, fail.BadInput, "export launchd --dir ~/Library/LaunchAgents\n", `launchctl bootstrap "gui/$(id -u)" ~/Library/LaunchAgents/nbs-tmux`, "to confirm: nbs-worker host enable mac --yes")
	rig.Equal(t, readIf(did), "", "what was done without a yes")
	run("host", "enable", "mac", "--yes").want(t, fail.Failed, "all was done on mac, and yet: no LaunchAgent")
	agents, err := filepath.Glob(filepath.Join(home, "Library/LaunchAgents/nbs-*.plist"))
	rig.Check(t, err == nil && len(agents) == 4, "the LaunchAgents: %v, %v", agents, err)
	said := strings.Split(strings.TrimSpace(readIf(did)), "\n")
	bootstrap := fmt.Sprintf("bootstrap gui/%d %s/Library/LaunchAgents/nbs-", os.Getuid(), home)
	rig.Check(t, len(said) == 4 && strings.HasPrefix(said[0], bootstrap+"tmux") && strings.HasPrefix(said[1], bootstrap+"recover-app-"), "what was done: %q", said)

	macAt(t, home, `{"Check":"host.boot","Level":"ok","What":"agents come back at each login at the screen"}`)
	script(t, filepath.Join(home, "usr/launchctl"), "case $1 in print) ;; *) exit 5 ;; esac\n") // they are loaded
	rig.Equal(t, run("host", "enable", "mac", "--yes").want(t, 0).out, "mac\n", "what is printed")
	script(t, filepath.Join(home, "usr/launchctl"), "case $1 in print) exit 113 ;; esac\necho 'Bootstrap failed: 125: Domain does not support specified action' >&2; exit 125\n")
	run("host", "enable", "mac", "--yes").want(t, fail.Failed, "Domain does not support", "hint: log in at the screen of mac, then: nbs-worker host enable mac")
	rig.Must(t, os.Remove(filepath.Join(home, "usr/launchctl")))
}

func readIf(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

func TestNamesOfHostsAreCompleted(t *testing.T) {
	withHosts(t)
	run("host", "add", "build1", "me@build1.example.org").want(t, 0)
	run("host", "add", "gpu", "gpu").want(t, 0)
	for line, want := range map[string]string{
		"host check |":             "build1\tme@build1.example.org\ngpu\tgpu\n",
		"host check gpu |":         "build1\tme@build1.example.org\n",
		"host enable gpu |":        "",
		"session |alpha@":          "alpha@build1\tme@build1.example.org\nalpha@gpu\tgpu\n",
		"session --host |":         "build1\tme@build1.example.org\ngpu\tgpu\n",
		"move alpha --to |":        "build1\tme@build1.example.org\ngpu\tgpu\nhere\tthis machine\n",
		"list --host gpu --root |": "",
	} {
		words, last, _ := strings.Cut(line, "|")
		r := run(append(append([]string{"__complete"}, strings.Fields(words)...), last)...)
		names, _, _ := strings.Cut(r.out, ":")
		rig.Equal(t, names, want, "%s", line)
	}
}
