package rig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"nbs-worker/internal/sim/isolate"
)

// The pinned Claude Codes: the one that is built for, and the oldest that is supported.
const (
	Newest = "2.1.332"
	Oldest = "2.1.197"
)

// Version is the Claude Code of the tests that are held to each version: the newest, and where NBS_TEST_OLDEST is 1, as in
// make test-rest, the oldest.
func Version() string {
	if os.Getenv("NBS_TEST_OLDEST") == "1" {
		return Oldest
	}
	return Newest
}

// binaries are the programs that this test process has built, each once. Main removes their folder.
var binaries struct {
	mu   sync.Mutex
	dir  string
	done map[binary]error
}

// binary is one of our programs, linked with certain flags.
type binary struct{ name, ldflags string }

// folder is a name of its own for each set of linker flags.
func (b binary) folder() string {
	sum := sha256.Sum256([]byte(b.ldflags))
	return hex.EncodeToString(sum[:8])
}

// built is the variable that names a folder with our programs, built from this checkout: make test builds them once for all
// packages.
const built = "NBS_TEST_BIN"

// Worker is the path of nbs-worker, built from this checkout.
func Worker(t testing.TB) string { return WorkerWith(t, "") }

// WorkerWith is Worker built with linker flags, for a variable that only the linker can set.
func WorkerWith(t testing.TB, ldflags string) string { return build(t, "nbs-worker", ldflags) }

// Sim is the path of nbs-sim, built from this checkout.
func Sim(t testing.TB) string { return build(t, "nbs-sim", "") }

// StandIn is the path of the stand-in under the name claude.
func StandIn(t testing.TB) string {
	t.Helper()
	sim := Sim(t)
	link := filepath.Join(t.TempDir(), "claude")
	if err := os.Symlink(sim, link); err != nil {
		t.Fatal(err)
	}
	return link
}

func build(t testing.TB, name, ldflags string) string {
	t.Helper()
	if dir := os.Getenv(built); dir != "" && ldflags == "" && !Race {
		return filepath.Join(dir, name)
	}
	binaries.mu.Lock()
	defer binaries.mu.Unlock()
	if binaries.dir == "" {
		dir, err := os.MkdirTemp("", "nbs-bin")
		if err != nil {
			t.Fatal(err)
		}
		binaries.dir, binaries.done = dir, map[binary]error{}
	}
	b := binary{name, ldflags}
	path := filepath.Join(binaries.dir, b.folder(), name)
	err, known := binaries.done[b]
	if !known {
		err = goBuild(Root(t), path, "./cmd/"+name, "-ldflags", "-s -w "+ldflags) // without what a debugger needs, which is half of a build
		binaries.done[b] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func goBuild(root, path, pkg string, flags ...string) error {
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", path}, raceFlags, flags, []string{pkg})...)
	cmd.Dir = root
	if !Race { // which needs cgo; make build does without
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// Root is the folder of go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// ClaudeBinary is the path of the pinned Claude Code. It fails the test when this process is not isolated.
func ClaudeBinary(t testing.TB, version string) string {
	t.Helper()
	if err := isolate.Isolated(); err != nil {
		t.Fatalf("the real Claude Code runs only in isolation (use rig.Main): %v", err)
	}
	dir := os.Getenv("NBS_TEST_CLAUDE_DIR")
	if dir == "" {
		dir = filepath.Join(Root(t), ".cache", "claude")
	}
	path := filepath.Join(dir, version, "claude")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("Claude Code %s is missing: %v\nrun: make bootstrap", version, err)
	}
	return path
}
