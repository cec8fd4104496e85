package recover

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// leftByEarlier is a team on the state that testdata/old/make has written by an earlier version. It is in the folder where
// it was written, since seals cover paths, on a host of that name; the machine has been booted again.
func leftByEarlier(t *testing.T) *team {
	t.Helper()
	m := standIn(t)
	const root = "/media"
	own := rig.PrivateMounts(t)
	own.Tmpfs(root, "8g") // which doctor does not find nearly full
	own.Named("nbs-then")
	m.MustRun(exec.Command("tar", "-C", root, "-xpzf", filepath.Join(rig.Root(t), "testdata", "old", "state.tar.gz")))
	w := m.World
	w.Home, w.ConfigDir, w.Project = filepath.Join(root, "home"), filepath.Join(root, "config"), filepath.Join(root, "project")
	m.Dir, m.Env = w.Project, w.Env("NBS_CLAUDE="+m.Variable("NBS_CLAUDE"), "PATH="+m.Variable("PATH"))
	return m
}

// All that an earlier version has written counts, seals included: agents come back into their conversations, and what
// waited, was remembered, kept or allowed is as it was.
func TestStateOfAnEarlierVersion(t *testing.T) {
	m := leftByEarlier(t)
	m.MustSay(m.OK("list"), "alpha\tstopped\t-\tstopped\tsonnet\t", "beta\tlost: reboot\t-\trunning\tsonnet\t", "gamma\tstopped\t")
	m.MustSay(m.OK("session", "alpha", "gamma"), "Restart:         on-failure", "code 143, as after SIGTERM", "Resume this session with:", "Kept:            in the archive; ")
	m.MustSay(m.OK("logs", "alpha"), " you: Remember 42.\n", " agent: You said: Hello.\n")
	m.MustSay(m.OK("events"), "\tspawn\tdelta\t", "\tsent\talpha\t", "\tdismiss\tdelta\t", "a person looked at .nbs/schedules.yaml")
	m.MustSay(m.OK("outbox", "list"), "\twaiting\t", "\tWhat number?\n")
	m.Doctor(0).IsWell(m.Team, "team.transcripts", "left.journal", "conversations.readable", "conversations.waiting", "folder.private")

	m.MustSay(m.OK("memory", "status"), "alpha\t")
	m.MustSay(m.OK("memory", "search", "oak"), "\talpha\tdecision\tThe gate is of oak\n")
	m.OK("memory", "check")
	m.MustSay(m.OK("schedule", "list"), "morning\tevery 24h0m0s\tturn\t")
	m.MustPrint("You said: hello from the schedule\n", "schedule", "run", "morning")

	m.MustSay(m.OK("conversation", "list"), "cron:morning\t", "review\t", "telegram:123456789\t")
	m.MustSay(m.OK("conversation", "history", "review"), " agent: OK, I will remember 47.\n")
	m.MustPrint("OK, I will remember 48.\n", "ask", "telegram:123456789", "Remember 48.", "--id", "update-1") // it is not said again
	m.MustPrint("48\n", "ask", "telegram:123456789", "What number?")
	m.MustPrint("47\n", "ask", "review", "What number?")
	var review struct {
		Sessions []struct {
			SessionID string `json:"session_id"`
		} `json:"previous"`
	}
	m.Decode(&review, "conversation", "show", "review", "--json")
	m.OK("conversation", "restore", "review", review.Sessions[0].SessionID)
	m.MustPrint("46\n", "ask", "review", "What number?")

	alpha := m.Session("alpha")
	m.OK("resume", "alpha") // what waited for it arrives
	m.MustAnswer("alpha", "42")
	m.Check(m.Session("alpha").SessionID == alpha.SessionID, "%+v", m.Session("alpha"))
	m.OK("resume", "beta", "gamma", "--prompt", "What number?")
	m.MustAnswer("beta", "43")
	m.MustAnswer("gamma", "44")                           // from what was kept
	id := strings.Split(m.OK("events", "delta"), "\t")[4] // its record was dismissed
	m.OK("spawn", "delta", "--session-id", id, "--prompt", "What number?")
	m.MustAnswer("delta", "45")
	m.WaitSession("alpha", "is at its prompt", func(s e2e.Session) bool { return s.State == "idle" && len(s.Drift) == 0 })
	m.Doctor(0).IsWell(m.Team, "team.health", "team.sessions", "team.transcripts", "left.journal")
}
