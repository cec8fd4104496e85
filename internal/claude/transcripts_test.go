package claude

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestTranscriptIsFoundInWhateverFolder(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	if _, found, err := c.Transcript(sessionID); found || err != nil {
		t.Fatalf("without any: found %t, %v", found, err)
	}
	c.put(t, "projects/-srv-other/"+string(otherID)+".jsonl", userLine)
	c.put(t, "projects/-srv-project/"+string(sessionID)+".jsonl.unspoken", userLine)
	c.put(t, "projects/"+string(sessionID)+".jsonl", userLine) // not in a project's folder
	rig.Must(t, os.MkdirAll(filepath.Join(c.dir, "projects/-a", string(sessionID)+".jsonl"), 0o700))
	if _, found, err := c.Transcript(sessionID); found || err != nil {
		t.Fatalf("only what looks like it: found %t, %v", found, err)
	}
	old := c.put(t, "projects/-srv-a-b-c/"+string(sessionID)+".jsonl", userLine)
	if got, found, err := c.Transcript(sessionID); got.Path != old || !found || got.Size != int64(len(userLine)) || err != nil {
		t.Errorf("Transcript = %+v, %t, %v; want %s", got, found, err, old)
	}
	fresh := c.put(t, "projects/-Z/"+string(sessionID)+".jsonl", userLine+userLine)
	rig.Must(t, os.Chtimes(old, someTime(), someTime()))
	rig.Must(t, os.Chtimes(fresh, someTime(), someTime().Add(time.Second)))
	got, _, err := c.Transcript(sessionID)
	rig.Check(t, got.Path == fresh && err == nil, "of two: %s, %v; want the one written last, %s", got.Path, err, fresh)
}

func TestTranscriptThatCannotBeLookedForIsNotAbsent(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	c.put(t, "projects", "a file")
	_, found, err := c.Transcript(sessionID)
	rig.Check(t, !found && err != nil, "found %t, %v; want an error", found, err)
}

// One folder that cannot be looked into may be the one that has it; a file, or a link to nothing, cannot.
func TestTranscriptThatMayBeInAnUnreadableFolderIsNotAbsent(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	c.put(t, "projects/a-file", "")
	rig.Must(t, os.Symlink("nowhere", filepath.Join(c.projects(), "-dangling")))
	_, found, err := c.Transcript(sessionID)
	rig.Check(t, !found && err == nil, "beside what is no folder: found %t, %v", found, err)
	rig.Must(t, os.Symlink("-loop", filepath.Join(c.projects(), "-loop")))
	_, found, err = c.Transcript(sessionID)
	rig.Check(t, !found && errors.Is(err, syscall.ELOOP), "found %t, %v; want the error of the folder", found, err)
	opening, err := c.Open(&agent.Record{Spec: agent.Spec{SessionID: sessionID}, TranscriptSeen: someTime()})
	rig.Check(t, opening == "" && errors.Is(err, syscall.ELOOP), "Open = %q, %v; want the error of the folder", opening, err)
	want := c.putTranscript(t, userLine)
	got, found, err := c.Transcript(sessionID)
	rig.Check(t, found && got == want && err == nil, "found elsewhere: %+v, %t, %v", got, found, err)
}

// A folder that another user has made, as claude does when it is run with sudo, hides no transcript of this user's.
func TestTranscriptIsNotInAnotherUsersFolder(t *testing.T) {
	c := newConfig(t)
	folder := filepath.Join(c.projects(), "-private")
	rig.Must(t, os.MkdirAll(folder, 0o700))
	rig.Must(t, os.Chmod(folder, 0))
	var found bool
	var err error
	rig.AsPlainUser(t, func() { _, found, err = c.Transcript(sessionID) })
	rig.Check(t, !found && errors.Is(err, os.ErrPermission), "this user's: found %t, %v; want that it is closed", found, err)
	rig.GiveAway(t, folder)
	rig.AsPlainUser(t, func() { _, found, err = c.Transcript(sessionID) })
	rig.Check(t, !found && err == nil, "another user's: found %t, %v", found, err)
	seen := agent.Record{Spec: agent.Spec{SessionID: sessionID}, TranscriptSeen: someTime()}
	rig.AsPlainUser(t, func() { _, err = c.Open(&seen) })
	rig.Check(t, errors.Is(err, ErrClosed) && errors.Is(err, os.ErrPermission), "one that was seen is opened with %v", err)
	rig.AsPlainUser(t, func() { _, found, err = c.TranscriptOf(&seen) })
	rig.Check(t, !found && errors.Is(err, os.ErrPermission), "one that was seen is looked for with %v", err)
}

func TestHasMessages(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	rig.Gives(t, false, "without a transcript")(c.HasMessages(sessionID))
	c.putTranscript(t, metaLine)
	rig.Gives(t, false, "with a stub")(c.HasMessages(sessionID))
	c.putTranscript(t, metaLine, userLine)
	rig.Gives(t, true, "with a message")(c.HasMessages(sessionID))
}

// A disk of which only the reserved blocks are left is full for a user, and not for root, whose claude goes on writing.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk       unix.Statfs_t
		user, root bool
	}{
		"room":          {unix.Statfs_t{Blocks: 9, Bfree: 3, Bavail: 2}, false, false},
		"reserved only": {unix.Statfs_t{Blocks: 9, Bfree: 1}, true, false},
		"nothing":       {unix.Statfs_t{Blocks: 9}, true, true},
		"not said":      {unix.Statfs_t{}, false, false},
	} {
		user, root := isFull(&c.disk, 1000), isFull(&c.disk, 0)
		rig.Check(t, user == c.user && root == c.root, "%s: full for a user %t, for root %t", name, user, root)
	}
}
