package local

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
)

// The answers of proc_pidinfo and proc_pidfdinfo of macOS, by <sys/proc_info.h>. They are the same on both architectures.
const (
	pathMax      = 1024
	vnodeSize    = 152 // what stands before a path
	folderSize   = 2 * (vnodeSize + pathMax)
	taskSize     = 96
	residentAt   = 8 // in a task
	userTimeAt   = 16
	systemTimeAt = 24

	listedSize = 8  // an open file: its descriptor and its type
	fileHead   = 24 // how it was opened
	fileSize   = fileHead + vnodeSize + pathMax
	deviceAt   = fileHead
	inodeAt    = fileHead + 8
)

// parseFolder reads a proc_vnodepathinfo: the working directory, then the root directory.
func parseFolder(answer []byte) (string, error) {
	if len(answer) < folderSize {
		return "", machine.ErrUnknown
	}
	return unix.ByteSliceToString(answer[vnodeSize : vnodeSize+pathMax]), nil
}

// task is what a process uses, without its children.
type task struct {
	resident uint64 // bytes
	used     uint64 // time of a processor, in the unit of the machine's clock
}

// parseTask reads a proc_taskinfo.
func parseTask(answer []byte) (task, error) {
	if len(answer) < taskSize {
		return task{}, machine.ErrUnknown
	}
	number := func(at int) uint64 { return binary.NativeEndian.Uint64(answer[at:]) }
	return task{number(residentAt), number(userTimeAt) + number(systemTimeAt)}, nil
}

// parseListed reads the proc_fdinfos of a process, and returns the descriptors of files and folders.
func parseListed(answer []byte) (fds []int) {
	const vnode = 1 // PROX_FDTYPE_VNODE
	for ; len(answer) >= listedSize; answer = answer[listedSize:] {
		if binary.NativeEndian.Uint32(answer[4:]) == vnode {
			fds = append(fds, int(binary.NativeEndian.Uint32(answer)))
		}
	}
	return fds
}

// openFile is a file or folder that a process has open.
type openFile struct {
	device uint32
	inode  uint64
	path   string
}

// parseFile reads a vnode_fdinfowithpath.
func parseFile(answer []byte) (openFile, error) {
	if len(answer) < fileSize {
		return openFile{}, machine.ErrUnknown
	}
	return openFile{
		binary.NativeEndian.Uint32(answer[deviceAt:]), binary.NativeEndian.Uint64(answer[inodeAt:]),
		unix.ByteSliceToString(answer[fileHead+vnodeSize : fileSize]),
	}, nil
}
