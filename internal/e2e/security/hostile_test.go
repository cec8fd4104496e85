package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
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

// What claude itself could take for something else is by how it begins: the others that begin so are on the stand-in. All else is
// in one prompt, as long as a command line allows, behind arguments of which one takes any number of words.
func TestPromptsArriveAtTheRealClaude(t *testing.T) {
	m := eachVersion(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Root}})
	m.mustArrive("tmux-words", hostilePrompts["tmux words"], "You said:")
	var all strings.Builder
	all.WriteString(hostilePrompts["long option"] + "\nRemember 42.\n")
	for _, prompt := range hostilePrompts {
		all.WriteString("And " + prompt + "\n")
	}
	all.WriteString(strings.Repeat("All work and no play. ", 90<<10/22) + "\nlast line")
	args := []string{"--add-dir", m.World.Home, ";", "run-shell", "touch PWN;", "$(touch PWN)", "#(touch PWN)", "--verbose"}
	m.mustArrive("all", all.String(), "OK, I will remember 42.", args...)
	line := m.Cmdline(m.Session("all").RecordedPID)
	at := slices.Index(line, "--add-dir")
	m.Check(at >= 0 && slices.Equal(line[at:], append(args, "--", all.String())), "claude got %q", line)
}

func TestPromptsThatLookLikeOptionsArrive(t *testing.T) {
	m := standIn(t)
	for name, prompt := range hostilePrompts {
		if prompt[0] == '-' {
			m.mustArrive(strings.ReplaceAll(name, " ", "-"), prompt, "You said:")
		}
	}
}

// mustArrive spawns an agent with a prompt, which must reach the API byte for byte, as one message.
func (m *team) mustArrive(handle, prompt, answer string, args ...string) {
	m.Helper()
	file := filepath.Join(m.TempDir(), "prompt.txt")
	m.Must(os.WriteFile(file, []byte(prompt), 0o600))
	given := []string{"--prompt", prompt}
	if len(prompt) > 1000 {
		given = []string{"--prompt-file", file}
	}
	m.OK(slices.Concat([]string{"spawn", handle, "--model", "sonnet"}, given, []string{"--"}, args)...)
	m.MustAnswer(handle, answer)
	m.mustHaveSent(prompt)
	m.noCanary()
}

// noCanary checks that nothing made the file that hostile text asks for.
func (m *team) noCanary() {
	m.Helper()
	for _, dir := range []string{m.World.Project, m.World.Root, m.World.Home} {
		m.Check(!e2e.Exists(filepath.Join(dir, "PWN")), "text was run as a command: PWN is in %s", dir)
	}
}

// An agent that another agent starts has Claude's own variables in its caller's environment.
// CLAUDECODE is not among them here: by it, who calls would count as a claude's leftover.
func TestSpawnFromAnAgentsShellKeepsATranscript(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env,
		"CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=11111111-2222-4333-8444-555555555555",
		"CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_EXECPATH=/bin/true", "AI_AGENT=claude-code_2-1-329_agent",
		"CLAUDE_CODE_SKIP_PROMPT_HISTORY=1", "NBS_INVOCATION_ID=11111111-2222-4333-8444-555555555555", "NBS_HANDLE=boss",
	)
	before := m.Remembers("alpha")
	if before.Transcript == nil || before.Transcript.Bytes == 0 {
		t.Fatalf("no transcript: %+v", before)
	}
	environ := m.Environ(before.RecordedPID)
	for _, name := range []string{"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SKIP_PROMPT_HISTORY"} {
		m.Check(environ[name] == "", "claude gets %s=%s of its caller", name, environ[name])
	}
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.MustRemember("alpha", before)
}

// What tmux and a launcher have of it is TestEnvironmentOfOneCallerDoesNotReachTheNext.
func TestNoSecretIsLeftAnywhere(t *testing.T) {
	m := standIn(t)
	const secret = "canary-of-a-secret-0815"
	m.Env = append(m.Env, "MY_TOKEN="+secret)
	m.OK("spawn", "alpha", "--prompt", "prompt-"+secret)
	s := m.Session("alpha")
	m.OK("stop", "alpha")
	look := func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		// The record and the conversation keep the first prompt, which is no secret; the report begins with it, as long as
		// it is what was said last. Nothing else has it.
		text := strings.ReplaceAll(string(data), "prompt-"+secret, "")
		keepsPrompts := path == m.RecordPath("alpha") || path == m.KeptPath(s.SessionID) || path == m.InNbs("status", "alpha.json")
		m.Check(!strings.Contains(text, secret) && (!strings.Contains(string(data), secret) || keepsPrompts), "the secret is in %s", path)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s: %v", path, info.Mode())
		}
		return err
	}
	for _, folder := range []string{m.InNbs(), m.InState(), filepath.Join(m.World.RunDir, "nbs-worker")} {
		m.Must(filepath.Walk(folder, look))
	}
}

func TestForeignSessionOfOurNameIsLeftAlone(t *testing.T) {
	m := standIn(t)
	m.Tmux("new-session", "-d", "-s", "nbs-alpha-live", "cat; cat")
	m.OK("spawn", "alpha")
	s := m.Session("alpha")
	m.Check(s.TmuxSession != "nbs-alpha-live" && s.TmuxAlive, "%+v", s)
	m.OK("dismiss", "alpha")
	sessions := m.SessionNames()
	m.Check(sessions == "nbs-alpha-live\n", "sessions left: %q", sessions)
}
