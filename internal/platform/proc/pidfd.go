package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// pidfsMagic marks the file system of pidfds, which Linux has since 6.9. Before that, all pidfds of a machine had one
// inode.
const pidfsMagic = 0x50494446

// inode returns the inode of a process's pidfd, and whether the process has ended. Since Linux 6.9 no other process
// has the inode until the next boot. A call costs a quarter of reading /proc/<pid>/stat, which adds up the times of
// all threads. Errors: [os.ErrNotExist].
func inode(pid int) (inode uint64, ended bool, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return 0, true, os.ErrNotExist
	}
	if err != nil {
		return 0, false, os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return 0, false, os.NewSyscallError("fstat", err)
	}
	polled := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
	n, err := unix.Poll(polled[:], 0)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return 0, false, os.NewSyscallError("poll", err)
	}
	return stat.Ino, n > 0, nil
}

// uniqueInode returns the inode of a process's pidfd if no other process has it, or 0.
func uniqueInode(pid int) uint64 {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var system unix.Statfs_t
	var stat unix.Stat_t
	if unix.Fstatfs(fd, &system) != nil || system.Type != pidfsMagic || unix.Fstat(fd, &stat) != nil {
		return 0
	}
	return stat.Ino
}
