package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/doctor"
)

func TestASlowAnswerIsNoWrongClock(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	answered := asked.Add(20 * time.Second)
	for theirs, want := range map[time.Duration]string{
		0: "its clock is right", 20 * time.Second: "its clock is right", 21 * time.Second: "its clock is right", -time.Second: "its clock is right",
		80 * time.Second: "its clock is 1m0s ahead of that of this machine", -time.Hour: "its clock is 1h0m0s behind that of this machine",
	} {
		rig.Equal(t, clock(host.Host{Name: "b"}, "linux", asked.Add(theirs), asked, answered).What, want, "at %s", theirs)
	}
}

// A host that ssh reaches is not unreachable when its nbs-worker hangs.
func TestAHostWhoseProgramHangs(t *testing.T) {
	dir := t.TempDir()
	rig.WriteProgram(t, filepath.Join(dir, "ssh"), "#!/bin/sh\ncase \"$*\" in *facts*) exec sleep 300 ;; esac\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	checkup, err := Check(t.Context(), host.Host{Name: "b", Destination: "u@b"}, Here{Now: time.Now, Patience: 50 * time.Millisecond})
	rig.Must(t, err)
	rig.Equal(t, len(checkup.Findings), 2, "%+v", checkup)
	rig.Equal(t, checkup.Findings[0].What, "ssh reaches u@b", "what holds")
	rig.Equal(t, checkup.Findings[1].What, "nbs-worker there did not answer in time", "what is wrong")
}

func TestSystemsOfPrograms(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	rig.Must(t, err)
	program, err := ReadProgram(self)
	rig.Must(t, err)
	rig.Equal(t, program.System, System{runtime.GOOS, runtime.GOARCH}, "of this program")
	pad := strings.Repeat("\x00", 12)
	for head, want := range map[string]System{
		"\x7fELF\x02\x01" + pad + "\xb7\x00":     {"linux", "arm64"},
		"\xcf\xfa\xed\xfe\x0c\x00\x00\x01" + pad: {"darwin", "arm64"},
		"\xcf\xfa\xed\xfe\x07\x00\x00\x01" + pad: {"darwin", "amd64"},
	} {
		got, known := systemOfProgram([]byte(head))
		rig.Check(t, known && got == want, "%q: %v, want %v", head, got, want)
	}
	script := filepath.Join(t.TempDir(), "script")
	rig.Must(t, os.WriteFile(script, []byte("#!/bin/sh\necho a script is no program\n"), 0o600))
	_, err = ReadProgram(script)
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "a script")
}

func TestProgramsAreCompared(t *testing.T) {
	t.Parallel()
	here := Here{Version: "v2 go1.26"}
	for _, test := range []struct {
		facts Facts
		level doctor.Level
	}{
		{Facts{Version: "v2 go1.27", Protocol: link.Protocol}, doctor.Holds},
		{Facts{Version: "v1 go1.26", Protocol: link.Protocol}, doctor.Note},
		{Facts{Version: "v3 go1.26", Protocol: link.Protocol + 1}, doctor.Failure},
	} {
		found := here.program(host.Host{Name: "b", Destination: "u@b"}, test.facts)
		rig.Equal(t, found.Level, test.level, "%+v: %+v", test.facts, found)
	}
}

// A host's own advice comes with its commands, for there.
func TestAnErrorOfAHostIsRelayed(t *testing.T) {
	t.Parallel()
	err := relayed(host.Host{Name: "b"}, link.Answer{Code: 2, Said: "a greeting\nnbs-worker: export: there is no project\nhint: start one: nbs-worker spawn HANDLE\n"})
	rig.Equal(t, err.Error(), "on b: export: there is no project", "the error")
	rig.Equal(t, strings.Join(fail.HintsOf(err), ""), "on b: start one: nbs-worker spawn HANDLE", "its hint")
	rig.Equal(t, fail.KindOf(err), fail.NotFound, "its kind")
	rig.Equal(t, fail.KindOf(relayed(host.Host{Name: "b"}, link.Answer{Code: 137})), fail.Failed, "the kind of a killed one")
}

func TestMends(t *testing.T) {
	t.Parallel()
	h := host.Host{Name: "b", Destination: "u@b"}
	for _, test := range []struct {
		found doctor.Finding
		want  string
	}{
		{doctor.Finding{Check: "claude.version", Level: doctor.Warning, Fix: []string{"claude update"}}, "ssh -t u@b 'claude update'"},
		{doctor.Finding{Check: "host.boot", Level: doctor.Warning}, "nbs-worker host enable b"},
		{doctor.Finding{Check: "folder.project", Level: doctor.Note, Fix: []string{"nbs-worker doctor --root DIR"}}, "to start an agent there: nbs-worker --host b spawn HANDLE"},
		{doctor.Finding{Check: "claude.found", Level: doctor.Failure, Fix: []string{"export NBS_CLAUDE=/path/to/claude"}}, `on b, in a login that finds claude: ln -s "$(command -v claude)" ~/.local/bin/claude` + "\nor install Claude Code there"},
	} {
		rig.Equal(t, strings.Join(mends(h, test.found), "\n"), test.want, "%s", test.found.Check)
	}
}

func TestAMacAtItsLogin(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", home+":/usr/bin:/bin")
	said := func() string { return AtLogin(t.Context(), "nbs-recover-x").What }
	rig.Equal(t, said(), "no LaunchAgent brings the agents back after a reboot", "without its file")
	rig.Must(t, os.MkdirAll(filepath.Join(home, "Library/LaunchAgents"), 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(home, "Library/LaunchAgents/nbs-recover-x.plist"), nil, 0o600))
	rig.Check(t, strings.HasPrefix(said(), "whether agents come back after a reboot is unknown: "), "without launchctl: %s", said())
	for code, want := range map[string]string{"113": "launchd has not loaded the LaunchAgents: it does at the next login at the screen", "0": "agents come back at each login at the screen"} {
		rig.WriteProgram(t, filepath.Join(home, "launchctl"), "#!/bin/sh\nexit "+code+"\n")
		rig.Equal(t, said(), want, "launchctl ends with %s", code)
	}
}
