// Package storetest is what the tests of store, journal and archive have in common: two
// conversations, files to read and to plant, and errors to judge. The product must not import it.
package storetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// The conversations of the tests.
const (
	AliceID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	OtherID = agent.SessionID("11111111-2222-4333-8444-555555555555")
)

// Main runs all tests with a umask of 0, or plays another nbs-worker for them. It returns the exit code.
func Main(m interface{ Run() int }, play func(role []string)) (code int) {
	syscall.Umask(0)
	if role := rig.Role(); role != nil {
		play(role)
		return 0
	}
	return rig.Tight(m)
}

// SomeTime returns the time of all events.
func SomeTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }

// Must fails on an error that only a wrong test can cause, and serves roles that have no test.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// MemoryProject returns the folder of a project in memory.
func MemoryProject(t testing.TB) string {
	t.Helper()
	project := filepath.Join(rig.MemoryDir(t), "project")
	rig.Must(t, os.Mkdir(project, 0o700))
	return project
}

// Write writes a file.
func Write(t testing.TB, path, text string) {
	t.Helper()
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// Read reads a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(text)
}

// Names lists a folder, sorted; nothing when it is not there.
func Names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// WantText checks what a file holds.
func WantText(t testing.TB, path, want string) {
	t.Helper()
	got := Read(t, path)
	rig.Check(t, got == want, "%s holds %.1000q; want %.1000q", path, got, want)
}

// WantNames checks what is in a folder, sorted.
func WantNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	got := Names(t, dir)
	rig.Check(t, slices.Equal(got, want), "%s holds %q; want %q", dir, got, want)
}

// Plant replaces a file with a link to a file outside. At the end of the test it checks that the link was not
// followed.
func Plant(t testing.TB, at string) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "target")
	const untouched = "untouched\n"
	Write(t, target, untouched)
	_ = os.Remove(at)
	rig.Must(t, os.Symlink(target, at))
	t.Cleanup(func() { WantText(t, target, untouched) })
}

// WantKind checks the kind of an error.
func WantKind(t testing.TB, what string, err error, want fail.Kind) {
	t.Helper()
	if err == nil || fail.KindOf(err) != want {
		t.Errorf("%s: %v (kind %d); want kind %d", what, err, fail.KindOf(err), want)
	}
}

// WantHint checks that a hint of an error contains the words.
func WantHint(t testing.TB, err error, words string) {
	t.Helper()
	hints := strings.Join(fail.HintsOf(err), "\n")
	rig.Check(t, strings.Contains(hints, words), "no %q in the hints: %s", words, hints)
}
