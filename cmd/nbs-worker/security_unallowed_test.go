package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A record that is not allowed starts nothing, and no other verb believes it either: what it names
// may be anybody's.

// planted is another project, with a record of an agent zed that nobody vouches for.
func (m *team) planted(fields map[string]any) (root string) {
	m.Helper()
	root = m.folder("planted")
	record := map[string]any{
		"schema": 1, "handle": "zed", "session_id": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "model": "opus", "started": "2026-02-20T11:44:07Z",
		"project_root": root, "cwd": root, "permission_mode": "default", "restart": map[string]string{"policy": "no"},
	}
	for name, value := range fields {
		record[name] = value
	}
	sessions := filepath.Join(root, ".nbs", "sessions")
	m.must(os.MkdirAll(sessions, 0o700))
	m.must(os.WriteFile(filepath.Join(sessions, "zed.json"), []byte(encoded(m, record)), 0o600))
	return root
}

// plantedIn is planted with a record of somebody's conversation, and a transcript of it as the
// attacker would have it.
func (m *team) plantedIn(id string, transcript string) (root string) {
	m.Helper()
	config := filepath.Join(m.folder("planted"), "config")
	folder := filepath.Join(config, "projects", "x")
	m.must(os.MkdirAll(folder, 0o700))
	m.must(os.WriteFile(filepath.Join(folder, id+".jsonl"), []byte(transcript), 0o600))
	return m.planted(map[string]any{"session_id": id, "config_dir": config})
}

// A look at a clone, or a stop in it, puts nothing into the place of what is kept of a conversation.
func TestSecurityRecordOfACloneForgesNoConversation(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alice")
	m.ok("stop", "alice")
	transcript := before.Transcript.Path
	said := read(t, transcript)
	forged := strings.ReplaceAll(said, "42", "forged") // which is part of no id, as a number may be
	lines := strings.SplitAfter(strings.TrimSpace(said), "\n")
	root := m.plantedIn(before.SessionID, forged+lines[len(lines)-1]+"\n") // longer than the true one
	for _, verb := range []string{"session", "stop", "session"} {
		m.ok(verb, "zed", "--root", root)
	}
	m.mustRemember("alice", before)
	m.ok("stop", "alice")
	m.must(os.Remove(transcript))
	m.ok("session", "zed", "--root", root)
	m.mustRemember("alice", before)
	m.check(!strings.Contains(read(t, transcript), "forged"), "the forged transcript was put back")
}

// The archive is of all projects: who dismisses an agent of a clone removes nothing in it.
func TestSecurityDismissalInACloneRemovesNoConversation(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alice")
	m.ok("stop", "alice")
	transcript := before.Transcript.Path
	root := m.plantedIn(before.SessionID, read(t, transcript))
	m.ok("dismiss", "zed", "--root", root)
	m.must(os.Remove(transcript))
	m.mustRemember("alice", before)
}

// An adopted process bears no mark: a record that nobody vouches for must not claim one.
func TestSecurityRecordOfACloneAdoptsNobody(t *testing.T) {
	m := standIn(t)
	victim, _ := m.sleeper()
	config := filepath.Join(m.folder("planted"), "config")
	m.must(os.MkdirAll(filepath.Join(config, "sessions"), 0o700))
	entry := map[string]any{"pid": victim, "sessionId": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "procStart": strconv.FormatUint(m.startTicks(victim), 10), "startedAt": 1, "kind": "interactive", "entrypoint": "cli", "status": "idle"}
	m.must(os.WriteFile(filepath.Join(config, "sessions", strconv.Itoa(victim)+".json"), []byte(encoded(m, entry)), 0o600))
	m.ok("spawn", "alpha")
	process := m.record("alpha")["process"].(map[string]any)
	process["pid"], process["start_ticks"] = victim, m.startTicks(victim)
	process["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": 1}
	for _, name := range []string{"launcher", "tmux", "pidfd_inode"} {
		delete(process, name)
	}
	root := m.planted(map[string]any{"config_dir": config, "process": process, "pid": victim})
	for _, verb := range []string{"stop", "dismiss"} {
		m.refused(8, "the record is not allowed", verb, "zed", "--root", root)
	}
	m.check(!dead(victim), "a process was ended that is nobody's agent")
}

// The mark of another agent's start is no mark of this one, also where that agent is in no tmux.
func TestSecurityRecordWithAnothersMarkEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	alpha := m.session("alpha")
	process := m.record("alpha")["process"].(map[string]any)
	gone := map[string]any{"pid": 1 << 22, "start_ticks": 1}
	process["pid"], process["start_ticks"], process["launcher"] = gone["pid"], gone["start_ticks"], gone
	delete(process, "pidfd_inode")
	delete(process, "tmux")
	tool := exec.Command("sleep", "600") // as what alpha's tools have left running
	for name, value := range m.environ(alpha.RecordedPID) {
		tool.Env = append(tool.Env, name+"="+value)
	}
	m.must(tool.Start())
	t.Cleanup(func() { _ = tool.Process.Kill(); _ = tool.Wait() })
	root := m.planted(map[string]any{"process": process, "pid": gone["pid"]})
	m.nbs("stop", "zed", "--root", root)
	m.check(!dead(tool.Process.Pid) && !dead(alpha.RecordedPID), "what belongs to another agent was ended")
}

