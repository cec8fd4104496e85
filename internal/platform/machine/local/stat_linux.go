package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/smallfile"
)

// stat holds the used fields of /proc/<pid>/stat.
type stat struct {
	name       string
	state      byte
	ppid       int
	group      int
	session    int
	terminal   uint64 // device number; 0: none
	startTicks uint64 // clock ticks since boot
	flags      uint64 // of the kernel: PF_EXITING and others
	usedTicks  uint64 // clock ticks of a processor, user and system, all threads, and children that were waited for
	pending    uint64 // signals that wait for the first thread; bit 0 is signal 1
	exitCode   int    // signal, or status << 8; 0 where it may not be known. From Linux 6.0 on set when all threads are to end
}

// gone reports whether the process has ended and waits only to be reaped.
func (s stat) gone() bool { return s.state == 'Z' || s.state == 'X' }

// ending reports whether the process is certain to end: it was sent SIGKILL, which the kernel delivers to every
// thread, or it is exiting already. It may still wait for a processor, and for its memory to be freed.
func (s stat) ending() bool {
	const exiting, signaled = 0x4, 0x400 // PF_EXITING, PF_SIGNALED
	return s.gone() || s.flags&(exiting|signaled) != 0 || s.pending&(1<<(syscall.SIGKILL-1)) != 0 || s.exitCode == int(syscall.SIGKILL)
}

// Stat also shows whether SIGKILL was sent to the process. The kernel prints a line's flags before its pending signals,
// so a process that takes up the signal in between shows neither, and is read again. Only a process that does not
// sleep can do so. Before Linux 6.0 the exit code does not show it either.
func (kernel) Stat(pid int) (machine.Stat, error) {
	read, err := readStat(pid)
	if err == nil && read.state != 'S' && read.state != 'I' && !read.ending() {
		read, err = readStat(pid)
	}
	if err != nil {
		return machine.Stat{}, err
	}
	return machine.Stat{
		Parent: read.ppid, Group: read.group, Session: read.session, Birth: read.startTicks, Name: read.name, Terminal: terminalName(read.terminal),
		CPU:  float64(read.usedTicks) / ticksPerSecond,
		Gone: read.gone(), Ending: read.ending(), Halted: read.state == 'T',
	}, nil
}

// terminalName returns the usual name of a terminal, "pts/3", or "" for none.
func terminalName(device uint64) string {
	const pts = 136 // the first of eight major numbers of pseudo terminals, each with 256 of them
	major, minor := unix.Major(device), unix.Minor(device)
	switch {
	case device == 0:
		return ""
	case major >= pts && major < pts+8:
		return "pts/" + strconv.Itoa(int(major-pts)<<8+int(minor))
	}
	return fmt.Sprintf("%d:%d", major, minor)
}

func readStat(pid int) (read stat, err error) {
	line, err := smallfile.Read(procPath(pid, "stat"), statLimit)
	if err == nil {
		read, err = parseStat(line)
	}
	if errors.Is(err, syscall.ESRCH) { // it ended between open and read
		err = os.ErrNotExist
	}
	return read, err
}

// statLimit is more than a stat line can have: 52 numbers and a name of 64 bytes.
const statLimit = 2 << 10 // bytes

// The fields of a stat line that are read, as proc(5) counts them.
const (
	stateField   = 3
	ppidField    = 4
	groupField   = 5
	sessionField = 6
	ttyField     = 7
	flagsField   = 9
	utimeField   = 14
	stimeField   = 15
	cutimeField  = 16
	cstimeField  = 17
	startField   = 22
	pendingField = 31
	exitField    = 52
)

// parseStat reads the name and the fields behind the last ')': the name may contain blanks and parentheses.
func parseStat(data []byte) (stat, error) {
	var fields [exitField + 1][]byte // by their numbers
	end := bytes.LastIndexByte(data, ')')
	i := stateField
	for word := range bytes.FieldsSeq(data[end+1:]) {
		if i > exitField {
			break
		}
		fields[i] = word
		i++
	}
	ppid, err1 := strconv.Atoi(string(fields[ppidField]))
	group, err10 := strconv.Atoi(string(fields[groupField]))
	session, err11 := strconv.Atoi(string(fields[sessionField]))
	terminal, err3 := strconv.ParseUint(string(fields[ttyField]), 10, 32)
	ticks, err2 := strconv.ParseUint(string(fields[startField]), 10, 64)
	flags, err4 := strconv.ParseUint(string(fields[flagsField]), 10, 64)
	pending, err5 := strconv.ParseUint(string(fields[pendingField]), 10, 64)
	user, err6 := strconv.ParseUint(string(fields[utimeField]), 10, 64)
	system, err7 := strconv.ParseUint(string(fields[stimeField]), 10, 64)
	childUser, err8 := strconv.ParseUint(string(fields[cutimeField]), 10, 64)
	childSystem, err9 := strconv.ParseUint(string(fields[cstimeField]), 10, 64)
	code, _ := strconv.Atoi(string(fields[exitField])) // without, there are the older signs of an end
	state := fields[stateField]
	if end < 0 || errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11) != nil || len(state) != 1 || !isLetter(state[0]) {
		return stat{}, fmt.Errorf("malformed stat line of %d bytes", len(data))
	}
	_, name, _ := bytes.Cut(data[:end], []byte{'('})
	return stat{
		name: string(name), state: state[0], ppid: ppid, group: group, session: session, terminal: terminal, startTicks: ticks, flags: flags, pending: pending, exitCode: code,
		usedTicks: user + system + childUser + childSystem,
	}, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
