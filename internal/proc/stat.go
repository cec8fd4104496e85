package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"nbs-worker/internal/smallfile"
)

// stat is what is used of /proc/<pid>/stat.
type stat struct {
	state      byte
	ppid       int
	cpuTicks   uint64 // used, in user mode and in the kernel
	startTicks uint64 // clock ticks since boot
}

// gone tells whether the process has ended and waits only to be reaped.
func (s stat) gone() bool { return s.state == 'Z' || s.state == 'X' }

func readStat(pid int) (stat, error) {
	data, err := readProc(pid, "stat")
	if errors.Is(err, syscall.ESRCH) { // it ended between open and read
		return stat{}, os.ErrNotExist
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat reads the fields behind the last ')': the command in front of it may
// hold blanks and parentheses.
func parseStat(data []byte) (stat, error) {
	const stateField, ppidField, userField, systemField, startField = 3, 4, 14, 15, 22 // as proc(5) counts them
	malformed := fmt.Errorf("malformed stat line of %d bytes", len(data))
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, malformed
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) <= startField-stateField {
		return stat{}, malformed
	}
	ppid, err1 := strconv.Atoi(string(fields[ppidField-stateField]))
	ticks, err2 := strconv.ParseUint(string(fields[startField-stateField]), 10, 64)
	user, err3 := strconv.ParseUint(string(fields[userField-stateField]), 10, 64)
	system, err4 := strconv.ParseUint(string(fields[systemField-stateField]), 10, 64)
	if errors.Join(err1, err2, err3, err4) != nil || len(fields[0]) != 1 || !isLetter(fields[0][0]) {
		return stat{}, malformed
	}
	return stat{state: fields[0][0], ppid: ppid, cpuTicks: user + system, startTicks: ticks}, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// procLimit is the most that is read of a file in /proc: an environment may have
// megabytes.
const procLimit = 8 << 20 // bytes

func readProc(pid int, file string) ([]byte, error) {
	return smallfile.Read(procPath(pid, file), procLimit)
}

func procPath(pid int, file string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + file
}
