package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// script runs one of the scripts of the checkout, with programs of the test's before all others.
func script(t *testing.T, programs map[string]string, env []string, name string, args ...string) (out string, code int) {
	t.Helper()
	bin := t.TempDir()
	for program, text := range programs {
		rig.Must(t, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	cmd := exec.Command(filepath.Join(rig.Root(t), "scripts", name), args...)
	cmd.Env = append(os.Environ(), append(env, "PATH="+bin+":"+os.Getenv("PATH"))...)
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// A claude in the store that is not the pinned one, though it is there and can be run, is not what
// the tests are run against: it is fetched anew, and what is fetched is looked at too.
func TestBootstrapVerifiesTheClaudeInTheStore(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	planted := filepath.Join(store, "2.1.332", "claude")
	rig.Must(t, os.MkdirAll(filepath.Dir(planted), 0o700))
	ran := filepath.Join(t.TempDir(), "ran")
	rig.Must(t, os.WriteFile(planted, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o700))
	// A registry that hands out something else under the same number.
	npm := `mkdir package && cp ` + planted + ` package/claude && tar -czf claude.tgz package && rm -r package`
	tools := map[string]string{"npm": npm, "tmux": "", "jq": ""}
	out, code := script(t, tools, []string{"NBS_TEST_CLAUDE_DIR=" + store}, "bootstrap", "demo")
	for _, want := range []string{planted + " is not the pinned program", "the package of Claude Code 2.1.332 is not the pinned one"} {
		rig.Check(t, strings.Contains(out, want), "it does not say %q:\n%s", want, out)
	}
	_, err := os.Stat(ran)
	rig.Check(t, code != 0 && err != nil, "code %d, run: %t\n%s", code, err == nil, out)
	pinned := rig.Root(t) + "/.cache/claude"
	if dir := os.Getenv("NBS_TEST_CLAUDE_DIR"); dir != "" {
		pinned = dir
	}
	tools["npm"] = "echo the network is asked; exit 1"
	out, code = script(t, tools, []string{"NBS_TEST_CLAUDE_DIR=" + pinned}, "bootstrap", "demo")
	rig.Check(t, code == 0 && out == "", "with the pinned one: code %d\n%s", code, out)
}

// That nobody could look is said, and is no failure; what was found is one.
func TestVulnSaysWhereNobodyCanLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check, want string
		code        int
	}{
		{`echo 'govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev/x": no such host' >&2; exit 1`, `vuln: not checked: the database of vulnerabilities cannot be reached: Get "https://vuln.go.dev/x": no such host`, 0},
		{`echo 'Vulnerability #1: GO-2026-0001'; exit 3`, "Vulnerability #1", 3},
		{`echo 'No vulnerabilities found.'`, "No vulnerabilities found.", 0},
		{`echo 'govulncheck: loading packages: no Go files' >&2; exit 1`, "loading packages", 1},
	} {
		out, code := script(t, map[string]string{"check": c.check}, nil, "vuln", "check")
		rig.Check(t, code == c.code && strings.Contains(out, c.want), "%s: code %d\n%s", c.check, code, out)
	}
}
