package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nbs-worker/internal/sim/rig"
)

// What an agent's tools may do to what decides what its colleagues run.

// InState is the path of something in the state folder of the user.
func (m *Team) InState(names ...string) string {
	return filepath.Join(append([]string{m.World.Home, ".local", "state", "nbs-worker"}, names...)...)
}

// LaunchFiles are the launches that no launcher took, of all projects.
func (m *Team) LaunchFiles() []string {
	var all []string
	for _, runtime := range []string{filepath.Join(m.World.RunDir, "nbs-worker"), m.InState("run")} {
		for _, pattern := range []string{"*", ".*"} {
			found, _ := filepath.Glob(filepath.Join(runtime, "*", "launch", pattern)) // the pattern is well formed
			all = append(all, found...)
		}
	}
	return slices.DeleteFunc(all, func(path string) bool { return strings.Trim(filepath.Base(path), ".") == "" })
}

// LaunchFolder is where the launch files of the project are handed over. It is made, so that
// what is made in it can be watched.
func (m *Team) LaunchFolder() string {
	m.Helper()
	sum := sha256.Sum256([]byte(m.World.Project))
	dir := filepath.Join(m.World.RunDir, "nbs-worker", hex.EncodeToString(sum[:16]), "launch")
	m.Must(os.MkdirAll(dir, 0o700))
	return dir
}

func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Fill leaves only so many pages of 4 kB on the disk of .nbs.
func (m *Team) Fill(pages int64) (free func()) {
	m.Helper()
	ballast := m.InNbs("ballast")
	f, err := os.Create(ballast)
	m.Must(err)
	for err == nil {
		_, err = f.Write(bytes.Repeat([]byte{'x'}, 4096))
	}
	if closing := f.Close(); !errors.Is(err, syscall.ENOSPC) || closing != nil {
		m.Fatal(err, closing)
	}
	info, err := os.Stat(ballast)
	m.Must(err)
	m.Must(os.Truncate(ballast, info.Size()-pages*4096))
	return func() { m.Must(os.Remove(ballast)) }
}

// StateOnADiskOfItsOwn has the state folder on another file system than all else.
func (m *Team) StateOnADiskOfItsOwn(size string) rig.Mounts {
	m.Helper()
	mounts := rig.PrivateMounts(m.T)
	m.Must(os.MkdirAll(m.InState(), 0o700))
	mounts.Tmpfs(m.InState(), size)
	return mounts
}

// What is in .nbs gets into no repository by accident: prompts and last screens are in it, and a
// record that comes with a clone is another's.

// Git runs git in a folder as the user of the test does.
func (m *Team) Git(dir string, args ...string) string {
	m.Helper()
	rig.Needs(m, "git")
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Env = dir, m.World.Env()
	return m.MustRun(cmd)
}

func (m *Team) Write(path, text string) {
	m.Helper()
	m.Must(os.MkdirAll(filepath.Dir(path), 0o755))
	m.Must(os.WriteFile(path, []byte(text), 0o600))
}
