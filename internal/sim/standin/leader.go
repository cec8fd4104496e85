package standin

import (
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const leaderDies = "leader-dies"

// Main has to run in the leader of the thread group. Only init can bind the first goroutine, which runs main, to it.
func init() { //nolint:gochecknoinits // later it is too late
	if strings.Contains(os.Getenv("NBS_SIM_CLAUDE"), leaderDies) {
		runtime.LockOSThread()
	}
}

// besideTheLeader runs the program in other threads. SIGUSR1 ends the leader at once, and all
// others some time later, because the threads of a killed program need not all end at one moment.
func besideTheLeader(later time.Duration, program func() int) int {
	told, code := make(chan os.Signal, 1), make(chan int, 1)
	signal.Notify(told, syscall.SIGUSR1)
	go func() { code <- program() }()
	select {
	case c := <-code:
		return c
	case <-told:
	}
	time.AfterFunc(later, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	panic(errno) // it does not return
}
