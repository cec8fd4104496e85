package local

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
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
	data, err := unix.SysctlRaw("kern.proc.all")
	for again := 0; errors.Is(err, unix.ENOMEM) && again < 5; again++ { // processes were started since it was asked for the size
		data, err = unix.SysctlRaw("kern.proc.all")
	}
	if err != nil {
		return nil, os.NewSyscallError("sysctl", err)
	}
	return agent.Mapped(parseKinfos(data), func(one kinfo) int { return one.pid }), nil
}

// The fields that are read stand where golang.org/x/sys has them: the compiler refuses an index that is not 0.
var (
	known unix.KinfoProc

	_ = [1]bool{}[kinfoSize-unsafe.Sizeof(known)]
	_ = [1]bool{}[startedMicroAt-unsafe.Offsetof(known.Proc.P_starttime.Usec)]
	_ = [1]bool{}[flagsAt-unsafe.Offsetof(known.Proc.P_flag)]
	_ = [1]bool{}[stateAt-unsafe.Offsetof(known.Proc.P_stat)]
	_ = [1]bool{}[pidAt-unsafe.Offsetof(known.Proc.P_pid)]
	_ = [1]bool{}[nameAt-unsafe.Offsetof(known.Proc.P_comm)]
	_ = [1]bool{}[ownerAt-unsafe.Offsetof(known.Eproc)-unsafe.Offsetof(known.Eproc.Ucred)-unsafe.Offsetof(known.Eproc.Ucred.Uid)]
	_ = [1]bool{}[parentAt-unsafe.Offsetof(known.Eproc)-unsafe.Offsetof(known.Eproc.Ppid)]
	_ = [1]bool{}[groupAt-unsafe.Offsetof(known.Eproc)-unsafe.Offsetof(known.Eproc.Pgid)]
	_ = [1]bool{}[terminalAt-unsafe.Offsetof(known.Eproc)-unsafe.Offsetof(known.Eproc.Tdev)]
)

func kinfoOf(pid int) (kinfo, error) {
	data, err := unix.SysctlRaw("kern.proc.pid", pid)
	if errors.Is(err, unix.ESRCH) || err == nil && len(data) == 0 { // an answer of no bytes
		return kinfo{}, os.ErrNotExist
	}
	if err != nil {
		return kinfo{}, os.NewSyscallError("sysctl", err)
	}
	return parseKinfo(data)
}

func (kernel) Stat(pid int) (machine.Stat, error) {
	info, err := kinfoOf(pid)
	if err != nil {
		return machine.Stat{}, err
	}
	stat := info.stat()
	stat.CPU = cpuSeconds(pid)
	stat.Session, _ = unix.Getsid(pid) // 0 for a zombie
	return stat, nil
}

func (kernel) Owner(pid int) (uid int, err error) {
	info, err := kinfoOf(pid)
	return info.owner, err
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
	if _, gone := kinfoOf(pid); gone != nil {
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

// What proc_pidinfo and proc_pidfdinfo are asked.
const (
	askFiles  = 1 // PROC_PIDLISTFDS
	askTask   = 4 // PROC_PIDTASKINFO
	askFolder = 9 // PROC_PIDVNODEPATHINFO
	askFile   = 2 // PROC_PIDFDVNODEPATHINFO
)

// ask returns the answer to a question that has one size.
func ask(pid, what, size int) ([]byte, error) {
	answer := make([]byte, size)
	if n := pidInfo(pid, what, answer); n == size {
		return answer, nil
	}
	info, err := kinfoOf(pid)
	switch {
	case err != nil:
		return nil, err
	case info.isZombie():
		return nil, os.ErrNotExist
	}
	return nil, os.ErrPermission
}

func (kernel) Folder(pid int) (string, error) {
	answer, err := ask(pid, askFolder, folderSize)
	if err != nil {
		return "", err
	}
	return parseFolder(answer)
}

// filesOf returns the files and folders that a process has open. One that is closed meanwhile is left out.
func filesOf(pid int) (files []openFile, err error) {
	size := pidInfo(pid, askFiles, nil) // how much there is now
	if size == 0 {
		size = listedSize
	}
	for {
		listed := make([]byte, 2*size)
		n := pidInfo(pid, askFiles, listed)
		if n == 0 {
			_, err := ask(pid, askTask, taskSize)
			return nil, err
		}
		if n == len(listed) {
			size = n
			continue
		}
		answer := make([]byte, fileSize)
		for _, fd := range parseListed(listed[:n]) {
			if fileInfo(pid, fd, askFile, answer) == fileSize {
				if file, err := parseFile(answer); err == nil {
					files = append(files, file)
				}
			}
		}
		return files, nil
	}
}

func (kernel) HasOpen(pid int, path string) (bool, error) {
	var wanted unix.Stat_t
	if err := unix.Stat(path, &wanted); err != nil {
		return false, err
	}
	files, err := filesOf(pid)
	return slices.ContainsFunc(files, func(f openFile) bool {
		return f.device == uint32(wanted.Dev) && f.inode == wanted.Ino //nolint:gosec // the same number, signed and not
	}), err
}

func (kernel) Opened(pid int) ([]string, error) {
	files, err := filesOf(pid)
	return agent.Mapped(files, func(f openFile) string { return f.path }), err
}

func (kernel) Usage(pid int) (machine.Usage, error) {
	answer, err := ask(pid, askTask, taskSize)
	if err != nil {
		return machine.Usage{}, err
	}
	task, err := parseTask(answer)
	return machine.Usage{RSS: task.resident}, err
}

// cpuSeconds returns the processor time of a process, without its children; 0 if that is not known.
func cpuSeconds(pid int) float64 {
	answer := make([]byte, taskSize)
	task, err := parseTask(answer[:pidInfo(pid, askTask, answer)])
	perSecond, err2 := unix.SysctlUint64("hw.tbfrequency")
	if err != nil || err2 != nil || perSecond == 0 {
		return 0
	}
	return float64(task.used) / float64(perSecond)
}

func (kernel) Cgroup(int) (string, error) { return "", machine.ErrUnknown }

func (kernel) MemoryKills(int) (machine.MemoryKills, error) { return nil, machine.ErrUnknown }
