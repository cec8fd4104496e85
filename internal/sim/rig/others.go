package rig

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Nobody is the user and group id of another user of the machine, one without rights.
const Nobody = 65534

// GiveAway makes the user Nobody the owner of a folder and of all in it.
func GiveAway(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, Nobody, Nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Squat listens at the path of a socket, as an attacker might, and counts the connections.
func Squat(t testing.TB, path string) (visitors func() int) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	came, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		for {
			visitor, err := listener.Accept()
			if err != nil {
				return
			}
			came <- struct{}{}
			_ = visitor.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return func() int { return len(came) }
}

// MustBePrivate checks that nobody else can read or write a folder and what is below it, and that these are at least
// atLeast files and folders.
func MustBePrivate(t testing.TB, dir string, atLeast int) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o; want %04o", path, info.Mode().Perm(), want)
		}
		seen++
		return nil
	})
	if err != nil || seen < atLeast {
		t.Errorf("%d files in %s: %v", seen, dir, err)
	}
}
