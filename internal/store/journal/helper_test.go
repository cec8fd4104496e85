package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

const (
	aliceID = storetest.AliceID
	otherID = storetest.OtherID
)

func TestMain(m *testing.M) {
	os.Exit(storetest.Main(m, func(role []string) { playRole(role[0], role[1]) }))
}

// playRole makes the test binary another nbs-worker: "append" adds one event.
func playRole(role, project string) {
	j, err := openAt(project)
	if err == nil && role == "append" {
		runtime.LockOSThread() // strace counts the calls of each thread
		err = j.Append(context.Background(), noted("alice", otherID))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// openAt opens the journal of a project, whose .nbs is made when it is not there. The heads are
// beside the project.
func openAt(project string) (*Journal, error) {
	at := filepath.Join(project, ".nbs")
	for _, dir := range []string{at, filepath.Join(at, private.Locks)} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	nbs, err := private.OpenFolder(at)
	if err != nil {
		return nil, err
	}
	return In(nbs, private.Tree(project+".home/journals"), "project"), nil
}

func newJournal(t testing.TB) *Journal {
	t.Helper()
	return openIn(t, storetest.MemoryProject(t))
}

func openIn(t testing.TB, project string) *Journal {
	t.Helper()
	j, err := openAt(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = j.nbs.Close() })
	return j
}

// project is the folder of the project whose journal it is.
func (j *Journal) project() string { return filepath.Dir(j.nbs.Path()) }

// put writes the journal as somebody else would.
func (j *Journal) put(t testing.TB, text []byte) {
	t.Helper()
	storetest.Write(t, j.Path(), string(text))
}

// putHead writes the head of the journal.
func (j *Journal) putHead(t testing.TB, text []byte) {
	t.Helper()
	storetest.Must(j.heads.Make())
	storetest.Write(t, j.headPath(), string(text))
}

// noted is a line of the journal.
func noted(handle agent.Handle, id agent.SessionID) Event {
	return Event{At: storetest.SomeTime(), Event: "start", Handle: handle, SessionID: id}
}

// eachKill kills an append before each of its system calls in turn, in a journal of its own each
// time. Its lock is free then: who looks on can append.
func eachKill(t *testing.T, begin func() *Journal, check func(j *Journal, killed bool)) {
	t.Helper()
	points := rig.EachKill(t, rig.FileCalls, func() (*exec.Cmd, func(bool)) {
		j := begin()
		return rig.Command("append", j.project()), func(killed bool) { check(j, killed) }
	})
	rig.Check(t, points >= 5, "only %d points", points)
}
