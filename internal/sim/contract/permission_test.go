package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// decide is a hook that writes down its pid and what it is asked, and says what is in a file as soon as the file is there.
const decide = `echo $$ >%[1]s.pid; cat >%[1]s.new; mv %[1]s.new %[1]s.asked; until test -f %[1]s.say; do sleep 0.1; done; cat %[1]s.say; rm %[1]s.say`

// A PermissionRequest hook and the dialog wait at the same time; who answers first decides. The hook is ended by an
// interrupt, and not by a permission in the terminal.
func permissionHook(t *testing.T, s *stage) {
	at := filepath.Join(s.world.Root, "hook")
	command, err := json.Marshal(fmt.Sprintf(decide, at))
	rig.Must(t, err)
	p := s.start(t, "--session-id", newID(), "--model", "sonnet", "--permission-mode", "default", "--settings",
		fmt.Sprintf(`{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":%s,"timeout":43260}]}]}}`, command))
	p.status("idle")
	is := func(end string) func() (bool, string) {
		return func() (bool, string) { _, err := os.Stat(at + end); return err == nil, p.screen() }
	}
	ask := func(file string) {
		t.Helper()
		_ = os.Remove(at + ".asked")
		p.tmux("send-keys", "-l", "-t", p.name, fmt.Sprintf(`[[tool Bash {"command":"touch %s"}]]`, filepath.Join(s.world.Project, file)))
		p.shows("project/" + file)
		p.key("Enter")
		rig.WaitFor(t, "the hook is asked", is(".asked"))
		p.shows("Do you want to proceed?")
	}
	decides := func(decision, shown string) {
		t.Helper()
		rig.Must(t, os.WriteFile(at+".part", []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`+decision+`}}`), 0o600))
		rig.Must(t, os.Rename(at+".part", at+".say"))
		p.shows("Tool said: " + shown)
		p.status("idle")
	}
	made := func(file string) bool { _, err := os.Stat(filepath.Join(s.world.Project, file)); return err == nil }

	ask("one")
	var asked struct {
		Tool      string            `json:"tool_name"`
		Input     map[string]string `json:"tool_input"`
		Mode      string            `json:"permission_mode"`
		Suggested []struct{ Type, Destination string }
		Use       string `json:"tool_use_id"`
	}
	text, err := os.ReadFile(at + ".asked")
	rig.Must(t, err)
	rig.Must(t, json.Unmarshal([]byte(strings.Replace(string(text), "permission_suggestions", "suggested", 1)), &asked))
	rig.Check(t, asked.Tool == "Bash" && strings.HasSuffix(asked.Input["command"], "/one") && asked.Mode == "default" && asked.Use == "" &&
		len(asked.Suggested) > 0 && asked.Suggested[0].Destination != "", "asked %s", text)
	decides(`{"behavior":"deny","message":"use mkdir instead"}`, "use mkdir instead")
	rig.Check(t, !made("one"), "a refused tool ran")
	ask("two")
	p.status("waiting")
	decides(`{"behavior":"allow"}`, "")
	rig.Check(t, made("two"), "a permitted tool did not run")
	ask("three")
	written, err := os.ReadFile(at + ".pid")
	rig.Must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(written)))
	rig.Must(t, err)
	rig.Must(t, syscall.Kill(pid, 0))
	p.takes("Escape", "an interrupt ends the hook", func() bool { return syscall.Kill(pid, 0) != nil })
	p.status("idle")
	rig.Check(t, !made("three"), "an interrupted tool ran")
}
