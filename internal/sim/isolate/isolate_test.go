package isolate_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/isolate"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) {
	// The test binary plays `nbs-sim isolate` for the tests of Exec.
	if len(os.Args) > 2 && os.Args[1] == "exec-inside" {
		os.Exit(isolate.Exec(os.Args, os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "is-isolated" {
		os.Exit(sayIsolated())
	}
	os.Exit(m.Run())
}

func sayIsolated() int {
	if err := isolate.Isolated(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func self(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), exe, args...)
}

func TestJudge(t *testing.T) {
	up, down := net.FlagUp|net.FlagLoopback, net.FlagLoopback
	cases := map[string]struct {
		ifaces []net.Interface
		want   string
	}{
		"loopback up":   {[]net.Interface{{Name: "lo", Flags: up}}, ""},
		"loopback down": {[]net.Interface{{Name: "lo", Flags: down}}, "is down"},
		"nothing":       {nil, "no loopback"},
		"a way out":     {[]net.Interface{{Name: "lo", Flags: up}, {Name: "eth0", Flags: net.FlagUp}}, "eth0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := isolate.Judge(c.ifaces)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("judge = %v, want %q", err, c.want)
			}
		})
	}
}

func TestExecRunsInsideTheNamespace(t *testing.T) {
	exe := self(t).Path
	out, err := self(t, "exec-inside", exe, "is-isolated").CombinedOutput()
	if err != nil {
		t.Fatalf("inside: %v\n%s", err, out)
	}
}

func TestExecPassesStreamsArgumentsAndCode(t *testing.T) {
	cmd := self(t, "exec-inside", "sh", "-c", `cat; echo "$1" >&2; echo "[$NBS_SIM_ISOLATE_STAGE]"; exit 7`, "sh", "a  b'c")
	cmd.Stdin = strings.NewReader("from stdin\n")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("err = %v, want exit code 7", err)
	}
	if stdout.String() != "from stdin\n[]\n" || stderr.String() != "a  b'c\n" {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}

// Whoever calls the tests, a claude too, is not above what runs inside.
func TestWhatRunsInsideHasNoCaller(t *testing.T) {
	const above = `p=$$; while [ "$p" -gt 1 ]; do echo "$p"; while read -r name value; do [ "$name" != PPid: ] || p=$value; done <"/proc/$p/status"; done; echo "[$CLAUDECODE]"`
	cmd := self(t, "exec-inside", "sh", "-c", above)
	cmd.Env = append(os.Environ(), "CLAUDECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Fields(string(out))
	if lines[len(lines)-1] != "[]" || slices.Contains(lines, strconv.Itoa(os.Getpid())) {
		t.Errorf("%q", lines)
	}
}

func TestUnknownCommandIsAFault(t *testing.T) {
	err := self(t, "exec-inside", "no-such-command-anywhere").Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != isolate.CodeFailed {
		t.Errorf("err = %v, want exit code %d", err, isolate.CodeFailed)
	}
}

func TestSignalIsForwarded(t *testing.T) {
	cmd := self(t, "exec-inside", "sh", "-c", `echo up; while :; do read x; done`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(os.Interrupt) // sh without a trap for INT: the default ends it
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code = %d, want 130", code)
	}
}

// leave is a command that ends with another one, when it has left a process in a session of its own, as tmux and
// Claude's tools are. That process writes a line.
func leave(t *testing.T, then string) []string {
	t.Helper()
	const left = `setsid sh -c 'echo $$ >"$0"; echo left; sleep 3600' "$1" & until [ -s "$1" ]; do :; done; `
	return []string{"sh", "-c", left + then, "sh", filepath.Join(t.TempDir(), "pid")}
}

// leaving starts such a command in a namespace. gone returns when the process that it left has ended.
func leaving(t *testing.T, then string) (cmd *exec.Cmd, gone func()) {
	t.Helper()
	cmd = self(t, append([]string{"exec-inside"}, leave(t, then)...)...)
	out, err := cmd.StdoutPipe()
	rig.Must(t, err)
	rig.Must(t, cmd.Start())
	ended := endsWithTheNamespace(t, out)
	return cmd, func() {
		t.Helper()
		ended()
		_ = cmd.Wait()
	}
}

// endsWithTheNamespace waits for the line of the process that was left, and returns what waits for that process's end.
func endsWithTheNamespace(t *testing.T, out io.Reader) (gone func()) {
	t.Helper()
	reader := bufio.NewReader(out)
	if line, err := reader.ReadString('\n'); line != "left\n" {
		t.Fatalf("nothing was left: %q, %v", line, err)
	}
	return func() {
		t.Helper()
		ended := make(chan struct{})
		go func() {
			_, _ = reader.ReadByte() // the process holds the pipe: end of file means that it is gone
			close(ended)
		}()
		select {
		case <-ended:
		case <-rig.Patient(t).Done():
			t.Error("a process in a session of its own survived the namespace")
		}
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	_, gone := leaving(t, "exit 0")
	gone()
}

func TestLeftoversAreSweptWhenTheOutsideIsKilled(t *testing.T) {
	cmd, gone := leaving(t, "sleep 3600")
	rig.Must(t, cmd.Process.Kill())
	gone()
}

// The kernel closes the descriptors of a killed process one after the other. Here the outside has closed the pipe by
// which it holds the namespace, and not yet the one from which it would read the exit code.
func TestLeftoversAreSweptWhileTheKilledOutsideStillEnds(t *testing.T) {
	out, stdout, err := os.Pipe()
	rig.Must(t, err)
	defer out.Close()
	said, hold := startInside(t, stdout, leave(t, "sleep 3600"))
	defer said.Close()
	rig.Must(t, stdout.Close())
	_, err = hold.Write(isolate.Begin)
	rig.Must(t, err)
	gone := endsWithTheNamespace(t, out)
	rig.Must(t, hold.Close())
	gone()
}

// startInside is the outside's part of a start, with another standard output.
func startInside(t *testing.T, stdout *os.File, command []string) (said, hold *os.File) {
	t.Helper()
	was := os.Stdout
	os.Stdout = stdout
	defer func() { os.Stdout = was }()
	said, hold, err := isolate.StartOrphan(append([]string{os.Args[0], "exec-inside"}, command...))
	rig.Must(t, err)
	return said, hold
}
