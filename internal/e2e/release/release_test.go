package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) {
	code := rig.Main(m, 25*time.Minute)
	if made.root != "" {
		_ = os.RemoveAll(made.root) // a temporary folder
	}
	os.Exit(code)
}

// version is the release's; its tag has a v before it. No true release has it, nor the one before it.
const (
	version = "999.1.2"
	before  = "999.1.1"
)

// made is the release that all tests share.
var made struct {
	once  sync.Once
	root  string
	said  string // what make release has printed
	serve string // the address of a server that serves root
	err   error
}

// release returns the folder of a release, which make has made from a clean clone, where there is no network. With
// NBS_TEST_RELEASE_HERE=1, as in make quick-release, it is for this machine alone.
func release(t *testing.T) string {
	t.Helper()
	made.once.Do(func() { made.err = makeRelease(rig.Root(t)) })
	if made.err != nil {
		t.Fatal(made.err)
	}
	return filepath.Join(made.root, version)
}

func makeRelease(checkout string) error {
	var err error
	if made.root, err = os.MkdirTemp("", "nbs-release"); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	made.serve = "http://" + listener.Addr().String()
	server := &http.Server{Handler: http.FileServer(http.Dir(made.root)), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the tests end

	clone, key := filepath.Join(made.root, "clone"), filepath.Join(made.root, "key")
	// What bootstrap and make have fetched is there, and nothing else that is not in the commit.
	steps := fmt.Sprintf(`set -e
chmod 755 %[1]s
git clone -q %[2]s %[3]s
ln -s %[2]s/.cache %[3]s/.cache
cd %[3]s
git -c user.name=releaser -c user.email=releaser@nbs-worker.example tag -a v%[4]s -m release
ssh-keygen -q -t ed25519 -N '' -C releaser -f %[5]s
make release RELEASE_URL=%[6]s/%[4]s RELEASE_KEY=%[5]s
mv build/release %[1]s/%[4]s`, made.root, checkout, clone, version, key, made.serve)
	// Settings of this machine which would decide what is compiled, if they were heard.
	settings := filepath.Join(made.root, "goenv")
	err = errors.Join(os.WriteFile(settings, []byte("GOAMD64=v2\nGOARM64=v8.1\nGOEXPERIMENT=greenteagc\n"), 0o600),
		os.WriteFile(filepath.Join(made.root, "go.work"), []byte("go 1.20\n"), 0o600))
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", steps)
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOENV="+settings, "TMPDIR="+made.root, "RELEASE_QUICK=1", "RELEASE_MAINTAINER=The authors <authors@nbs-worker.example>")
	if os.Getenv("NBS_TEST_RELEASE_HERE") == "1" {
		cmd.Env = append(cmd.Env, "RELEASE_TARGETS="+here())
	}
	out, err := cmd.CombinedOutput()
	if made.said = string(out); err != nil {
		return fmt.Errorf("make release: %w\n%s", err, out)
	}
	return nil
}

// The release has exactly these files, and each is what its name says.
func TestReleaseHasAllFiles(t *testing.T) {
	t.Parallel()
	dir := release(t)
	rig.Check(t, strings.Contains(made.said, "both are equal"), "make release: %s", made.said)
	want := []string{"Containerfile", "SHA256SUMS", "SHA256SUMS.sig", "allowed_signers", "install.sh", "nbs-worker.rb"}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, system := range []string{"linux", "darwin"} {
			name := "nbs-worker-" + version + "-" + system + "-" + arch
			want = append(want, name+".tar.gz", name+".cdx.json")
		}
		want = append(want, "nbs-worker_"+version+"_"+arch+".deb")
	}
	want = append(want, "nbs-worker-"+version+"-1.x86_64.rpm", "nbs-worker-"+version+"-1.aarch64.rpm")
	slices.Sort(want)
	rig.Same(t, "the release", want, listing(t, dir))

	succeeds(t, dir, "sha256sum", "--check", "--strict", "SHA256SUMS")
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	rig.Must(t, err)
	rig.Equal(t, strings.Count(string(sums), "\n"), len(want)-len([]string{"SHA256SUMS", "SHA256SUMS.sig", "allowed_signers"}), "the number of sums")
	verify := exec.Command("ssh-keygen", "-Y", "verify", "-f", "allowed_signers", "-I", "nbs-worker", "-n", "nbs-worker-release", "-s", "SHA256SUMS.sig")
	verify.Dir, verify.Stdin = dir, bytes.NewReader(sums)
	out, err := verify.CombinedOutput()
	rig.Check(t, err == nil, "the signature: %v, %s", err, out)
}

