package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// TestMain lets the test binary play nbs-sim.
func TestMain(m *testing.M) {
	if os.Getenv("NBS_SIM_MAIN") != "" {
		os.Exit(run(os.Args))
	}
	os.Exit(m.Run())
}

func sim(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	rig.Must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), "NBS_SIM_MAIN=1")
	return cmd
}

func TestAPIAnnouncesItselfAndEndsOnTerm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "port")
	cmd := sim(t, "api", "--port-file", file)
	out, err := cmd.StdoutPipe()
	rig.Must(t, err)
	rig.Must(t, cmd.Start())
	url, err := bufio.NewReader(out).ReadString('\n')
	rig.Must(t, err)
	resp, err := http.Post(strings.TrimSpace(url)+"/v1/messages", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"Remember 3"}]}`))
	rig.Must(t, err)
	body, _ := io.ReadAll(resp.Body) // the comparison says what is missing
	rig.Check(t, strings.Contains(string(body), "OK, I will remember 3."), "body = %s", body)
	rig.Must(t, cmd.Process.Signal(syscall.SIGTERM))
	err = cmd.Wait()
	rig.Check(t, err == nil, "%v", err)
	if port, err := os.ReadFile(file); err != nil || !strings.HasSuffix(strings.TrimSpace(url), ":"+strings.TrimSpace(string(port))) {
		t.Errorf("port file = %q, %v; url %s", port, err, url)
	}
}

func TestIsolateRunsACommand(t *testing.T) {
	out, err := sim(t, "isolate", "--", "sh", "-c", "echo $0 $1", "a", "b c").CombinedOutput()
	rig.Check(t, err == nil && string(out) == "a b c\n", "%q, %v", out, err)
}

func TestNameDecides(t *testing.T) {
	cmd := sim(t, "--version")
	cmd.Args[0] = "/some/where/claude"
	out, err := cmd.CombinedOutput()
	rig.Check(t, err == nil && strings.HasSuffix(string(out), " (Claude Code)\n"), "%q, %v", out, err)
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{
		{}, {"nonsense"}, {"api", "--nonsense"}, {"bench", "--nonsense"}, {"bench", "--agents", "10,1"}, {"bench", "--agents", "0"},
	} {
		out, err := sim(t, args...).CombinedOutput()
		rig.Check(t, err != nil && fmt.Sprint(err) == "exit status 2", "%q: %v\n%s", args, err, out)
	}
}

func TestSleepEnds(t *testing.T) {
	out, err := sim(t, "sleep", "1ms").CombinedOutput()
	rig.Check(t, err == nil, "%v\n%s", err, out)
}
