package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/private"
	"nbs-worker/internal/sim/rig"
)

// A debian is a fresh Debian in namespaces of its own. What is changed there is in memory, and ends with it.
type debian struct {
	*testing.T
	init *exec.Cmd
	user []string // the words that run a command as its user, in the user's project
}

const (
	userHome    = "/home/ada"
	userProject = userHome + "/project"
)

// start makes the machine: its files are those of .cache/debian/root, with Claude Code at /usr/local/bin.
const start = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount --rbind /dev dev
cp "$3" boot
mkdir -p release usr/local/bin
mount --bind "$4" release
touch usr/local/bin/claude
mount --bind "$5" usr/local/bin/claude
echo '{"name":"fresh","programs":[["/bin/sleep","infinity"]]}' >machine.json
exec chroot . /boot/nbs-sim boot /machine.json`

// newDebian starts the machine. Its API is at baseURL.
func newDebian(t *testing.T, baseURL string) *debian {
	t.Helper()
	t.Parallel()
	rig.NeedsRoot(t)
	root := filepath.Join(rig.Root(t), ".cache/debian/root")
	if _, err := os.Stat(root); err != nil {
		t.Fatalf("%v\nrun: scripts/bootstrap release", err)
	}
	claude, err := filepath.EvalSymlinks(rig.ClaudeBinary(t, rig.Newest))
	rig.Must(t, err)
	d := &debian{T: t}
	d.init = exec.Command("/bin/sh", "-c", start, "sh", t.TempDir(), root, rig.Sim(t), release(t), claude)
	var errors strings.Builder
	d.init.Stderr = &errors
	d.init.SysProcAttr = rig.OwnMachine()
	rig.Must(t, d.init.Start())
	t.Cleanup(func() {
		_ = d.init.Process.Kill() // with it the kernel kills all others of its namespace
		_ = d.init.Wait()
		if t.Failed() {
			t.Log(errors.String())
		}
	})
	rig.Eventually(t, "the machine runs", func() bool {
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(d.init.Process.Pid) + "/comm")
		return string(name) == "nbs-sim\n"
	})
	d.root("useradd --create-home --shell /bin/bash ada && install -d -o ada -g ada " + userProject)
	world := private.World{Home: userHome, ConfigDir: userHome + "/.claude", TmuxDir: "/tmp", RunDir: "/none", BaseURL: baseURL}
	d.user = append([]string{"setpriv", "--reuid", "ada", "--regid", "ada", "--init-groups", "env", "-i", "-C", userProject}, world.Env()...)
	d.user = append(d.user, "PATH=/usr/local/bin:/usr/bin:/bin", "IS_SANDBOX=")
	return d
}

func (d *debian) enter(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", strconv.Itoa(d.init.Process.Pid), "--mount", "--uts", "--pid", "--root", "--wd=/", "--"}, args...)...)
}

// root runs a script as root, which must succeed.
func (d *debian) root(script string) string {
	d.Helper()
	return d.must(d.enter("/bin/sh", "-ec", script))
}

// ada runs a script as the user, which must succeed.
func (d *debian) ada(script string) string {
	d.Helper()
	return d.must(d.enter(append(d.user, "/bin/sh", "-ec", script)...))
}

func (d *debian) must(cmd *exec.Cmd) string {
	d.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("%q: %v\n%s", cmd.Args[len(cmd.Args)-1], err, out)
	}
	return string(out)
}

// files are all files and folders of the machine, but what dpkg keeps of its own.
func (d *debian) files() []string {
	d.Helper()
	return strings.Fields(d.root(`find / -xdev -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/proc/*' | sort`))
}

// On a fresh Debian dpkg and three commands lead to an agent that runs. After it is dismissed and the package removed,
// there is what uninstalling says: the records of the project, and the state folder.
func TestFreshDebian(t *testing.T) {
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	d := newDebian(t, server.URL())
	first := d.files()
	config := rig.ShortDir(t)
	rig.Config(t, config, rig.ConfigOptions{}) // one who has used Claude Code, elsewhere
	text, err := os.ReadFile(filepath.Join(config, ".claude.json"))
	rig.Must(t, err)
	d.ada("mkdir ~/.claude && cat >~/.claude/.claude.json <<'end'\n" + string(text) + "\nend")

	d.root("dpkg -i /release/nbs-worker_" + version + "_" + runtime.GOARCH + ".deb")
	d.ada("nbs-worker spawn alice 'Remember 42.' --trust")
	d.ada("nbs-worker wait alice --for idle")
	list := d.ada("nbs-worker list")
	rig.Check(t, strings.Contains(list, "alice") && strings.Contains(list, "idle"), "list: %s", list)
	rig.WaitFor(t, "alice answers", func() (bool, string) {
		screen := d.ada("nbs-worker screen alice")
		return strings.Contains(screen, "I will remember 42"), screen
	})
	rig.Check(t, strings.HasPrefix(d.ada("nbs-worker version"), "nbs-worker "+version+" "), "another version")

	d.ada("nbs-worker dismiss alice")
	d.root("dpkg --purge nbs-worker")
	known := map[string]bool{}
	for _, name := range first {
		known[name] = true
	}
	stays := []string{userProject + "/.nbs", userHome + "/.local", userHome + "/.claude", "/tmp/tmux-", "/tmp/claude-", "/tmp/cc-socks-"} // of tmux and Claude Code
	for _, name := range d.files() {
		said := known[name]
		for _, prefix := range stays {
			said = said || strings.HasPrefix(name, prefix)
		}
		rig.Check(t, said, "%s is left", name)
	}
	left := strings.Fields(d.ada("find ~/.local -type f"))
	for _, name := range left {
		rig.Check(t, strings.HasPrefix(name, userHome+"/.local/state/nbs-worker/") || strings.Contains(name, "claude"), "%s is left", name)
	}
}

// dpkg refuses where tmux is missing, says so, and leaves nothing when it removes the package.
func TestDebNeedsTmux(t *testing.T) {
	d := newDebian(t, "")
	d.root("dpkg --purge tmux")
	first := d.files()
	out, err := d.enter("dpkg", "-i", "/release/nbs-worker_"+version+"_"+runtime.GOARCH+".deb").CombinedOutput()
	rig.Check(t, err != nil && strings.Contains(string(out), "nbs-worker depends on tmux (>= 3.2)"), "dpkg -i: %v, %s", err, out)
	d.root("dpkg --purge nbs-worker")
	rig.Same(t, "after the removal", first, d.files())
}
