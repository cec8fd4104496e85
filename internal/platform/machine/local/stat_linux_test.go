package local

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// statLine is a line of /proc/<pid>/stat with the command in place.
func statLine(comm string) string {
	return "4711 (" + comm + ") S 12 4711 4712 34816 4711 4194304 1 0 0 0 1 2 3 4 20 0 9 0 353737 1 2 3 4 5 6 7 8 256 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 9\n"
}

func TestParseStatReadsBehindTheCommand(t *testing.T) {
	t.Parallel()
	for _, comm := range []string{"claude", "tmux: server", ") (", ") Z 1 1", "a) S 1 2 3 (b", "", "()", "\n", "\xff"} {
		got, err := parseStat([]byte(statLine(comm)))
		want := (stat{name: comm, state: 'S', ppid: 12, group: 4711, session: 4712, startTicks: 353737, terminal: 34816, flags: 4194304, usedTicks: 10, pending: 256, exitCode: 9})
		rig.Check(t, err == nil && got == want, "command %q: %+v, %v; want %+v", comm, got, err, want)
	}
}

func TestParseStatOfThisProcess(t *testing.T) {
	t.Parallel()
	got, err := readStat(os.Getpid())
	rig.Check(t, err == nil && got.ppid == os.Getppid() && got.startTicks != 0 && !got.gone(), "readStat of this process = %+v, %v", got, err)
}

func TestParseStatRefusesMalformedLines(t *testing.T) {
	t.Parallel()
	good := statLine("x")
	cut, _, _ := strings.Cut(good, " 353737")
	for why, line := range map[string]string{
		"empty":               "",
		"no command":          "1 2 3",
		"nothing behind":      "1 (x)",
		"cut short":           cut,
		"state of two":        strings.Replace(good, " S ", " SS ", 1),
		"ppid not a number":   strings.Replace(good, " 12 ", " x ", 1),
		"ticks not a number":  strings.Replace(good, "353737", "35x", 1),
		"ticks negative":      strings.Replace(good, "353737", "-1", 1),
		"ticks beyond uint64": strings.Replace(good, "353737", "99999999999999999999", 1),
	} {
		got, err := parseStat([]byte(line))
		rig.Check(t, err != nil, "%s: %+v; want an error", why, got)
	}
}

func TestZombieAndDeadAreGone(t *testing.T) {
	t.Parallel()
	for state, want := range map[byte]bool{'Z': true, 'X': true, 'R': false, 'S': false, 'D': false, 'T': false, 't': false, 'I': false} {
		rig.Equal(t, (stat{state: state}).gone(), want, "state %c: gone", state)
	}
}

// A process that takes up SIGKILL has it pending no longer, and its flags do not say so yet.
func TestKilledIsEnding(t *testing.T) {
	t.Parallel()
	for _, killed := range []stat{{pending: 1 << 8}, {flags: 0x400}, {flags: 0x4}, {exitCode: 9}} {
		killed.state = 'R'
		rig.Check(t, killed.ending(), "%+v is not ending", killed)
	}
	stopped := stat{state: 'T', exitCode: 19}
	rig.Check(t, !stopped.ending(), "%+v is ending", stopped)
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statLine("claude")))
	f.Add([]byte(statLine(") (")))
	f.Add([]byte("1 (x) Z 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 18446744073709551615"))
	f.Add([]byte("1 (x) S -1"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseStat(data)
		rig.Check(t, err == nil || got == (stat{}), "a refused line gives %+v", got)
		rig.Check(t, err != nil || strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", rune(got.state)|' '), "%q has the state %q", data, got.state)
	})
}