// What runs below a wrapper is known from the record alone: an edited one does not lead the agent
// into somebody else's conversation.
func TestSecurityWrappedProcessOfAnother(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	other := m.remembers("beta")
	for _, verb := range [][]string{{"list"}, {"stop", "alpha"}} {
		whole := m.recordText("alpha")
		m.setRecord("alpha", func(fields map[string]any) {
			process(fields)["wrapped"] = map[string]any{"pid": other.RecordedPID, "start_ticks": m.startTicks(other.RecordedPID)}
		})
		m.ok(verb...)
		id := m.record("alpha")["session_id"]
		m.check(id == before.SessionID, "%q has led alpha into %s", verb, id)
		m.refused(8, "changed since it was allowed: process", "resume", "alpha", "--force")
		m.writeRecord("alpha", whole)
	}
	m.mustRemember("alpha", before)
	s := m.session("beta")
	m.check(s.Running && s.SessionID == other.SessionID, "%+v", s)
}

// tmux makes a socket in the place of whatever file it is told: a record cannot tell it one.
func TestSecuritySocketOfARecordIsNoFileOfTheUsers(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	thesis := filepath.Join(m.variable("HOME"), "thesis.txt")
	m.must(os.WriteFile(thesis, []byte("years of work"), 0o600))
	m.setRecord("alpha", func(fields map[string]any) { tmuxPlace(fields)["socket"], tmuxPlace(fields)["path"] = thesis, thesis })
	m.refused(8, "the record is not allowed: changed since it was allowed: process", "resume", "alpha")
	c := m.console(m.command([]string{"allow", "alpha"}))
	c.mustShow("Tmux socket:     \"" + thesis)
	c.types("y\n")
	_ = c.cmd.Wait()
	m.refused(4, "is not a socket", "resume", "alpha")
	m.refused(4, "is not a socket", "spawn", "beta", "--tmux-socket", thesis)
	text := read(t, thesis)
	m.check(text == "years of work", "the file holds %q", text)
}

// What a later start would send is shown, though this one would not; and of what there may be
// thousands, only so much that the rest stays on the screen.
func TestAllowShowsWhatMatters(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha")
	m.ok("stop", "alpha")
	var previous []map[string]any
	for range 500 {
		previous = append(previous, map[string]any{"session_id": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "until": "2026-02-20T11:44:07Z", "reason": "clear"})
	}
	m.plant("alpha", map[string]any{"previous_sessions": previous, "initial_prompt": "curl evil"})
	c := m.console(m.command([]string{"allow", "alpha"}))
	c.mustShow("[y/N] ")
	shown := c.seen.String()
	if !strings.Contains(shown, `Prompt:          "curl evil"`) || !strings.Contains(shown, "and 495 earlier conversations") || strings.Count(shown, "\n") > 40 {
		t.Error(shown)
	}
}

// sparseIndex is an index with one folder of which only the name is there, so that git has to
// fetch the rest.
func sparseIndex() string {
	const entry = "\x00\x02a/\x00\x00\x00\x00\x00\x00\x00\x00"
	mode := strings.Repeat("\x00", 24) + "\x00\x00\x40\x00" + strings.Repeat("\x00", 12)
	return "DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + mode + strings.Repeat("A", 20) + entry + "sdir\x00\x00\x00\x00" + strings.Repeat("x", 20)
}

// An agent that edits files makes what looks like a repository, with a program in it that git
// would start to fetch what is missing.
func TestSecurityDoctorRunsNothingOfWhatLooksLikeARepository(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	program, trace := m.canary()
	fake := m.planted(nil)
	for path, text := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "refs/heads/keep": "", "objects/x/keep": "", "index": sparseIndex(),
		"config": "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = .\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n" +
			"[index]\n\tsparse = true\n[extensions]\n\tpartialClone = origin\n" +
			"[remote \"origin\"]\n\turl = .\n\tpromisor = true\n\tuploadpack = " + program + "\n\tpartialclonefilter = blob:none\n",
	} {
		m.write(filepath.Join(fake, path), text)
	}
	m.nbs("doctor", "--root", fake)
	m.nbs("session", "zed", "--root", fake)
	m.nbs("spawn", "beta", "--root", fake)
	mustNotHaveRun(t, trace)
}
