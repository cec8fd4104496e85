// Package private reads and writes private files of this user: the folder of a project ([Folder],
// its .nbs) and the user's folders outside of every project ([Tree]). Only the packages of
// internal/store may use it.
//
//   - Files are 0600 in folders of 0700, whatever the umask. What another user owns or could
//     have written is refused with a remedy: records become arguments of programs.
//   - A file is replaced by renaming. A reader sees the old or the new content and takes no lock.
//     [Folder.WriteJSON] syncs file and folder; HandOver syncs nothing, for what ends with this boot.
//   - No planted link is followed, and no pipe is waited for. A Folder is an [os.Root], so that no
//     name leads out of it; a Tree is reopened for each read or change.
//   - Lock files are in the folder's locks, are never removed and are waited for in the kernel.
//   - An error of a full or read-only disk has its remedy ([Remedied]).
//
// The package does not know what is in the files.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Check refuses a folder that another user could have put there or can write to: records become arguments of
// programs.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fail.Errorf(fail.BadInput, "%s is not a folder", human.Quote(path)).
			Hint("look at it: ls -ld %s", human.ShellWord(path))
	}
	return CheckOwn(path, info)
}

// CheckOwn refuses a file or folder that another user owns or could have written.
func CheckOwn(path string, info fs.FileInfo) error {
	owner := info.Sys().(*syscall.Stat_t).Uid
	if int(owner) == os.Geteuid() && info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	return foreign(path, owner, info.Mode())
}

// foreign returns the error for what belongs to another user, or can be written by one.
func foreign(path string, owner uint32, mode fs.FileMode) error {
	if int(owner) != os.Geteuid() {
		return fail.Errorf(fail.BadInput, "%s belongs to user id %d, not to this user (%d)", human.Quote(path), owner, os.Geteuid()).
			Hint("%s", takeOver(path, owner))
	}
	private := 0o600
	if mode.IsDir() {
		private = 0o700
	}
	return fail.Errorf(fail.BadInput, "%s can be written by other users (mode %04o)", human.Quote(path), mode.Perm()).
		Hint("look at what is in it, then: chmod %o %s", private, human.ShellWord(path))
}

// takeOver returns the remedy for files of another user. Only files that root left behind may be made the
// user's own, after a look at them. To take over any other user's files is to trust their content.
func takeOver(path string, owner uint32) string {
	if owner == 0 {
		return fmt.Sprintf("if root ran nbs-worker here for you, look at what is in it, then: sudo chown -R %d %s", os.Geteuid(), human.ShellWord(path))
	}
	return "run the command as that user; to see what is there: ls -ldn " + human.ShellWord(path)
}

// MoveTo returns the command that appends a suffix to the name of a file.
func MoveTo(path, suffix string) string {
	return "mv " + human.ShellWord(path) + " " + human.ShellWord(path+suffix)
}

// Remedied adds to an error of the disk that holds a folder what can be done about it.
func Remedied(folder string, err error) error {
	at := human.ShellWord(folder)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail.Errorf(fail.Failed, "%w", err).Hint("make room there, then repeat the command: df -h %s", at)
	case errors.Is(err, syscall.EROFS):
		return fail.Errorf(fail.Failed, "%w", err).Hint("make it writable, then repeat the command; to see where it is mounted: findmnt -T %s", at)
	}
	return err
}
