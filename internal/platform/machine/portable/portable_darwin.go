package portable

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const socketPathMax = 103 // bytes: sun_path without its end

// PathOf names an open file or folder by the name with which it was opened: macOS opens nothing through a descriptor.
func PathOf(f *os.File) string { return f.Name() }

// Inside names an entry of an open folder.
func Inside(folder *os.File, name string) string { return filepath.Join(folder.Name(), name) }

// LinkOpen gives an open file another name, in an open folder or, with [unix.AT_FDCWD], by its path. It fails if the
// file is not at the name with which it was opened any more.
func LinkOpen(f *os.File, dir int, name string) error {
	if err := unix.Linkat(unix.AT_FDCWD, f.Name(), dir, name, 0); err != nil {
		return err
	}
	var opened, linked unix.Stat_t
	err := errors.Join(unix.Fstat(int(f.Fd()), &opened), unix.Fstatat(dir, name, &linked, unix.AT_SYMLINK_NOFOLLOW))
	if err == nil && (opened.Dev != linked.Dev || opened.Ino != linked.Ino) {
		err = unix.ESTALE
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(dir, name, 0))
	}
	return nil
}

// RenameNew renames a file to a name that is free. Errors: [errors.ErrUnsupported] where the file system cannot.
func RenameNew(dir int, from string, toDir int, to string) error {
	err := unix.RenameatxNp(dir, from, toDir, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// CreateClone creates a file that only this user may read, in an open folder or, with [unix.AT_FDCWD], by its path. If the
// file system can, the file has the content of another one and shares its blocks; otherwise it is empty.
func CreateClone(dir int, name string, from *os.File) (f *os.File, cloned bool, err error) {
	if unix.Fclonefileat(int(from.Fd()), dir, name, unix.CLONE_NOFOLLOW|unix.CLONE_NOOWNERCOPY) != nil { // it takes only a name that is free
		f, err = create(dir, name)
		return f, false, err
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, &os.PathError{Op: "open", Path: name, Err: err}
	}
	f = os.NewFile(uintptr(fd), name)
	if err := f.Chmod(0o600); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}

// FreeBeginning is not done on macOS.
func FreeBeginning(_ *os.File, _ int64) error { return errors.ErrUnsupported }

// SetModified sets the time at which an open file was modified, in microseconds, and that of its last use.
func SetModified(f *os.File, at time.Time) error {
	when := unix.NsecToTimeval(at.UnixNano())
	return unix.Futimes(int(f.Fd()), []unix.Timeval{when, when})
}

// Touch sets the time at which a file was modified to now. It follows no link.
func Touch(path string) error {
	now := unix.NsecToTimespec(time.Now().UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW)
}

// ModifiedOf is when a file was modified.
func ModifiedOf(stat *unix.Stat_t) time.Time { return time.Unix(stat.Mtim.Unix()) }

// KeepFromChildren marks all descriptors from the first on, so that no child inherits them.
func KeepFromChildren(first int) {
	entries, _ := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// AdoptOrphans does nothing: on macOS an orphan's parent is launchd.
func AdoptOrphans() {}

// DropInput discards what was typed at a terminal and not read yet.
func DropInput(terminal *os.File) {
	const read = 0x1 // FREAD
	_ = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCFLUSH, read)
}

// Modes returns how a terminal takes input and writes output.
func Modes(terminal *os.File) (*unix.Termios, error) {
	return unix.IoctlGetTermios(int(terminal.Fd()), unix.TIOCGETA)
}

// SetModes sets what Modes returned.
func SetModes(terminal *os.File, modes *unix.Termios) error {
	return unix.IoctlSetTermios(int(terminal.Fd()), unix.TIOCSETA, modes)
}

// Socket makes a Unix stream socket that does not block, and that no child inherits.
func Socket() (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return 0, err
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// PeerPID returns the pid of the process that listens at the other end of a socket.
func PeerPID(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID) }

// HasExited reports whether a child of this process has ended, also when it has not been waited for.
func HasExited(child int) bool {
	const zombie = 5 // SZOMB
	info, err := unix.SysctlKinfoProc("kern.proc.pid", child)
	return errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) || err == nil && info.Proc.P_stat == zombie // EIO: an answer of no bytes
}
