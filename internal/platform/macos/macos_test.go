package macos

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// with gives a test the programs of a Mac.
func with(t *testing.T, programs map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for name, script := range programs {
		rig.WriteProgram(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
	}
}

func TestPower(t *testing.T) {
	for name, want := range map[string]Power{
		"laptop.txt": {After: 1}, "prevented.txt": {After: 1, AwakeBy: "sharingd, caffeinate"}, "desktop.txt": {}, "disabled.txt": {After: 10, Disabled: true},
	} {
		said, err := os.ReadFile(filepath.Join("testdata/pmset", name))
		rig.Must(t, err)
		for _, battery := range []bool{true, false} {
			with(t, map[string]string{"pmset": fmt.Sprintf("case $2 in batt) if %t; then echo ' -InternalBattery-0 (id=1)\t80%%; charged'; fi; exit ;; esac\ncat <<'.'\n%s.", battery, said)})
			want.Battery = battery
			got, err := PowerOf(t.Context())
			rig.Check(t, err == nil && got == want, "%s: %+v, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"odd.txt": `pmset -g printed "sleep                never"`, "silent.txt": "pmset -g printed no line for sleep"} {
		said, err := os.ReadFile(filepath.Join("testdata/pmset", name))
		rig.Must(t, err)
		_, err = readPower(string(said))
		rig.Check(t, err != nil && err.Error() == want, "%s: %v", name, err)
	}
}

func FuzzReadPower(f *testing.F) {
	samples, err := filepath.Glob("testdata/pmset/*.txt")
	rig.Must(f, err)
	for _, sample := range samples {
		said, err := os.ReadFile(sample)
		rig.Must(f, err)
		f.Add(string(said))
	}
	f.Fuzz(func(t *testing.T, said string) {
		power, err := readPower(said)
		rig.Check(t, err == nil || power.After == 0, "%+v, %v", power, err)
	})
}

func TestServices(t *testing.T) {
	with(t, map[string]string{
		"launchctl": fmt.Sprintf(`case "$*" in
managername) echo Background ;;
"print gui/%[1]d/runs") printf 'gui/%[1]d/runs = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 4711\n\tspawned = {\n\t\tpid = 1\n' ;;
"print gui/%[1]d/waits") printf 'gui/%[1]d/waits = {\n\tstate = not running\n' ;;
*) echo 'Could not find service' >&2; exit 113 ;;
esac`, os.Getuid()),
		"sw_vers": "echo 27.0.1",
	})
	for label, want := range map[string]Service{"runs": {true, 4711}, "waits": {Loaded: true}, "absent": {}} {
		got, err := ServiceOf(t.Context(), label)
		rig.Check(t, err == nil && got == want, "%s: %+v, %v", label, got, err)
	}
	login, err := Login(t.Context())
	rig.Check(t, err == nil && login == "Background", "%q, %v", login, err)
	rig.Equal(t, Release(t.Context()), 27, "the release")
	with(t, nil)
	_, err = ServiceOf(t.Context(), "runs")
	rig.Check(t, err != nil && Release(t.Context()) == 0, "without the programs: %v", err)
}
