package release

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// user is one who installs from a release, with a home of their own.
type user struct {
	*testing.T
	home, prefix string
	shell        string // that runs the script
	env          []string
	credential   *syscall.Credential // of another user than root
}

func newUser(t *testing.T) *user {
	t.Helper()
	t.Parallel()
	release(t)
	home := rig.ShortDir(t)
	return &user{T: t, home: home, prefix: filepath.Join(home, ".local"), shell: "/bin/sh", env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
}

// said is what a run of the script prints.
type said struct {
	code        int
	out, errors string
}

func (s said) String() string { return fmt.Sprintf("exit code %d\n%s\n%s", s.code, s.out, s.errors) }

// script runs the install script of the release with arguments; those with a = are variables.
func (u *user) script(args ...string) said {
	u.Helper()
	return u.run(filepath.Join(release(u.T), "install.sh"), args...)
}

func (u *user) run(script string, args ...string) said {
	u.Helper()
	var out, errors bytes.Buffer
	cmd := exec.Command(u.shell, script)
	cmd.Env, cmd.Dir = u.env, u.home
	for _, arg := range args {
		if strings.Contains(arg, "=") {
			cmd.Env = append(cmd.Env, arg)
		} else {
			cmd.Args = append(cmd.Args, arg)
		}
	}
	cmd.Stdout, cmd.Stderr = &out, &errors
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential}
	_ = cmd.Run() // the code tells
	return said{cmd.ProcessState.ExitCode(), out.String(), errors.String()}
}

// installs runs the script, which must succeed and say this.
func (u *user) installs(want string, args ...string) {
	u.Helper()
	if s := u.script(args...); s.code != 0 || !strings.Contains(s.out, want) || s.errors != "" {
		u.Fatalf("install.sh %q: %s\nwant: %s", args, s, want)
	}
}

// refuses runs the script, which must say this one line, with a hint or without, and change nothing.
func (u *user) refuses(want string, args ...string) {
	u.Helper()
	first := u.files()
	s := u.script(args...)
	line, hint, _ := strings.Cut(s.errors, "\n")
	oneLine := hint == "" || strings.HasPrefix(hint, "hint: ") && strings.Count(hint, "\n") == 1
	if s.code != 1 || !strings.HasPrefix(line, "install.sh: "+want) || !oneLine {
		u.Errorf("install.sh %q: %s\nwant: %s", args, s, want)
	}
	rig.Same(u, "after install.sh "+strings.Join(args, " "), first, u.files())
	left, _ := filepath.Glob(filepath.Join(u.home, "tmp", "*")) // the pattern is well formed
	rig.Check(u, len(left) == 0, "install.sh has left %q", left)
}

// files are the names and sums of what is below the prefix.
func (u *user) files() map[string]string {
	u.Helper()
	all := map[string]string{}
	if !e2e.Exists(u.prefix) {
		return all
	}
	for _, name := range listing(u, u.prefix) {
		text, _ := os.ReadFile(filepath.Join(u.prefix, name)) // of a folder nothing
		all[name] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return all
}

func (u *user) program() string { return filepath.Join(u.prefix, "bin", "nbs-worker") }

// older makes a release of the version before, with a program for this machine that says it is that. It has one more man
// page. It returns the address of the release.
func older(t *testing.T) string {
	t.Helper()
	return releaseOf(t, before, rig.WorkerWith(t, "-X nbs-worker/internal/app/cli.stamped="+before))
}

// releaseOf makes a release with another program.
func releaseOf(t *testing.T, number, program string) string {
	t.Helper()
	dir, name := filepath.Join(made.root, strings.ReplaceAll(t.Name(), "/", "-")+"-"+number), "nbs-worker-"+number+"-linux-"+runtime.GOARCH
	rig.Must(t, os.RemoveAll(dir))
	rig.Must(t, os.Mkdir(dir, 0o755)) // it is served
	tree := filepath.Join(dir, name)
	rig.Must(t, os.Rename(unpacked(t, "linux", runtime.GOARCH), tree))
	text, err := os.ReadFile(program)
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(filepath.Join(tree, "bin/nbs-worker"), text, 0o755))
	rig.Must(t, os.WriteFile(filepath.Join(tree, "share/man/man1/nbs-worker-gone.1"), []byte("."), 0o644))
	succeeds(t, dir, "sh", "-c", "tar -czf "+name+".tar.gz "+name+" && sha256sum *.tar.gz >SHA256SUMS")
	return made.serve + "/" + filepath.Base(dir)
}

