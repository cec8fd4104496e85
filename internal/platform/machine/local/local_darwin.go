package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
)

func (kernel) Place() (machine.Place, error) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return machine.Place{}, os.NewSyscallError("sysctl", err)
	}
	host, err := os.Hostname()
	return machine.Place{BootID: strings.ToLower(boot), Host: host}, err
}

func (kernel) BootTime() (time.Time, error) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, os.NewSyscallError("sysctl", err)
	}
	return time.Unix(at.Sec, 0), nil
}

// Load reads three fixed-point numbers and, behind a gap, what stands for one.
func (kernel) Load() (float64, error) {
	raw, err := unix.SysctlRaw("vm.loadavg")
	const scaleAt = 16
	if err != nil || len(raw) < scaleAt+8 {
		return 0, machine.ErrUnknown
	}
	return float64(binary.NativeEndian.Uint32(raw)) / float64(binary.NativeEndian.Uint64(raw[scaleAt:])), nil
}

func (kernel) PIDs() ([]int, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, os.NewSyscallError("sysctl", err)
	}
	pids := make([]int, len(all))
	for i := range all {
		pids[i] = int(all[i].Proc.P_pid)
	}
	return pids, nil
}

func kinfo(pid int) (*unix.KinfoProc, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) { // an answer of no bytes
		return nil, os.ErrNotExist
	}
	if err != nil {
		return nil, os.NewSyscallError("sysctl", err)
	}
	return info, nil
}

// birthOf is when a process started, in microseconds since 1970.
func birthOf(info *unix.KinfoProc) uint64 {
	return uint64(info.Proc.P_starttime.Sec)*1e6 + uint64(info.Proc.P_starttime.Usec) //nolint:gosec // both are positive
}

func (kernel) Stat(pid int) (machine.Stat, error) {
	info, err := kinfo(pid)
	if err != nil {
		return machine.Stat{}, err
	}
	const stopped, zombie, exiting = 4, 5, 0x2000 // SSTOP, SZOMB, P_WEXIT
	state := info.Proc.P_stat
	return machine.Stat{
		Parent: int(info.Eproc.Ppid), Birth: birthOf(info), Name: unix.ByteSliceToString(info.Proc.P_comm[:]),
		Terminal: terminalName(info.Eproc.Tdev), CPU: cpuSeconds(pid),
		Gone: state == zombie, Ending: state == zombie || info.Proc.P_flag&exiting != 0, Halted: state == stopped,
	}, nil
}

// terminalName returns the usual name of a terminal, "ttys003", or "" for none.
func terminalName(device int32) string {
	const none = -1
	if device == none || device == 0 {
		return ""
	}
	return fmt.Sprintf("ttys%03d", unix.Minor(uint64(device))) //nolint:gosec // a device number
}

func (kernel) Owner(pid int) (uid int, err error) {
	info, err := kinfo(pid)
	if err != nil {
		return 0, err
	}
	return int(info.Eproc.Ucred.Uid), nil
}

func (kernel) Age(birth uint64) (time.Duration, error) {
	return time.Since(time.UnixMicro(int64(birth))), nil //nolint:gosec // far below the limit
}

func (kernel) Children(int) ([]int, error) { return nil, machine.ErrUnknown }

func startOf(pid int) (started, error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err == nil {
		return parseProcArgs(raw)
	}
	if _, gone := kinfo(pid); gone != nil {
		return started{}, gone
	}
	return started{}, machine.ErrUnknown // another user's, or a zombie
}

func (kernel) Arguments(pid int) ([]byte, error) {
	s, err := startOf(pid)
	return s.arguments, err
}

func (kernel) Environ(pid int) ([]byte, error) {
	s, err := startOf(pid)
	if err == nil && s.environ == nil {
		err = machine.ErrUnknown // macOS does not show that of a protected program
	}
	return s.environ, err
}

func (kernel) Program(pid int) (path string, err error) {
	s, err := startOf(pid)
	return s.program, err
}

// What proc_info(2) is asked, as in <sys/proc_info.h>.
const (
	pidInfo      = 2 // the call: PROC_INFO_CALL_PIDINFO
	listFiles    = 1 // PROC_PIDLISTFDS
	taskInfo     = 4 // PROC_PIDTASKINFO
	folderInfo   = 9 // PROC_PIDVNODEPATHINFO
	fileSize     = 8
	folderSize   = 2 * (vnodeSize + unix.PathMax)
	vnodeSize    = 152 // what stands before the path
	taskSize     = 96
	residentAt   = 8 // in a task
	userTimeAt   = 16
	systemTimeAt = 24
)

// ask fills the answer, and returns how much of it was filled. Without one it returns what would be needed.
func ask(pid int, what uintptr, answer []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, pidInfo, uintptr(pid), what, 0, uintptr(unsafe.Pointer(unsafe.SliceData(answer))), uintptr(len(answer)))
	switch {
	case errno == unix.ESRCH:
		return 0, os.ErrNotExist
	case errno != 0:
		return 0, os.NewSyscallError("proc_info", errno)
	}
	return int(n), nil
}

func (kernel) Folder(pid int) (string, error) {
	answer := make([]byte, folderSize)
	n, err := ask(pid, folderInfo, answer)
	if err != nil {
		return "", err
	}
	if n < folderSize {
		return "", machine.ErrUnknown
	}
	return unix.ByteSliceToString(answer[vnodeSize : vnodeSize+unix.PathMax]), nil
}

func (kernel) HasOpen(int, string) (bool, error) { return false, machine.ErrUnknown }

func (kernel) Opened(int) ([]string, error) { return nil, machine.ErrUnknown }

func (kernel) Usage(pid int) (machine.Usage, error) {
	answer := make([]byte, taskSize)
	n, err := ask(pid, taskInfo, answer)
	if err != nil {
		return machine.Usage{}, err
	}
	if n < taskSize {
		return machine.Usage{}, machine.ErrUnknown
	}
	return machine.Usage{RSS: binary.NativeEndian.Uint64(answer[residentAt:])}, nil
}

// cpuSeconds returns the processor time of a process, without its children; 0 if that is not known.
func cpuSeconds(pid int) float64 {
	answer := make([]byte, taskSize)
	n, err := ask(pid, taskInfo, answer)
	perSecond, err2 := unix.SysctlUint64("hw.tbfrequency")
	if err != nil || err2 != nil || n < taskSize || perSecond == 0 {
		return 0
	}
	return float64(binary.NativeEndian.Uint64(answer[userTimeAt:])+binary.NativeEndian.Uint64(answer[systemTimeAt:])) / float64(perSecond)
}

func (kernel) Cgroup(int) (string, error) { return "", machine.ErrUnknown }

func (kernel) MemoryKills(int) (machine.MemoryKills, error) { return nil, machine.ErrUnknown }
