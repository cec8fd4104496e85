package notify

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// script is a program that does so, and the folder in which it leaves what it has to tell.
func script(t *testing.T, body string) (program Program, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "tell me")
	rig.WriteProgram(t, path, "#!/bin/sh\ncd "+dir+"\n"+body)
	return Program{Argv: []string{path, "a b", "$(id)"}, Limit: rig.Scaled(30 * time.Second)}, dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	rig.Must(t, err)
	return string(text)
}

func TestProgramIsToldWithoutAShellAndWithoutKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "canary")
	program, dir := script(t, `cat >message; printf '%s|' "$@" >args; env >env`)
	rig.Must(t, program.Tell(t.Context(), []byte(`{"a":"b"}`)))
	rig.Equal(t, read(t, dir, "message"), `{"a":"b"}`, "message")
	rig.Equal(t, read(t, dir, "args"), "a b|$(id)|", "arguments")
	env := read(t, dir, "env")
	rig.Check(t, !strings.Contains(env, "canary") && strings.Contains(env, "PATH="), "its environment is %s", env)
}

// One that does not read what it is told has been told all the same.
func TestProgramThatDoesNotRead(t *testing.T) {
	t.Parallel()
	program, _ := script(t, "exit 0")
	rig.Must(t, program.Tell(t.Context(), make([]byte, 1<<20)))
}

func TestProgramThatFails(t *testing.T) {
	t.Parallel()
	program, _ := script(t, "echo 'no route to host' >&2; exit 3")
	err := program.Tell(t.Context(), nil)
	rig.Check(t, fail.KindOf(err) == fail.Failed && strings.HasSuffix(err.Error(), `: exit status 3, it said "no route to host"`), "%v", err)
	err = Program{Argv: []string{"/no such program"}, Limit: time.Minute}.Tell(t.Context(), nil)
	rig.Check(t, fail.KindOf(err) == fail.Failed, "%v", err)
}

func TestProgramThatHangsIsEndedWithItsGroup(t *testing.T) {
	t.Parallel()
	program, dir := script(t, "sleep 1000 & echo $! >child; wait")
	rig.Must(t, os.WriteFile(filepath.Join(dir, "child"), nil, 0o600))
	var child int
	for program.Limit = 50 * time.Millisecond; child == 0; program.Limit *= 2 { // until it has come so far before its end
		rig.Equal(t, fail.KindOf(program.Tell(t.Context(), nil)), fail.TimedOut, "kind")
		child, _ = strconv.Atoi(strings.TrimSpace(read(t, dir, "child"))) // it may be empty yet
	}
	rig.Eventually(t, "its child is gone", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func TestReadiness(t *testing.T) {
	socket := filepath.Join(rig.ShortDir(t), "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	rig.Must(t, err)
	defer listener.Close()
	rig.Must(t, Ready())
	t.Setenv("NOTIFY_SOCKET", socket)
	rig.Must(t, Ready())
	text := make([]byte, 100)
	n, err := listener.Read(text)
	rig.Must(t, err)
	rig.Equal(t, string(text[:n]), "READY=1", "datagram")
	_, inherited := os.LookupEnv("NOTIFY_SOCKET")
	rig.Check(t, !inherited, "what is started later could tell the service manager")
}
