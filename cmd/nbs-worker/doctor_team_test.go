package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// What the doctor says of agents: their records against what runs and what is on disk.

// A record of one agent is damaged, that of the other is not what runs, and is of another time than that.
func TestDoctorReadsRecords(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	whole := m.recordText("alpha")
	m.writeRecord("beta", `{"handle": "beta"`)
	m.setRecord("alpha", func(fields map[string]any) { fields["model"] = "opus" })
	c := m.doctor(1)
	c.finds(m, "team.records", "failure", "beta: the record")
	c.finds(m, "team.records", "failure", "keep the file and move it aside: mv ")
	m.check(len(c.of("team.records")) == 1, "%q", c.of("team.records"))
	c.finds(m, "team.drift", "warning", `alpha: model is "sonnet", recorded "opus"`)
	c.finds(m, "team.drift", "warning", "nbs-worker resume alpha --force")
	m.writeRecord("alpha", whole)
	m.setRecord("alpha", func(fields map[string]any) { fields["started"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339) })
	m.doctor(1).finds(m, "clock.future", "warning", "the record of alpha is ")
}

func TestDoctorMissesATranscript(t *testing.T) {
	m := standIn(t)
	s := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.doctor(0).isWell(m, "team.transcripts", "team.keeping")
	old := time.Now().Add(-26 * 24 * time.Hour)
	m.must(os.Chtimes(s.Transcript.Path, old, old))
	m.doctor(0).finds(m, "team.keeping", "note", "the archive keeps it")
	kept, err := filepath.Glob(m.inState("transcripts", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, path := range kept {
		m.must(os.Rename(path, path+".aside"))
	}
	c := m.doctor(1)
	c.finds(m, "team.keeping", "warning", "alpha: Claude will delete its transcript in ")
	c.finds(m, "team.keeping", "warning", `set "cleanupPeriodDays": 3650 in `+m.world.ConfigDir+"/settings.json")
	m.userSettings(`{"cleanupPeriodDays": 3650}`)
	m.doctor(0).isWell(m, "team.keeping")
	m.must(os.Remove(s.Transcript.Path))
	m.doctor(1).finds(m, "team.transcripts", "failure", "alpha: the transcript of its conversation "+s.SessionID+" is gone")
	for _, path := range kept {
		m.must(os.Rename(path+".aside", path))
	}
	m.doctor(0).finds(m, "team.transcripts", "note", "nbs-worker resume alpha")
}

func TestDoctorSeesAConversationThatIsOpenTwice(t *testing.T) {
	m := standIn(t)
	s := m.remembers("alpha")
	m.tmux("new-session", "-d", "-s", "human", "-e", "CLAUDE_CONFIG_DIR="+m.world.ConfigDir, m.variable("NBS_CLAUDE"), "--resume", s.SessionID)
	m.waitFor("the stranger runs", func() (bool, string) { return len(claudesOn(s.SessionID)) == 2, "" })
	m.doctor(1).finds(m, "team.twice", "failure", "the conversation "+s.SessionID+" is open in two claudes: pid ")
	m.ok("spawn", "beta", "--root", m.otherProject(), "--cwd", m.world.Project, "--model", "sonnet")
	m.dir = m.otherProject()
	m.doctor(0).isWell(m, "team.twice") // of another project
}

// A record that is gone leaves a claude and a tmux session that nobody lists; those of
// another project are none of this one's business.
func TestDoctorSeesAgentsWithoutRecord(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "beta", "--model", "sonnet")
	s := m.session("beta")
	m.must(os.Rename(m.recordPath("beta"), m.recordPath("beta")+".aside"))
	c := m.doctor(1)
	c.finds(m, "team.unrecorded", "failure", fmt.Sprintf(`runs as "beta", pid %d, and no record names it`, s.RecordedPID))
	c.finds(m, "team.unrecorded", "failure", "--session-id "+s.SessionID)
	c.finds(m, "team.sessions", "warning", `"nbs-beta-live" was made for an agent of this project`)
	found := append(c.of("team.unrecorded"), c.of("team.sessions")...)
	m.check(len(found) == 2, "%q", found)
	m.check(!dead(s.RecordedPID), "it was ended")
	m.dir = m.otherProject()
	m.doctor(0).isWell(m, "team.unrecorded", "team.sessions")
}

// As under cron: the names are told, of the living and of the dead, and no value is.
func TestDoctorNamesVariablesThatAreMissing(t *testing.T) {
	m := standIn(t)
	const canary = "canary-5ce91f0a"
	set := []string{"ANTHROPIC_AUTH_TOKEN=" + canary, "AWS_PROFILE=" + canary, "https_proxy=" + canary, "OTHER=" + canary}
	if r := m.nbsWith(set, "spawn", "alpha", "--model", "sonnet", "--env", "AWS_REGION=here"); r.code != 0 {
		t.Fatal(r)
	}
	m.doctorWith(set, 0).isWell(m, "environment.names")
	for _, how := range []string{"alive", "dead"} {
		c := m.doctor(1)
		c.finds(m, "environment.names", "warning", "set when alpha started: ANTHROPIC_AUTH_TOKEN AWS_PROFILE https_proxy")
		text := fmt.Sprint(c)
		m.check(!strings.Contains(text, canary) && !strings.Contains(text, "OTHER") && !strings.Contains(text, "AWS_REGION"), "%s: %s", how, text)
		m.ok("stop", "alpha")
	}
	text := m.recordText("alpha")
	m.check(strings.Contains(text, `"AWS_PROFILE"`) && !strings.Contains(text, canary), "%s", text)
}

func TestDoctorKnowsWhatMakesAClaudeForget(t *testing.T) {
	m := standIn(t)
	forgetful := m.script("export CLAUDE_CODE_CHILD_SESSION=1; exec " + m.variable("NBS_CLAUDE") + ` "$@"`)
	if r := m.nbsWith([]string{"NBS_CLAUDE=" + forgetful}, "spawn", "alpha", "--model", "sonnet", "--no-wait"); r.code != 0 {
		t.Fatal(r)
	}
	m.waitClaude("alpha")
	pid := m.session("alpha").RecordedPID
	m.waitFor("the wrapper has gone", func() (bool, string) { return m.environ(pid)["CLAUDE_CODE_CHILD_SESSION"] == "1", "" })
	m.tmux("set-environment", "-g", "CLAUDE_CODE_SKIP_PROMPT_HISTORY", "1")
	c := m.doctorWith([]string{"CLAUDE_CODE_CHILD_SESSION=1"}, 1)
	c.finds(m, "environment.here", "note", "CLAUDE_CODE_CHILD_SESSION is set here")
	c.finds(m, "environment.agents", "failure", "alpha was started with CLAUDE_CODE_CHILD_SESSION: it writes no transcript")
	c.finds(m, "environment.tmux", "warning", "set-environment -gu CLAUDE_CODE_SKIP_PROMPT_HISTORY")
	found := m.doctorWith([]string{"CLAUDE_CODE_CHILD_SESSION=0"}, 1).of("environment.here")
	m.check(strings.HasPrefix(found[0], "ok: "), "a switch that is off: %q", found)
}

func TestDoctorReadsTheTmuxSettings(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.tmux("set-option", "-g", "destroy-unattached", "on")
	m.tmux("set-option", "-gw", "remain-on-exit", "on")
	m.tmux("set-hook", "-g", "client-attached", "rename-session mine")
	before := m.tmux("show-options", "-g") + m.tmux("show-options", "-gw") + m.tmux("show-hooks", "-g")
	c := m.doctor(1)
	c.finds(m, "tmux.settings", "note", "destroy-unattached on")
	c.finds(m, "tmux.settings", "note", "remain-on-exit on")
	c.finds(m, "tmux.settings", "warning", "set-hook -gu client-attached")
	now := m.tmux("show-options", "-g") + m.tmux("show-options", "-gw") + m.tmux("show-hooks", "-g")
	m.check(now == before, "the doctor changed %s\nto %s", before, now)
	server, _ := m.stopServer("alpha")
	m.doctor(1).finds(m, "tmux.server", "failure", fmt.Sprintf("kill -CONT %d", server))
}

func TestDoctorSeesALeaseOfNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.doctor(0).isWell(m, "left.leases")
	const session = "11111111-2222-4333-8444-555555555555"
	lease := m.inNbs("locks", session+".lease")
	holder := exec.Command("flock", "--no-fork", lease, "sleep", "600")
	m.must(holder.Start())
	m.Cleanup(func() { _ = holder.Process.Kill(); _ = holder.Wait() })
	m.waitFor("the lease is held", func() (bool, string) {
		return exec.Command("flock", "-n", lease, "true").Run() != nil, ""
	})
	m.must(os.Chmod(lease, 0o600))
	for _, verb := range []string{"ask", "memory"} { // of a conversation's turn, and of an observer
		m.write(lease, fmt.Sprintf(`{"pid":%d,"verb":%q,"handle":"","since":"2026-02-03T04:05:06Z"}`+"\n", holder.Process.Pid, verb))
		m.doctor(0).isWell(m, "left.leases")
	}
	m.sign(session+".lease", holder.Process.Pid)
	m.doctor(1).finds(m, "left.leases", "warning", fmt.Sprintf("the lease on the conversation %s is held by process %d", session, holder.Process.Pid))
}

