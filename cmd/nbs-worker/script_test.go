package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"nbs-worker/internal/sim/rig"
)

// The programs are this test binary under other names.
func TestMain(m *testing.M) {
	testscript.Main(private{m}, map[string]func(){
		"nbs-worker": main,
		"terminal":   func() { os.Exit(terminal()) },
	})
}

// private runs the tests where no process above them makes whoever types a command an agent.
type private struct{ m *testing.M }

func (p private) Run() int { return rig.Main(p.m, 2*time.Minute) }

// TestScripts runs what is typed in testdata/script. The folder of a script is its project. No agent runs in a script:
// in the places of claude and tmux stand programs that say their version and nothing else, and that leave a file when
// they are to do more.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(rig.Root(t), "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup:               setUp,
		Cmds:                scriptCommands(t),
		Condition:           condition,
	})
}

func setUp(env *testscript.Env) error {
	world := rig.NewWorld(env.T().(testing.TB), "") // of testing.T, in a run of go test
	bin := filepath.Join(world.Root, "bin")
	started := filepath.Join(world.Root, "started")
	for name, version := range map[string]string{"claude": "2.1.332 (Claude Code)", "tmux": "tmux 3.4"} {
		text := "#!/bin/sh\ncase \"$*\" in --version | -V) echo '" + version + "' ;; *) echo " + name + " \"$@\" >>" + started + "; exit 1 ;; esac\n"
		if err := writeProgram(filepath.Join(bin, name), text); err != nil {
			return err
		}
	}
	for _, entry := range world.Env("PATH="+bin+":"+env.Getenv("PATH"), "NBS_CLAUDE="+filepath.Join(bin, "claude"), "STARTED="+started) {
		name, value, _ := strings.Cut(entry, "=")
		env.Setenv(name, value)
	}
	return nil
}

// condition holds where the script says [root].
func condition(name string) (bool, error) {
	if name != "root" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	return os.Geteuid() == 0, nil
}

func writeProgram(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o700)
}
