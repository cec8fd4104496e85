package portable

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const socketPathMax = 107 // bytes: sun_path without its end

// PathOf names an open file or folder, whatever has become of its name.
func PathOf(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// Inside names an entry of an open folder by a path that is short, as that of a socket must be.
func Inside(folder *os.File, name string) string { return filepath.Join(PathOf(folder), name) }

// LinkOpen gives an open file another name, in an open folder or, with [unix.AT_FDCWD], by its path.
func LinkOpen(f *os.File, dir int, name string) error {
	return unix.Linkat(unix.AT_FDCWD, PathOf(f), dir, name, unix.AT_SYMLINK_FOLLOW)
}

// RenameNew renames a file to a name that is free. Errors: [errors.ErrUnsupported] where the file system cannot.
func RenameNew(dir int, from string, toDir int, to string) error {
	err := unix.Renameat2(dir, from, toDir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // such as NFS
		return errors.ErrUnsupported
	}
	return err
}

// CreateClone creates a file that only this user may read, in an open folder or, with [unix.AT_FDCWD], by its path. If the
// file system can, the file has the content of another one and shares its blocks; otherwise it is empty.
func CreateClone(dir int, name string, from *os.File) (f *os.File, cloned bool, err error) {
	if f, err = create(dir, name); err != nil {
		return nil, false, err
	}
	return f, unix.IoctlFileClone(int(f.Fd()), int(from.Fd())) == nil, nil
}

// FreeBeginning gives back the space of the first bytes of a file, which are zeros then. Its size stays. Errors:
// [errors.ErrUnsupported] where the file system cannot.
func FreeBeginning(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}

// SetModified sets the time at which an open file was modified, and leaves that of its last use.
func SetModified(f *os.File, at time.Time) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(at.UnixNano())}
	return unix.UtimesNanoAt(unix.AT_FDCWD, PathOf(f), times, 0)
}

// Touch sets the time at which a file was modified to now. It follows no link.
func Touch(path string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_NOW}}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, now, unix.AT_SYMLINK_NOFOLLOW)
}

// ModifiedOf is when a file was modified.
func ModifiedOf(stat *unix.Stat_t) time.Time { return time.Unix(stat.Mtim.Unix()) }

// KeepFromChildren marks all descriptors from the first on, so that no child inherits them.
func KeepFromChildren(first int) {
	_ = unix.CloseRange(uint(first), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // kernels before 5.11 lack this
}

// AdoptOrphans makes this process the parent of each process below it whose own parent ends.
func AdoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// DropInput discards what was typed at a terminal and not read yet.
func DropInput(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}

// Modes returns how a terminal takes input and writes output.
func Modes(terminal *os.File) (*unix.Termios, error) {
	return unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
}

// SetModes sets what Modes returned.
func SetModes(terminal *os.File, modes *unix.Termios) error {
	return unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, modes)
}

// Socket makes a Unix stream socket that does not block, and that no child inherits.
func Socket() (fd int, err error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

// PeerPID returns the pid of the process that listens at the other end of a socket; 0 if it has none in this pid
// namespace.
func PeerPID(fd int) (int, error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}

// HasExited reports whether a child of this process has ended, also when it has not been waited for.
func HasExited(child int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, child, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD) || err == nil && info.Signo == int32(unix.SIGCHLD)
}