// sign writes a holder into a lock file.
func (m *team) sign(name string, pid int) {
	m.Helper()
	m.write(m.inNbs("locks", name), fmt.Sprintf(`{"pid":%d,"verb":"run","handle":"alpha","since":"2026-02-03T04:05:06Z"}`+"\n", pid))
}

// The commonest reasons why a first spawn gets nowhere are seen before it is tried.
func TestDoctorSeesWhatWouldHoldAFirstSpawn(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		options      rig.ConfigOptions
		without      string // variable
		id, level, w string
	}{
		"no login":          {rig.ConfigOptions{Trusted: []string{"project"}}, "ANTHROPIC_API_KEY", "start.login", "warning", "claude knows no account, key or provider here"},
		"a key to be asked": {rig.ConfigOptions{Trusted: []string{"project"}, KeyUnanswered: true}, "", "start.login", "warning", "claude will ask whether to use the API key"},
		"no trust":          {rig.ConfigOptions{}, "", "start.trust", "note", "claude does not trust the folder"},
	} {
		t.Run(what, func(t *testing.T) {
			m := realIf(t, what == "no login") // of which the stand-in learns with its first turn
			if len(c.options.Trusted) > 0 {
				c.options.Trusted = []string{m.world.Project}
			}
			rig.Config(t, m.world.ConfigDir, c.options)
			if c.without != "" {
				m.env = without(m.env, c.without)
			}
			m.doctor(anyCode).finds(m, c.id, c.level, c.w)
			m.refused(8, "", "spawn", "alpha", "--timeout", "20s")
			if what != "no login" { // there it waits at no dialog, and answers nothing
				m.doctor(anyCode).finds(m, "start.waiting", "note", "alpha is waiting: ")
			}
		})
	}
}