// What cannot become a release is refused in one line, before anything is compiled.
func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	const hint = " in it is not of a release; nothing was removed\nhint: name a folder that is missing or empty\n"
	home, link, file := foreignFolders(t)
	hidden := filepath.Join(home, "released")
	for _, c := range []struct{ variable, want string }{
		{"RELEASE_DIR=" + home, "release: use RELEASE_DIR=" + home + ": mine.txt" + hint},
		{"RELEASE_DIR=" + hidden + "/", "release: use RELEASE_DIR=" + hidden + ": .mine" + hint},
		{"RELEASE_DIR=" + link, "release: use RELEASE_DIR=" + link + ": it is no folder\n"},
		{"RELEASE_DIR=" + file, "release: use RELEASE_DIR=" + file + ": it is no folder\n"},
		{"VERSION=latest", "release: use the version latest: it does not begin with a digit\nhint: make release VERSION=1.2.3\n"},
		{"VERSION=1.2/3", "release: use the version 1.2/3: only letters, digits, and . + ~ - are allowed\nhint: make release VERSION=1.2.3\n"},
		{"RELEASE_URL=somewhere", "release: use RELEASE_URL=somewhere: it is no address\nhint: make release RELEASE_URL=https://ADDRESS\n"},
		{"RELEASE_URL=https://a'b", "release: use RELEASE_URL=https://a'b: it has a character that an address of files does not need\n"},
		{"RELEASE_KEY=/none", "release: sign with /none: it is not there\n"},
		{"SBOM=none", "release: " + rig.Root(t) + "/none is missing\nhint: make release\n"},
	} {
		cmd := exec.Command("scripts/release")
		cmd.Dir = rig.Root(t)
		var said bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), c.variable), &said
		err := cmd.Run()
		rig.Check(t, err != nil && said.String() == c.want, "%s: %v, %s", c.variable, err, said.String())
	}
	rig.Same(t, "what is left", []string{"mine.txt", "released/", "released/.mine", "released/SHA256SUMS", "released/a b"}, listing(t, home))
}

// foreignFolders makes a folder with a file and, below it, an earlier release with one file more; a link to that folder; and
// the path of the file.
func foreignFolders(t *testing.T) (home, link, file string) {
	t.Helper()
	home, link = t.TempDir(), filepath.Join(t.TempDir(), "link")
	file = filepath.Join(home, "mine.txt")
	rig.Must(t, os.Mkdir(filepath.Join(home, "released"), 0o700))
	for name, text := range map[string]string{
		"mine.txt": "", "released/.mine": "", "released/a b": "", "released/SHA256SUMS": strings.Repeat("0", 64) + "  a b\n",
	} {
		rig.Must(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	rig.Must(t, os.Symlink(home, link))
	return home, link, file
}

// --- what the tests share

// succeeds runs a program in a folder, which must succeed, and returns what it prints.
func succeeds(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// listing names all that is below a folder, sorted; folders end with a slash.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	names := []string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path) // path is below dir
		if name != "." {
			if entry.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		return err
	})
	rig.Must(t, err)
	slices.Sort(names)
	return names
}

// unpacked unpacks a program's tar.gz, and returns its folder.
func unpacked(t *testing.T, system, arch string) string {
	t.Helper()
	name, dir := "nbs-worker-"+version+"-"+system+"-"+arch, t.TempDir()
	succeeds(t, dir, "tar", "-xzf", filepath.Join(release(t), name+".tar.gz"))
	return filepath.Join(dir, name)
}

// here is this machine's target.
func here() string { return "linux/" + runtime.GOARCH }

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	rig.Must(t, json.Unmarshal(text, into))
}