// altered copies what install.sh downloads into a folder of the server, has it changed there, and returns its address.
func altered(t *testing.T, change string) string {
	t.Helper()
	dir := filepath.Join(made.root, strings.ReplaceAll(t.Name(), "/", "-"))
	rig.Must(t, os.MkdirAll(dir, 0o755)) // it is served
	succeeds(t, dir, "sh", "-c", "rm -f *; cp "+release(t)+"/*linux*.tar.gz "+release(t)+"/SHA256SUMS* . && "+change)
	return made.serve + "/" + filepath.Base(dir)
}

// A new user installs, and uninstalls; nothing is left. The script says what was not checked, and what to do.
func TestInstallAndUninstall(t *testing.T) {
	u := newUser(t)
	rig.Must(t, os.Mkdir(u.prefix, 0o755))
	s := u.script()
	want := "the sum is checked, but not the signature, since you trust no key so far:\n" +
		"  " + u.home + "/.config/nbs-worker/allowed_signers is not there\n" +
		"nbs-worker " + version + " is installed: " + u.program() + "\n" +
		"man pages and completions: " + u.prefix + "/share\n" +
		"Put it into your PATH: export PATH=\"" + u.prefix + "/bin:$PATH\"\n" +
		"Begin with: nbs-worker doctor\n"
	rig.Equal(t, s, said{0, want, ""}, "install.sh")
	rig.Check(t, strings.HasPrefix(succeeds(t, u.home, u.program(), "version"), "nbs-worker "+version+" "), "another version is installed")
	for _, name := range []string{
		"share/man/man1/nbs-worker.1", "share/man/man1/nbs-worker-spawn.1", "share/bash-completion/completions/nbs-worker",
		"share/zsh/site-functions/_nbs-worker", "share/fish/vendor_completions.d/nbs-worker.fish",
	} {
		rig.Check(t, e2e.Exists(filepath.Join(u.prefix, name)), "%s is not installed", name)
	}
	rig.Must(t, os.WriteFile(filepath.Join(u.prefix, "share/fish/mine"), nil, 0o600))
	s = u.script("--uninstall")
	removed, stays, _ := strings.Cut(s.out, "These stay:\n")
	rig.Check(t, s.code == 0 && strings.HasPrefix(removed, "nbs-worker is removed from "+u.prefix+".\n"), "%s", s)
	for _, want := range []string{".nbs in each project", "~/.local/state/nbs-worker:", "~/.config/nbs-worker:", "nbs-worker export", "nbs-worker skill install"} {
		rig.Check(t, strings.Contains(stays, want), "it does not say that %s stays: %s", want, s)
	}
	for line := range strings.Lines(stays) {
		rig.Check(t, len(line) <= 79, "a line is wider than a terminal: %s", line)
	}
	rig.Same(t, "what is left", []string{"share/", "share/fish/", "share/fish/mine"}, listing(t, u.prefix))
	u.refuses("remove nbs-worker: nothing in "+u.prefix+" was installed by this script", "--uninstall")
	u.refuses("unknown argument: --remove", "--remove")
}

// Where the keys that the user trusts are known, the sums must be signed by one of them.
func TestInstallChecksTheSignature(t *testing.T) {
	u := newUser(t)
	signers := filepath.Join(u.home, ".config/nbs-worker/allowed_signers")
	rig.Must(t, os.MkdirAll(filepath.Dir(signers), 0o700))
	succeeds(t, u.home, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "another", "-f", "other")
	key, err := os.ReadFile(filepath.Join(u.home, "other.pub"))
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(signers, append([]byte("nbs-worker "), key...), 0o600))
	unsigned := "check the signature: SHA256SUMS of "
	u.refuses(unsigned + made.serve + "/" + version + " is not signed by a key of " + signers)
	u.refuses("download "+made.serve, "NBS_RELEASE_URL="+altered(t, "rm SHA256SUMS.sig"))
	u.refuses("check the signature: /none is not there", "NBS_ALLOWED_SIGNERS=/none")

	text, err := os.ReadFile(filepath.Join(release(t), "allowed_signers"))
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(signers, text, 0o600))
	u.refuses(unsigned, "NBS_RELEASE_URL="+altered(t, "echo >>SHA256SUMS"))
	u.installs("the signature is right\nnbs-worker " + version + " is installed")
}

