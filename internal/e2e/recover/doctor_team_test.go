package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What the doctor says of agents: their records against what runs and what is on disk.

// A record of one agent is damaged, and that of the other is not what runs: triage says more of both.
func TestDoctorReadsRecords(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WriteRecord("beta", `{"handle": "beta"`)
	m.SetRecord("alpha", func(fields map[string]any) { fields["model"] = "opus" })
	c := m.Doctor(1)
	c.Finds(m.Team, "team.health", "failure", "needs attention: alpha, beta")
	c.Finds(m.Team, "team.health", "failure", "nbs-worker triage")
}

func TestDoctorMissesATranscript(t *testing.T) {
	m := standIn(t)
	s := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.Doctor(0).IsWell(m.Team, "team.transcripts", "team.keeping")
	old := time.Now().Add(-26 * 24 * time.Hour)
	m.Must(os.Chtimes(s.Transcript.Path, old, old))
	m.Doctor(0).Finds(m.Team, "team.keeping", "note", "the archive keeps it")
	kept, err := filepath.Glob(m.InState("transcripts", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, path := range kept {
		m.Must(os.Rename(path, path+".aside"))
	}
	c := m.Doctor(1)
	c.Finds(m.Team, "team.keeping", "warning", "alpha: Claude may delete its transcript in ")
	c.Finds(m.Team, "team.keeping", "warning", `set "cleanupPeriodDays": 3650 in `+m.World.ConfigDir+"/settings.json")
	m.UserSettings(`{"cleanupPeriodDays": 3650}`)
	m.Doctor(0).IsWell(m.Team, "team.keeping")
}

func TestDoctorSeesAConversationThatIsOpenTwice(t *testing.T) {
	m := standIn(t)
	s := m.Remembers("alpha")
	m.Tmux("new-session", "-d", "-s", "human", "-c", m.World.Project, "-e", "CLAUDE_CONFIG_DIR="+m.World.ConfigDir, m.Variable("NBS_CLAUDE"), "--resume", s.SessionID)
	m.WaitFor("the stranger is in the registry", func() (bool, string) {
		seen := m.OK("session", "alpha", "--json")
		return strings.Contains(seen, `"other_claudes":[{`), seen
	})
	m.Doctor(1).Finds(m.Team, "team.health", "warning", "needs attention: alpha")
	m.OK("spawn", "beta", "--root", m.OtherProject(), "--cwd", m.World.Project, "--model", "sonnet")
	m.Dir = m.OtherProject()
	m.Doctor(0).IsWell(m.Team, "team.health") // of another project
}

// A record that is gone leaves a claude and a tmux session that nobody lists; those of
// another project are none of this one's business.
func TestDoctorSeesAgentsWithoutRecord(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	s := m.Session("beta")
	m.Must(os.Rename(m.RecordPath("beta"), m.RecordPath("beta")+".aside"))
	c := m.Doctor(1)
	c.Finds(m.Team, "team.unrecorded", "failure", fmt.Sprintf(`runs as "beta", pid %d, and no record names it`, s.RecordedPID))
	c.Finds(m.Team, "team.unrecorded", "failure", "--session-id "+s.SessionID)
	c.Finds(m.Team, "team.sessions", "warning", `"nbs-beta-live" was created for an agent of this project`)
	found := append(c.Of("team.unrecorded"), c.Of("team.sessions")...)
	m.Check(len(found) == 2, "%q", found)
	m.Check(!e2e.Dead(s.RecordedPID), "it was ended")
	m.Dir = m.OtherProject()
	m.Doctor(0).IsWell(m.Team, "team.unrecorded", "team.sessions")
}

// As under cron: the names are told, of the living and of the dead, and no value is.
func TestDoctorNamesVariablesThatAreMissing(t *testing.T) {
	m := standIn(t)
	const canary = "canary-5ce91f0a"
	set := []string{"ANTHROPIC_AUTH_TOKEN=" + canary, "AWS_PROFILE=" + canary, "https_proxy=" + canary, "OTHER=" + canary}
	if r := m.NBSWith(set, "spawn", "alpha", "--model", "sonnet", "--env", "AWS_REGION=here"); r.Code != 0 {
		t.Fatal(r)
	}
	m.DoctorWith(set, 0).IsWell(m.Team, "environment.names")
	for _, how := range []string{"alive", "dead"} {
		c := m.Doctor(1)
		c.Finds(m.Team, "environment.names", "warning", "set when alpha started, and not set here: ANTHROPIC_AUTH_TOKEN AWS_PROFILE https_proxy")
		text := fmt.Sprint(c)
		m.Check(!strings.Contains(text, canary) && !strings.Contains(text, "OTHER") && !strings.Contains(text, "AWS_REGION"), "%s: %s", how, text)
		m.OK("stop", "alpha")
	}
	text := m.RecordText("alpha")
	m.Check(strings.Contains(text, `"AWS_PROFILE"`) && !strings.Contains(text, canary), "%s", text)
}

func TestDoctorKnowsWhatMakesAClaudeForget(t *testing.T) {
	m := standIn(t)
	forgetful := m.Script("export CLAUDE_CODE_CHILD_SESSION=1; exec " + m.Variable("NBS_CLAUDE") + ` "$@"`)
	if r := m.NBSWith([]string{"NBS_CLAUDE=" + forgetful}, "spawn", "alpha", "--model", "sonnet", "--no-wait"); r.Code != 0 {
		t.Fatal(r)
	}
	m.WaitClaude("alpha")
	pid := m.Session("alpha").RecordedPID
	m.WaitFor("the wrapper has gone", func() (bool, string) { return m.Environ(pid)["CLAUDE_CODE_CHILD_SESSION"] == "1", "" })
	m.Doctor(1).Finds(m.Team, "environment.agents", "failure", "alpha was started with CLAUDE_CODE_CHILD_SESSION: it writes no transcript")
}

func TestDoctorSeesAServerThatDoesNotAnswer(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.StopServer("alpha")
	m.Doctor(1).Finds(m.Team, "team.health", "warning", "needs attention: alpha")
}

// The commonest reasons why a first spawn gets nowhere are seen before it is tried.
func TestDoctorSeesWhatWouldHoldAFirstSpawn(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		options      rig.ConfigOptions
		without      string // variable
		id, level, w string
	}{
		"no login":          {rig.ConfigOptions{Trusted: []string{"project"}}, "ANTHROPIC_API_KEY", "start.login", "warning", "claude has no account, key or provider here"},
		"a key to be asked": {rig.ConfigOptions{Trusted: []string{"project"}, KeyUnanswered: true}, "", "start.login", "warning", "claude will ask whether to use the API key"},
		"no trust":          {rig.ConfigOptions{}, "", "start.trust", "note", "claude does not trust the folder"},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			if len(c.options.Trusted) > 0 {
				c.options.Trusted = []string{m.World.Project}
			}
			rig.Config(t, m.World.ConfigDir, c.options)
			if c.without != "" {
				m.Env = e2e.Without(m.Env, c.without)
			}
			m.Doctor(e2e.AnyCode).Finds(m.Team, c.id, c.level, c.w)
			m.Refused(8, "", "spawn", "alpha", "--timeout", e2e.Patience())
			if what != "no login" { // there it waits at no dialog, and answers nothing
				m.Doctor(e2e.AnyCode).Finds(m.Team, "team.health", "note", "needs attention: alpha")
			}
		})
	}
}
