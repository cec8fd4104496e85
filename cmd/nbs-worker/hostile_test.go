package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Input that means something to a shell, to tmux or to claude arrives as it was
// given, or is refused with 4.

// hostilePrompts are what something on the way could take for its own.
var hostilePrompts = map[string]string{
	"substitution": "$(touch PWN) `touch PWN` ${HOME}",
	"option":       "-d",
	"long option":  "--model haiku",
	"double dash":  "-- what",
	"quotes":       `it's "quoted" \ and 'again'`,
	"newlines":     "one\ntwo\n\nthree",
	"emoji":        "héllo 🦀 日本語",
	"tmux words":   "#(touch PWN) #{pid} ; kill-server;",
	"tabs":         "a\tb",
	"semicolon":    "do this; then that;",
	"tmux command": `x; run-shell "touch PWN"`,
}

// What claude itself could take for something else is by how it begins. All else is in one prompt,
// as long as a command line allows.
func TestPromptsArriveAtTheRealClaude(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		var rest strings.Builder
		for name, prompt := range hostilePrompts {
			if strings.ContainsAny(prompt[:1], "-#") {
				m.mustArrive(strings.ReplaceAll(name, " ", "-"), prompt, "You said:")
			}
			rest.WriteString("And " + prompt + "\n")
		}
		long := "first line\nsecond line\n\nRemember 42.\n" + rest.String() + strings.Repeat("All work and no play. ", 90<<10/22)
		m.mustArrive("all", long+"\nlast line", "OK, I will remember 42.")
	})
}

// mustArrive spawns an agent with a prompt, which must reach the API byte for byte, as one message.
func (m *team) mustArrive(handle, prompt, answer string) {
	m.Helper()
	file := filepath.Join(m.TempDir(), "prompt.txt")
	m.must(os.WriteFile(file, []byte(prompt), 0o600))
	given := []string{"--prompt", prompt}
	if len(prompt) > 1000 {
		given = []string{"--prompt-file", file}
	}
	m.ok(append([]string{"spawn", handle, "--model", "sonnet"}, given...)...)
	m.mustAnswer(handle, answer)
	m.mustHaveSent(prompt)
	m.noCanary()
}

// noCanary checks that nothing made the file that hostile text asks for.
func (m *team) noCanary() {
	m.Helper()
	for _, dir := range []string{m.world.Project, m.world.Root, m.world.Home} {
		m.check(!exists(filepath.Join(dir, "PWN")), "text was run as a command: PWN is in %s", dir)
	}
}

// An agent that another agent starts has Claude's own variables in its caller's environment.
// CLAUDECODE is not among them here: by it, who calls would count as a claude's leftover.
func TestSpawnFromAnAgentsShellKeepsATranscript(t *testing.T) {
	m := real(t)
	m.env = append(m.env,
		"CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=11111111-2222-4333-8444-555555555555",
		"CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_EXECPATH=/bin/true", "AI_AGENT=claude-code_2-1-329_agent",
		"CLAUDE_CODE_SKIP_PROMPT_HISTORY=1", "NBS_INVOCATION_ID=11111111-2222-4333-8444-555555555555", "NBS_HANDLE=boss",
	)
	before := m.remembers("alpha")
	if before.Transcript == nil || before.Transcript.Bytes == 0 {
		t.Fatalf("no transcript: %+v", before)
	}
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.mustRemember("alpha", before)
}

// What tmux and a launcher have of it is TestEnvironmentOfOneCallerDoesNotReachTheNext.
func TestNoSecretIsLeftAnywhere(t *testing.T) {
	m := standIn(t)
	const secret = "canary-of-a-secret-0815"
	m.env = append(m.env, "MY_TOKEN="+secret)
	m.ok("spawn", "alpha", "--prompt", "prompt-"+secret)
	s := m.session("alpha")
	m.ok("stop", "alpha")
	look := func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		// The record and the conversation keep the first prompt, which is no secret, and nothing else does.
		text := strings.ReplaceAll(string(data), "prompt-"+secret, "")
		keepsPrompts := path == m.recordPath("alpha") || path == m.keptPath(s.SessionID)
		m.check(!strings.Contains(text, secret) && (!strings.Contains(string(data), secret) || keepsPrompts), "the secret is in %s", path)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s: %v", path, info.Mode())
		}
		return err
	}
	for _, folder := range []string{m.inNbs(), m.inState(), filepath.Join(m.world.RunDir, "nbs-worker")} {
		m.must(filepath.Walk(folder, look))
	}
	m.refused(4, "would keep a secret", "spawn", "beta", "--env", "API_KEY="+secret)
}

func TestForeignSessionOfOurNameIsLeftAlone(t *testing.T) {
	m := standIn(t)
	m.tmux("new-session", "-d", "-s", "nbs-alpha-live", "cat; cat")
	m.ok("spawn", "alpha")
	s := m.session("alpha")
	m.check(s.TmuxSession != "nbs-alpha-live" && s.TmuxAlive, "%+v", s)
	m.ok("dismiss", "alpha")
	sessions := m.sessionNames()
	m.check(sessions == "nbs-alpha-live\n", "sessions left: %q", sessions)
}