// What goes wrong is one line, and nothing is changed: neither where nothing was nor where another version is.
func TestInstallRefuses(t *testing.T) {
	u := newUser(t)
	name := "nbs-worker-" + version + "-linux-" + runtime.GOARCH
	for range 2 {
		wrong := "NBS_RELEASE_URL=" + altered(t, "printf x >>"+name+".tar.gz")
		u.refuses("check the download: the sum of "+name+".tar.gz is not the one in SHA256SUMS; nothing was changed", wrong)
		u.refuses("download "+made.serve+"/none/SHA256SUMS: ", "NBS_RELEASE_URL="+made.serve+"/none/")
		u.refuses("download http://127.0.0.1:1/SHA256SUMS: ", "NBS_RELEASE_URL=http://127.0.0.1:1")
		u.refuses("choose a program: SHA256SUMS of ", "NBS_RELEASE_URL="+altered(t, "sed -i s/linux/plan9/ SHA256SUMS"))
		u.refuses("download "+made.serve, "NBS_RELEASE_URL="+altered(t, "rm *.tar.gz"))
		rig.Must(t, os.WriteFile(filepath.Join(u.home, "file"), nil, 0o600))
		u.refuses("install into "+u.home+"/file/x: you cannot write to "+u.home+"/file; nothing was changed", "PREFIX=file/x")
		u.refuses("download "+made.serve+"/"+version+"/SHA256SUMS: neither curl nor wget is there", "PATH="+pathOf(t))
		// A program that does not run takes the place of none.
		const broken = "tar -xzf %[1]s.tar.gz && echo x >%[1]s/bin/nbs-worker && tar -czf %[1]s.tar.gz %[1]s && rm -r %[1]s && sha256sum *.tar.gz >SHA256SUMS"
		u.refuses("run the new program: it does not say its version; nothing was changed", "NBS_RELEASE_URL="+altered(t, fmt.Sprintf(broken, name)))
		u.installs("is installed", "NBS_RELEASE_URL="+older(t))
	}
	s := u.run(filepath.Join(rig.Root(t), "scripts/packaging/install.sh"))
	rig.Equal(t, s, said{1, "", "install.sh: download the release: its address is not known\nhint: NBS_RELEASE_URL=ADDRESS sh install.sh\n"}, "without an address")
}

