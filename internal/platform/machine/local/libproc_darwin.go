package local

import (
	"syscall"
	"unsafe"
)

// The functions of libproc have no wrapper in golang.org/x/sys. They are called as that package calls libSystem: a system
// call by its number is no stable interface of macOS.

//go:cgo_import_dynamic libc_proc_pidinfo proc_pidinfo "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_proc_pidfdinfo proc_pidfdinfo "/usr/lib/libSystem.B.dylib"

var (
	procPIDInfo   uintptr // the address of its trampoline, set in libproc_darwin.s
	procPIDFDInfo uintptr
)

//go:linkname syscall6 syscall.syscall6
func syscall6(fn, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno)

// pidInfo fills the answer, and returns how much of it was filled: 0 if the process has ended or belongs to another user.
func pidInfo(pid, what int, answer []byte) int {
	n, _, _ := syscall6(procPIDInfo, uintptr(pid), uintptr(what), 0, uintptr(unsafe.Pointer(unsafe.SliceData(answer))), uintptr(len(answer)), 0)
	return filled(n, answer)
}

// fileInfo is [pidInfo] for an open file.
func fileInfo(pid, fd, what int, answer []byte) int {
	n, _, _ := syscall6(procPIDFDInfo, uintptr(pid), uintptr(fd), uintptr(what), uintptr(unsafe.Pointer(unsafe.SliceData(answer))), uintptr(len(answer)), 0)
	return filled(n, answer)
}

// filled reads an int of C, which is 0 or -1 after an error.
func filled(n uintptr, answer []byte) int {
	return min(max(int(int32(n)), 0), len(answer)) //nolint:gosec // the upper half may be anything
}
