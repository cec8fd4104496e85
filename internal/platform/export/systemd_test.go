package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

const (
	odd    = `a b%n $HOME é;`
	quotes = `"q" 'x' \`
)

func unitsOf(t *testing.T, of Team) []Unit {
	t.Helper()
	units, err := of.Systemd()
	rig.Must(t, err)
	return units
}

// What systemd would run is there, in whatever folder: it complains of a program that is not.
func TestSystemdAcceptsTheUnits(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "systemd-analyze")
	home := filepath.Join(t.TempDir(), odd)
	dir := filepath.Join(home, "units")
	rig.Must(t, os.MkdirAll(home, 0o700))
	program, tmux := filepath.Join(home, "nbs-worker"), filepath.Join(home, "tmux")
	for _, path := range []string{program, tmux} {
		rig.WriteProgram(t, path, "#!/bin/sh\n")
	}
	for _, socket := range []string{"", "team", filepath.Join(home, quotes)} {
		paths, err := Write(dir, unitsOf(t, Team{
			Program: program, Tmux: tmux, Project: filepath.Join(home, quotes), Socket: socket, Pause: filepath.Join(home, quotes, "paused"),
			Policy: filepath.Join(home, quotes), Env: []string{"PATH=/bin:" + home + quotes, "IS_SANDBOX=1"},
		}))
		rig.Must(t, err)
		complaint := verify(t, paths...)
		rig.Check(t, complaint == "", "socket %q: %s", socket, complaint)
	}
	rig.Must(t, os.Remove(program))
	paths, err := Write(dir, unitsOf(t, Team{Program: program, Tmux: tmux, Project: home}))
	rig.Must(t, err)
	complaint := verify(t, paths...)
	rig.Check(t, strings.Contains(complaint, "nbs-worker is not executable"), "of a program that is not there: %q", complaint)
}

// A pause holds at boot, in whatever folder.
func TestRecoveryWaitsForThePause(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "systemd-analyze")
	for _, name := range []string{"plain", odd, quotes, "[ab]*?", "a\nb\\"} {
		pause := filepath.Join(t.TempDir(), name, "paused")
		rig.Must(t, os.Mkdir(filepath.Dir(pause), 0o700))
		recovery := unitsOf(t, Team{Program: "/bin/true", Project: "/srv/team", Pause: pause})[1].Text
		_, condition, _ := strings.Cut(recovery, "\nCondition")
		condition, _, _ = strings.Cut("Condition"+condition, "\n")
		holds := func() bool { return exec.Command("systemd-analyze", "condition", condition).Run() == nil }
		rig.Check(t, holds(), "not paused: %s", condition)
		rig.Must(t, os.WriteFile(pause, nil, 0o600))
		rig.Check(t, !holds(), "paused: %s", condition)
	}
}

func verify(t *testing.T, paths ...string) string {
	cmd := exec.Command("systemd-analyze", append([]string{"--user", "--man=no", "verify"}, paths...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if text := string(out); text != "" || err == nil {
		return text
	}
	return err.Error()
}

// Words of a unit, and the rules of systemd.syntax and systemd.service by which they are read.
func TestWordsOfUnits(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":             `""`,
		"/srv/a-b_c.":  "/srv/a-b_c.",
		"A=1":          "A=1",
		"a b":          `"a b"`,
		"100%h":        `"100%%h"`,
		`"\'`:          `"\"\\'"`,
		"a\nb\x7f\xff": `"a\x0ab\x7f\xff"`,
		"ü;#":          `"ü;#"`,
	} {
		rig.Equal(t, setting(word), want, "setting of %q", word)
	}
	rig.Equal(t, command("/$a", "$b", "${c}"), `"/$a" "$$b" "$${c}"`, "command")
	rig.Equal(t, text("/srv/%h\n[Service]\\"), "/srv/%%h?[Service]?", "text")
}

func TestProjectsHaveUnitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, project := range []string{"/a/team", "/b/team", "/b/te am", "/b/te-am"} {
		for _, unit := range unitsOf(t, Team{Project: project})[1:] {
			names[unit.Name] = true
			rig.Check(t, !strings.ContainsAny(unit.Name, " /"), "the name %q", unit.Name)
		}
	}
	rig.Equal(t, len(names), 12, "names")
}

func TestFilesOfOthersStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	units := unitsOf(t, Team{Project: "/srv/team"})
	theirs := filepath.Join(dir, units[2].Name)
	rig.Must(t, os.WriteFile(theirs, []byte("[Service]\n"), 0o600))
	_, err := Write(dir, units)
	rig.Equal(t, fail.KindOf(err), fail.Conflict, "kind")
	_, err = Team{Program: "/o'brien/nbs-worker"}.Systemd()
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "kind")
	names, err := os.ReadDir(dir)
	rig.Must(t, err)
	rig.Equal(t, len(names), 1, "files")
}
