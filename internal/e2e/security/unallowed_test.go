package security

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A record that is not allowed starts nothing, and no other verb believes it either: what it names
// may be anybody's.

// planted is another project, with a record of an agent zed that nobody vouches for.
func (m *team) planted(fields map[string]any) (root string) {
	m.Helper()
	root = m.Folder("planted")
	record := map[string]any{
		"schema": 1, "handle": "zed", "session_id": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "model": "opus", "started": "2026-02-20T11:44:07Z",
		"project_root": root, "cwd": root, "permission_mode": "default", "restart": map[string]string{"policy": "no"},
	}
	for name, value := range fields {
		record[name] = value
	}
	sessions := filepath.Join(root, ".nbs", "sessions")
	m.Must(os.MkdirAll(sessions, 0o700))
	m.Must(os.WriteFile(filepath.Join(sessions, "zed.json"), []byte(e2e.Encoded(m.Team, record)), 0o600))
	return root
}

// plantedIn is planted with a record of somebody's conversation, and a transcript of it as the
// attacker would have it.
func (m *team) plantedIn(id string, transcript string) (root string) {
	m.Helper()
	config := filepath.Join(m.Folder("planted"), "config")
	folder := filepath.Join(config, "projects", "x")
	m.Must(os.MkdirAll(folder, 0o700))
	m.Must(os.WriteFile(filepath.Join(folder, id+".jsonl"), []byte(transcript), 0o600))
	return m.planted(map[string]any{"session_id": id, "config_dir": config})
}

// A look at a clone, or a stop in it, puts nothing into the place of what is kept of a conversation.
func TestSecurityRecordOfACloneForgesNoConversation(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alice")
	m.OK("stop", "alice")
	transcript := before.Transcript.Path
	said := e2e.Read(t, transcript)
	forged := strings.ReplaceAll(said, "42", "forged") // which is part of no id, as a number may be
	lines := strings.SplitAfter(strings.TrimSpace(said), "\n")
	root := m.plantedIn(before.SessionID, forged+lines[len(lines)-1]+"\n") // longer than the true one
	for _, verb := range []string{"session", "stop", "session"} {
		m.OK(verb, "zed", "--root", root)
	}
	m.MustRemember("alice", before)
	m.OK("stop", "alice")
	m.Must(os.Remove(transcript))
	m.OK("session", "zed", "--root", root)
	m.MustRemember("alice", before)
	m.Check(!strings.Contains(e2e.Read(t, transcript), "forged"), "the forged transcript was put back")
}

// The archive is of all projects: who dismisses an agent of a clone removes nothing in it.
func TestSecurityDismissalInACloneRemovesNoConversation(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alice")
	m.OK("stop", "alice")
	transcript := before.Transcript.Path
	root := m.plantedIn(before.SessionID, e2e.Read(t, transcript))
	m.OK("dismiss", "zed", "--root", root)
	m.Must(os.Remove(transcript))
	m.MustRemember("alice", before)
}

// A copy of an agent's conversation is answered with the configuration of Claude that its record names.
func TestSecurityRecordOfACloneIsNotCopied(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alice")
	m.OK("stop", "alice")
	root := m.plantedIn(before.SessionID, e2e.Read(t, before.Transcript.Path))
	config, ran := filepath.Join(root, "config"), filepath.Join(root, "RAN")
	m.Write(filepath.Join(config, ".claude.json"), `{"hasCompletedOnboarding":true,"projects":{"`+root+`":{"hasTrustDialogAccepted":true}}}`)
	m.Write(filepath.Join(config, "settings.json"), `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch `+ran+`"}]}]}}`)
	m.Refused(8, "the record is not allowed", "--root", root, "ask", "@zed", "Hello.", "--fork")
	m.Check(!e2e.Exists(ran), "a hook of the clone was run")
}

// An adopted process bears no mark: a record that nobody vouches for must not claim one.
func TestSecurityRecordOfACloneAdoptsNobody(t *testing.T) {
	m := standIn(t)
	victim, _ := m.Sleeper()
	config := filepath.Join(m.Folder("planted"), "config")
	m.Must(os.MkdirAll(filepath.Join(config, "sessions"), 0o700))
	entry := map[string]any{"pid": victim, "sessionId": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "procStart": strconv.FormatUint(m.StartTicks(victim), 10), "startedAt": 1, "kind": "interactive", "entrypoint": "cli", "status": "idle"}
	m.Must(os.WriteFile(filepath.Join(config, "sessions", strconv.Itoa(victim)+".json"), []byte(e2e.Encoded(m.Team, entry)), 0o600))
	m.OK("spawn", "alpha")
	process := m.Record("alpha")["process"].(map[string]any)
	process["pid"], process["start_ticks"] = victim, m.StartTicks(victim)
	process["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": 1}
	for _, name := range []string{"launcher", "tmux"} {
		delete(process, name)
	}
	root := m.planted(map[string]any{"config_dir": config, "process": process, "pid": victim})
	for _, verb := range []string{"stop", "dismiss"} {
		m.Refused(8, "the record is not allowed", verb, "zed", "--root", root)
	}
	m.Check(!e2e.Dead(victim), "a process was ended that is nobody's agent")
}

// The mark of another agent's start is no mark of this one, also where that agent is in no tmux.
func TestSecurityRecordWithAnothersMarkEndsNobody(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	alpha := m.Session("alpha")
	process := m.Record("alpha")["process"].(map[string]any)
	gone := map[string]any{"pid": 1 << 22, "start_ticks": 1}
	process["pid"], process["start_ticks"], process["launcher"] = gone["pid"], gone["start_ticks"], gone
	delete(process, "tmux")
	tool := exec.Command("sleep", "600") // as what alpha's tools have left running
	for name, value := range m.Environ(alpha.RecordedPID) {
		tool.Env = append(tool.Env, name+"="+value)
	}
	m.Must(tool.Start())
	t.Cleanup(func() { _ = tool.Process.Kill(); _ = tool.Wait() })
	root := m.planted(map[string]any{"process": process, "pid": gone["pid"]})
	m.NBS("stop", "zed", "--root", root)
	m.Check(!e2e.Dead(tool.Process.Pid) && !e2e.Dead(alpha.RecordedPID), "what belongs to another agent was ended")
}

// What runs below a wrapper is known from the record alone: an edited one does not lead the agent
// into somebody else's conversation.
func TestSecurityWrappedProcessOfAnother(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	other := m.Remembers("beta")
	for _, verb := range [][]string{{"list"}, {"stop", "alpha"}} {
		whole := m.RecordText("alpha")
		m.SetRecord("alpha", func(fields map[string]any) {
			e2e.Process(fields)["wrapped"] = map[string]any{"pid": other.RecordedPID, "start_ticks": m.StartTicks(other.RecordedPID)}
		})
		m.OK(verb...)
		id := m.Record("alpha")["session_id"]
		m.Check(id == before.SessionID, "%q has led alpha into %s", verb, id)
		m.Refused(8, "changed since it was allowed: process", "resume", "alpha", "--force")
		m.WriteRecord("alpha", whole)
	}
	m.MustRemember("alpha", before)
	s := m.Session("beta")
	m.Check(s.Running && s.SessionID == other.SessionID, "%+v", s)
}