// pathOf is a PATH with what the script needs, and with these programs.
func pathOf(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	needed := strings.Fields("cat chmod cp cut dirname find grep gzip head ls mkdir mktemp mv rm rmdir sed sh sha256sum sort tail tar tmux uname")
	for _, name := range append(needed, more...) {
		path, err := exec.LookPath(name)
		rig.Must(t, err)
		rig.Must(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// One of curl and wget is enough.
func TestInstallByEither(t *testing.T) {
	u := newUser(t)
	for _, program := range []string{"curl", "wget"} {
		u.installs("is installed", "PATH="+pathOf(t, program))
		s := u.script("PATH="+pathOf(t, program), "NBS_RELEASE_URL="+made.serve+"/none")
		rig.Check(t, s.code == 1 && strings.Contains(s.errors, "404"), "%s: %s", program, s)
	}
}

// A small system has busybox in the place of all programs, its shell too.
func TestInstallWithBusybox(t *testing.T) {
	rig.Needs(t, "busybox")
	u := newUser(t)
	bin := t.TempDir()
	succeeds(t, bin, "busybox", "--install", "-s", bin)
	u.shell = filepath.Join(bin, "sh")
	u.installs("is installed", "PATH="+bin, "NBS_RELEASE_URL="+older(t))
	u.refuses("download "+made.serve+"/none/SHA256SUMS: wget: server returned error: HTTP/1.1 404", "PATH="+bin, "NBS_RELEASE_URL="+made.serve+"/none")
	u.refuses("check the download: ", "PATH="+bin, "NBS_RELEASE_URL="+altered(t, "printf x >>nbs-worker-"+version+"-linux-"+runtime.GOARCH+".tar.gz"))
	u.installs("(it was "+before+")", "PATH="+bin)
	u.installs("is removed", "PATH="+bin, "--uninstall")
	rig.Check(t, !e2e.Exists(u.prefix), "%q is left", u.files())
}

// A user who may not write to a folder is told so before anything is downloaded.
func TestInstallWithoutPermission(t *testing.T) {
	rig.NeedsRoot(t)
	u := newUser(t)
	const other = 65534
	rig.Must(t, os.Chmod(u.home, 0o755)) // another user looks into it
	u.credential = &syscall.Credential{Uid: other, Gid: other}
	u.refuses("install into " + u.prefix + ": you cannot write to " + u.home + "; nothing was changed")
	u.credential = nil
	u.installs("is installed", "NBS_RELEASE_URL="+older(t))
	u.credential = &syscall.Credential{Uid: other, Gid: other}
	u.refuses("install into " + u.prefix + ": you cannot write to " + u.prefix + "/bin; nothing was changed")
	u.refuses("remove nbs-worker from "+u.prefix+": you cannot write to ", "--uninstall")
}

// killedAt returns a function that runs the script, which is killed when it calls this program the nth time, and how many
// calls there are. The program does its work, then.
func (u *user) killedAt(program string, args ...string) (run func(at int) said, calls int) {
	u.Helper()
	bin, count := u.TempDir(), filepath.Join(u.TempDir(), "count")
	real, err := exec.LookPath(program)
	rig.Must(u, err)
	body := "#!/bin/sh\nn=$(($(cat " + count + ") + 1))\necho $n >" + count + "\n[ $n != \"$KILL_AT\" ] || kill -9 $PPID\nexec " + real + " \"$@\"\n"
	rig.Must(u, os.WriteFile(filepath.Join(bin, program), []byte(body), 0o755))
	run = func(at int) said {
		rig.Must(u, os.WriteFile(count, []byte("0\n"), 0o600))
		return u.script(append(args, fmt.Sprintf("KILL_AT=%d", at), "PATH="+bin+":"+os.Getenv("PATH"))...)
	}
	rig.Equal(u, run(0).code, 0, "the code of a run that is not killed")
	text, err := os.ReadFile(count)
	rig.Must(u, err)
	calls, err = strconv.Atoi(strings.TrimSpace(string(text)))
	rig.Must(u, err)
	return run, calls
}

// A run that is killed leaves the old program or the new one, whole. The next run completes it, and what --uninstall
// leaves is nothing.
func TestInstallIsKilled(t *testing.T) {
	u := newUser(t)
	old := older(t)
	u.installs("is installed", "NBS_RELEASE_URL="+old)
	killed, last := u.killedAt("mv")
	for _, at := range []int{1, 2, 3, last / 2, last - 2, last - 1, last} {
		u.installs("is installed", "NBS_RELEASE_URL="+old)
		rig.Equal(t, killed(at).code, -1, "the code of a run that is killed at %d of %d", at, last)
		is := succeeds(t, u.home, u.program(), "version")
		rig.Check(t, strings.HasPrefix(is, "nbs-worker "+before+" ") == (at < last-1), "killed at %d of %d: %s", at, last, is)
		if at%2 == 0 {
			u.installs("nbs-worker " + version + " is installed")
		}
		u.installs("is removed", "--uninstall")
		rig.Check(t, !e2e.Exists(u.prefix), "killed at %d of %d: %q is left", at, last, u.files())
	}
}

// A script that was cut by the network does nothing.
func TestInstallScriptIsCut(t *testing.T) {
	u := newUser(t)
	text, err := os.ReadFile(filepath.Join(release(t), "install.sh"))
	rig.Must(t, err)
	whole := bytes.LastIndex(text, []byte("main"))
	const parts = 40
	for i := range parts {
		cut := filepath.Join(t.TempDir(), "cut.sh")
		rig.Must(t, os.WriteFile(cut, text[:whole*i/parts], 0o600))
		u.run(cut)
		rig.Check(t, !e2e.Exists(u.prefix), "%d bytes of the script have installed something", whole*i/parts)
	}
}

// A run that is killed before its list is written has made folders, those above the prefix too. The next run knows which.
func TestInstallIsKilledBeforeItsList(t *testing.T) {
	u := newUser(t)
	mine := filepath.Join(u.home, "mine")
	rig.Must(t, os.Mkdir(mine, 0o755))
	u.prefix = filepath.Join(mine, "above/prefix")
	prefix := "PREFIX=" + u.prefix
	killed, last := u.killedAt("mkdir", prefix)
	u.installs("is removed", prefix, "--uninstall")
	for at := 2; at <= last; at++ {
		rig.Equal(t, killed(at).code, -1, "the code of a run that is killed at %d of %d", at, last)
		if at%2 == 0 {
			u.installs("is installed", prefix)
			u.installs("is removed", prefix, "--uninstall")
		} else if s := u.script(prefix, "--uninstall"); s.code != 1 || !strings.Contains(s.errors, "nothing in "+u.prefix+" was installed") {
			t.Errorf("killed at %d of %d: uninstall: %s", at, last, s)
		}
		rig.Same(t, fmt.Sprintf("what is left after the kill at %d of %d", at, last), []string{}, listing(t, mine))
	}
}

// An uninstall that a signal ends after the list is gone leaves no folder: nothing would name it.
func TestUninstallIsInterrupted(t *testing.T) {
	u := newUser(t)
	real, err := exec.LookPath("rm")
	rig.Must(t, err)
	bin := t.TempDir()
	body := "#!/bin/sh\n" + real + " \"$@\"\ncase $* in */share/nbs-worker/installed) kill -TERM $PPID ;; esac\n"
	rig.Must(t, os.WriteFile(filepath.Join(bin, "rm"), []byte(body), 0o755))
	u.installs("is installed")
	s := u.script("--uninstall", "PATH="+bin+":"+os.Getenv("PATH"))
	rig.Check(t, s.code == 130 && !e2e.Exists(u.prefix), "%s\n%q is left", s, u.files())
}

// What install.sh makes above the prefix goes too, unless something of others is in it now.
func TestUninstallRemovesWhatIsAboveThePrefix(t *testing.T) {
	u := newUser(t)
	u.prefix = filepath.Join(u.home, "a/b/c/d")
	for range 2 {
		u.installs("is installed", "PREFIX="+u.prefix)
	}
	rig.Must(t, os.WriteFile(filepath.Join(u.home, "a/mine"), nil, 0o600))
	u.installs("is removed", "PREFIX="+u.prefix, "--uninstall")
	rig.Same(t, "what is left", []string{"mine"}, listing(t, filepath.Join(u.home, "a")))
}

// A download that stalls ends, before its answer or in the middle of it. One that is slow goes on.
func TestInstallFromASlowServer(t *testing.T) {
	const limit, short = "stall=30 ", "stall=2 "
	text, err := os.ReadFile(filepath.Join(release(t), "install.sh"))
	rig.Must(t, err)
	rig.Check(t, strings.Contains(string(text), limit), "install.sh has no limit for a stall")
	script := filepath.Join(t.TempDir(), "install.sh")
	rig.Must(t, os.WriteFile(script, []byte(strings.Replace(string(text), limit, short, 1)), 0o600))
	server := httptest.NewServer(http.HandlerFunc(slowly))
	t.Cleanup(server.Close)
	for _, program := range []string{"curl", "wget"} {
		for _, how := range []string{"silent", "stalled", "slow"} {
			t.Run(program+" "+how, func(t *testing.T) {
				u := newUser(t)
				s := u.run(script, "PATH="+pathOf(t, program), "NBS_RELEASE_URL="+server.URL+"/"+how)
				if how == "slow" {
					rig.Check(t, s.code == 0 && strings.Contains(s.out, "is installed"), "%s", s)
					return
				}
				rig.Check(t, s.code == 1 && strings.HasPrefix(s.errors, "install.sh: download "+server.URL+"/"+how+"/nbs-worker-"), "%s", s)
				rig.Same(t, "what is left", map[string]string{}, u.files())
			})
		}
	}
}

// slowly answers with a file of the release. An archive comes in the way that the first part of the path names: never, its
// first half alone, or in pieces.
func slowly(w http.ResponseWriter, r *http.Request) {
	how, name := path.Split(r.URL.Path)
	text, err := os.ReadFile(filepath.Join(made.root, version, name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	const pieces = 20
	for i := range pieces {
		archive := strings.HasSuffix(name, ".gz")
		if archive && (how == "/silent/" || how == "/stalled/" && i == pieces/2) {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text[len(text)*i/pieces : len(text)*(i+1)/pieces]) // a client that has left is not served
		_ = http.NewResponseController(w).Flush()
		if archive {
			select {
			case <-time.After(200 * time.Millisecond): // longer, together, than the limit for a stall
			case <-r.Context().Done():
			}
		}
	}
}
