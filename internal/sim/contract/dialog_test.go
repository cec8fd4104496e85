package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// checkUnregistered asserts what tells a dialog from a prompt: there is no registry entry.
func checkUnregistered(t *testing.T, s *stage) {
	t.Helper()
	found := s.registered(t)
	rig.Check(t, len(found) == 0, "registry entry while a dialog is open: %v", found)
}

func trustDialog(t *testing.T, s *stage) {
	rig.Config(t, s.world.ConfigDir, rig.ConfigOptions{})
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default")
	p.shows("Accessing workspace:", s.world.Project, "Quick safety check", "Yes, I trust this folder", "No, exit", "Enter to confirm · Esc to cancel")
	checkUnregistered(t, s)
	if s.old { // Enter takes "Yes" there
		p.shows("❯ 1. Yes, I trust this folder")
		p.takes("Enter", "Enter trusts the folder", func() bool { return len(s.registered(t)) == 1 })
		p.status("idle")
		return
	}
	p.shows("❯ No, exit")
	p.takes("Enter", "Enter leaves", p.exited)
	code := p.exits()
	rig.Check(t, code == 1, "exit code = %d", code)
}

func keyDialog(t *testing.T, s *stage) {
	rig.Config(t, s.world.ConfigDir, rig.ConfigOptions{Trusted: []string{s.world.Root}, KeyUnanswered: true})
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default")
	p.shows("Detected a custom API key in your environment", "ANTHROPIC_API_KEY: sk-ant-...", "Do you want to use this API key?", "No (recommended)")
	checkUnregistered(t, s)
	p.takes("Enter", "Enter answers", func() bool { return len(s.registered(t)) == 1 })
	p.status("idle")
	data, err := os.ReadFile(filepath.Join(s.world.ConfigDir, ".claude.json"))
	var c struct {
		Responses struct{ Rejected []string } `json:"customApiKeyResponses"`
	}
	if err != nil || json.Unmarshal(data, &c) != nil || !slices.Contains(c.Responses.Rejected, rig.Key[len(rig.Key)-20:]) {
		t.Errorf("Enter did not reject the key: %v\n%s", err, data)
	}
}

func notLoggedIn(t *testing.T, s *stage) {
	s.env = s.world.Env(append(s.subject.env, "ANTHROPIC_API_KEY")...)
	p := s.start(t, "--session-id", newID(), "--permission-mode", "bypassPermissions", "--settings", `{"skipDangerousModePermissionPrompt":true}`)
	p.shows("  Not logged in · " + map[bool]string{true: "Run", false: "run"}[s.old] + " /login") // for some seconds, at the right of the footer
	p.says("Remember 42.")
	p.shows("Not logged in · Please run /login")
	p.status("idle")
	for _, r := range s.api.Requests() {
		rig.Check(t, r.Method != "POST", "asked %q without a key", r.Texts)
	}
}

func bypassWarning(t *testing.T, s *stage) {
	p := s.start(t, "--session-id", newID(), "--permission-mode", "bypassPermissions")
	p.shows("WARNING: Claude Code running in Bypass Permissions mode", "Yes, I accept", "Enter to confirm · Esc to cancel")
	checkUnregistered(t, s)
	p.takes("Enter", "Enter leaves", p.exited)
	code := p.exits()
	rig.Check(t, code == 1, "Enter: exit code = %d", code)
	// Without the warning, and with a first prompt that is an unknown command.
	p = s.start(t, "--session-id", newID(), "--permission-mode", "bypassPermissions", "--settings", `{"skipDangerousModePermissionPrompt":true}`,
		"--", "/nosuch x")
	p.shows("Unknown command: /nosuch", "bypass permissions on")
	p.status("idle")
	for _, r := range s.api.Requests() {
		rig.Check(t, r.Method != "POST", "a command was said to the model: %q", r.Texts)
	}
	p.signal("HUP")
	checkGraceful(t, p, 129)
}

// Typed text is ignored in a permission dialog, but Enter approves: why nothing may be sent while a program waits.
func permissionDialog(t *testing.T, s *stage) {
	file := filepath.Join(s.world.Project, "made")
	prompt := fmt.Sprintf(`[[tool Bash {"command":"touch %s","description":"make it"}]]`, file)
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default", "--", prompt)
	e := p.status("waiting")
	rig.Check(t, e.WaitingFor == "permission prompt", "waitingFor = %q", e.WaitingFor)
	p.shows("Do you want to proceed?", "❯ 1. Yes")
	_, err := os.Stat(file)
	rig.Check(t, err != nil, "the tool ran before it was permitted")
	p.takes("Enter", "Enter permits", func() bool { return strings.Contains(p.screen(), "Tool said:") })
	p.status("idle")
	_, err = os.Stat(file)
	rig.Check(t, err == nil, "%v", err)
}

func hooks(t *testing.T, s *stage) {
	log := filepath.Join(s.world.Root, "hooks")
	group := fmt.Sprintf(`[{"hooks":[{"type":"command","command":"cat >>%s; echo >>%s"}]}]`, log, log)
	telling := strings.Replace(group, `"}]}]`, `; printf %07980d 0; echo It is noon."}]}]`, 1)
	settings := filepath.Join(s.world.Root, "settings.json")
	text := fmt.Sprintf(`{"hooks":{"SessionStart":%[2]s,"UserPromptSubmit":%[1]s,"Stop":%[1]s,"SessionEnd":%[1]s}}`, group, telling)
	rig.Must(t, os.WriteFile(settings, []byte(text), 0o600))
	id := newID()
	p := s.start(t, "--session-id", id, "--permission-mode", "default", "--settings", settings, "--", "Remember 42.")
	p.shows("OK, I will remember 42.")
	p.status("idle")
	p.signal("TERM")
	checkGraceful(t, p, 143)
	want := []string{
		"SessionStart startup", "UserPromptSubmit Remember 42.", "Stop OK, I will remember 42.", "SessionEnd other",
	}
	got := readHooks(t, log, id)
	rig.Check(t, slices.Equal(got, want), "hooks = %q, want %q", got, want)
	rig.Check(t, slices.Equal(s.asked(t), []string{"Remember 42."}), "asked %q", s.asked(t))
	for _, request := range s.api.Requests() { // what the first hook printed is told beside the prompt
		body := string(request.Body)
		rig.Check(t, request.Method != "POST" || request.Side || strings.Contains(body, strings.Repeat("0", 7980)+"It is noon."), "request without what the hook printed: %s", body)
	}
}

func readHooks(t *testing.T, log, id string) []string {
	t.Helper()
	data, err := os.ReadFile(log)
	rig.Must(t, err)
	var events []string
	for line := range strings.SplitSeq(string(data), "\n") {
		var h struct {
			Session string `json:"session_id"`
			Event   string `json:"hook_event_name"`
			Source  string
			Prompt  string
			Reason  string
			Last    string `json:"last_assistant_message"`
		}
		if json.Unmarshal([]byte(line), &h) != nil {
			continue
		}
		rig.Check(t, h.Session == id, "hook of session %s: %s", h.Session, line)
		events = append(events, h.Event+" "+h.Source+h.Prompt+h.Reason+h.Last)
	}
	return events
}
