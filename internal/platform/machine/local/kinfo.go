package local

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
)

// kinfoSize is the size of a kinfo_proc of macOS, which sysctl kern.proc gives for each process. The fields that are read
// stand at these places on both architectures.
const (
	kinfoSize = 648

	startedAt      = 0 // a timeval: 8 bytes of seconds, 4 of microseconds
	startedMicroAt = 8
	flagsAt        = 32
	stateAt        = 36
	pidAt          = 40
	nameAt         = 243
	nameSize       = 17
	ownerAt        = 420
	parentAt       = 560
	groupAt        = 564
	terminalAt     = 572
)

// kinfo is what macOS tells of a process at a glance.
type kinfo struct {
	pid, parent, group, owner int
	birth                     uint64 // microseconds since 1970
	state                     byte
	flags                     uint32
	device                    int32 // of its terminal
	name                      string
}

// parseKinfo reads one kinfo_proc.
func parseKinfo(data []byte) (kinfo, error) {
	if len(data) != kinfoSize {
		return kinfo{}, fmt.Errorf("a kinfo_proc of %d bytes", len(data))
	}
	number := func(at int) int32 { return int32(binary.NativeEndian.Uint32(data[at:])) } //nolint:gosec // it is signed there
	return kinfo{
		pid: int(number(pidAt)), parent: int(number(parentAt)), group: int(number(groupAt)), owner: int(binary.NativeEndian.Uint32(data[ownerAt:])),
		birth: binary.NativeEndian.Uint64(data[startedAt:])*1_000_000 + uint64(binary.NativeEndian.Uint32(data[startedMicroAt:])),
		state: data[stateAt], flags: binary.NativeEndian.Uint32(data[flagsAt:]), device: number(terminalAt),
		name: unix.ByteSliceToString(data[nameAt : nameAt+nameSize]),
	}, nil
}

// parseKinfos reads the kinfo_procs of several processes. What is cut short is left out.
func parseKinfos(data []byte) (all []kinfo) {
	for ; len(data) >= kinfoSize; data = data[kinfoSize:] {
		if one, err := parseKinfo(data[:kinfoSize]); err == nil {
			all = append(all, one)
		}
	}
	return all
}

// isZombie reports whether the process has ended and waits only to be reaped.
func (k kinfo) isZombie() bool {
	const zombie = 5 // SZOMB
	return k.state == zombie
}

func (k kinfo) stat() machine.Stat {
	const stopped, exiting = 4, 0x2000 // SSTOP, P_WEXIT
	return machine.Stat{
		Parent: k.parent, Group: k.group, Birth: k.birth, Name: k.name, Terminal: macTerminal(k.device),
		Gone: k.isZombie(), Ending: k.isZombie() || k.flags&exiting != 0, Halted: k.state == stopped,
	}
}

// macTerminal returns the usual name of a terminal, "ttys003", or "" for none. A device has its number in the lower
// three bytes.
func macTerminal(device int32) string {
	const none, minor = -1, 1<<24 - 1
	if device == none || device == 0 {
		return ""
	}
	return fmt.Sprintf("ttys%03d", device&minor)
}
