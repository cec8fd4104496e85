package local

import (
	"encoding/binary"
	"slices"
	"testing"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

// kinfoProc is a kinfo_proc as the kernel of macOS lays it out, with other bytes in between.
func kinfoProc(pid, parent, group, owner uint32, seconds uint64, micro uint32, state byte, flags uint32, device uint32, name string) []byte {
	data := slices.Repeat([]byte{0xa5}, kinfoSize)
	binary.NativeEndian.PutUint64(data[0:], seconds)
	binary.NativeEndian.PutUint32(data[8:], micro)
	binary.NativeEndian.PutUint32(data[32:], flags)
	data[36] = state
	binary.NativeEndian.PutUint32(data[40:], pid)
	copy(data[243:260], append([]byte(name), make([]byte, 17)...))
	binary.NativeEndian.PutUint32(data[420:], owner)
	binary.NativeEndian.PutUint32(data[560:], parent)
	binary.NativeEndian.PutUint32(data[564:], group)
	binary.NativeEndian.PutUint32(data[572:], device)
	return data
}

func TestProcessOfAMac(t *testing.T) {
	t.Parallel()
	const sleeping, stopped, zombie = 3, 4, 5
	claude := kinfoProc(4711, 12, 4700, 501, 1_771_500_000, 123_456, sleeping, 0x4004, 0x10000003, "claude")
	info, err := parseKinfo(claude)
	want := machine.Stat{Parent: 12, Group: 4700, Birth: 1_771_500_000_123_456, Name: "claude", Terminal: "ttys003"}
	rig.Check(t, err == nil && info.pid == 4711 && info.owner == 501 && info.stat() == want, "%+v, %v", info, err)
	for what, c := range map[string]struct {
		state                byte
		flags                uint32
		gone, ending, halted bool
	}{
		"it sleeps":     {sleeping, 0, false, false, false},
		"it is stopped": {stopped, 0, false, false, true},
		"it exits":      {sleeping, 0x2000, false, true, false},
		"a zombie":      {zombie, 0x2000, true, true, false},
	} {
		info, err := parseKinfo(kinfoProc(1, 0, 1, 0, 1, 0, c.state, c.flags, 0xffffffff, "x"))
		got := info.stat()
		rig.Check(t, err == nil && got.Gone == c.gone && got.Ending == c.ending && got.Halted == c.halted && got.Terminal == "", "%s: %+v, %v", what, got, err)
	}
	all := parseKinfos(slices.Concat(claude, kinfoProc(1, 0, 1, 0, 1, 0, sleeping, 0, 0, "a name of 16 byt"), claude[:100]))
	rig.Check(t, len(all) == 2 && all[0].pid == 4711 && all[1].name == "a name of 16 byt", "%+v", all)
	_, err = parseKinfo(claude[:kinfoSize-1])
	rig.Check(t, err != nil, "one that is cut short is read")
}

// at returns an answer of the size with a text in it.
func at(size, place int, text string) []byte {
	answer := make([]byte, size)
	copy(answer[place:], text)
	return answer
}

func TestFilesOfAMac(t *testing.T) {
	t.Parallel()
	path, err := parseFolder(at(2352, 152, "/Users/ann/project"))
	rig.Check(t, err == nil && path == "/Users/ann/project", "%q, %v", path, err)
	_, err = parseFolder(make([]byte, 2351))
	rig.Check(t, err != nil, "a folder that is cut short is read")
	var listed []byte
	for _, one := range [][2]uint32{{0, 1}, {1, 2}, {7, 1}, {8, 5}} { // descriptor and type; 1 is a file, 2 a socket
		listed = binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(listed, one[0]), one[1])
	}
	rig.Check(t, slices.Equal(parseListed(listed), []int{0, 7}), "%v", parseListed(listed))
	answer := at(1200, 176, "/Users/ann/log")
	binary.NativeEndian.PutUint32(answer[24:], 0x1000004)
	binary.NativeEndian.PutUint64(answer[32:], 99)
	file, err := parseFile(answer)
	rig.Check(t, err == nil && file == (openFile{0x1000004, 99, "/Users/ann/log"}), "%+v, %v", file, err)
	used := make([]byte, 96)
	for i, value := range []uint64{1 << 40, 5 << 20, 30, 12} { // virtual and resident size, user and system time
		binary.NativeEndian.PutUint64(used[8*i:], value)
	}
	got, err := parseTask(used)
	rig.Check(t, err == nil && got == task{5 << 20, 42}, "%+v, %v", got, err)
}

// Whatever the kernel answers, nothing is read beyond it, and a short answer is unknown.
func FuzzMacAnswers(f *testing.F) {
	f.Add(kinfoProc(4711, 12, 4700, 501, 1_771_500_000, 123_456, 3, 0x4004, 0x10000003, "claude"))
	f.Add(slices.Concat(kinfoProc(1, 0, 1, 0, 1, 0, 5, 0x2000, 0xffffffff, "launchd"), make([]byte, 100)))
	f.Add(at(2352, 152, "/Users/ann/project"))
	f.Add(at(1200, 176, "/Users/ann/log"))
	f.Add(make([]byte, 96))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := parseKinfo(data)
		rig.Check(t, (err == nil) == (len(data) == kinfoSize) && len(info.name) <= 17, "%d bytes: %+v, %v", len(data), info, err)
		rig.Check(t, !info.isZombie() || info.stat().Gone && info.stat().Ending, "%+v", info.stat())
		rig.Equal(t, len(parseKinfos(data)), len(data)/kinfoSize, "processes in %d bytes", len(data))
		folder, err := parseFolder(data)
		rig.Check(t, (err == nil) == (len(data) >= folderSize) && len(folder) <= pathMax, "%d bytes: %q, %v", len(data), folder, err)
		file, err := parseFile(data)
		rig.Check(t, (err == nil) == (len(data) >= fileSize) && len(file.path) <= pathMax, "%d bytes: %+v, %v", len(data), file, err)
		_, err = parseTask(data)
		rig.Check(t, (err == nil) == (len(data) >= taskSize), "%d bytes: %v", len(data), err)
		rig.Check(t, len(parseListed(data)) <= len(data)/listedSize, "more files than bytes")
	})
}

func FuzzProcArgs(f *testing.F) {
	f.Add(procArgs(3, "/bin/claude\x00\x00\x00claude\x00--model\x00\x00A=1\x00B=x y\x00\x00\x00"))
	f.Add(procArgs(2, "/bin/sh\x00\x00sh\x00-c\x00"))
	f.Add(procArgs(1<<31, "/bin/sh\x00sh\x00"))
	f.Add(procArgs(0, ""))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseProcArgs(data)
		rig.Check(t, err == nil || s.program == "" && s.arguments == nil && s.environ == nil, "a refused answer gives %+v", s)
		rig.Check(t, len(s.program)+len(s.arguments)+len(s.environ) <= len(data), "more than there is: %+v", s)
		rig.Check(t, len(s.arguments) == 0 || s.arguments[len(s.arguments)-1] == 0, "the last argument has no end: %q", s.arguments)
	})
}
