package recover

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// judged is what triage is to say of an agent, with words of its evidence.
type judged struct {
	verdict  string
	level    int
	evidence []string
	command  string
}

func (m *team) mustJudge(got map[string]e2e.Assessment, want map[string]judged) {
	m.Helper()
	m.Check(len(got) == len(want), "%d agents; want %d: %+v", len(got), len(want), got)
	for handle, w := range want {
		g := got[handle]
		m.Check(g.Verdict == w.verdict && g.Level == w.level && g.Command == w.command, "%s: %+v; want %+v", handle, g, w)
		m.MustSay(strings.Join(g.Evidence, "\n"), w.evidence...)
	}
}

// spawnTroubled spawns a team in all states of health.
func (m *team) spawnTroubled() {
	m.Helper()
	for _, handle := range []string{"idle", "crashed", "ended", "frozen"} {
		m.OK("spawn", handle, "--model", "sonnet")
	}
	for handle, prompt := range map[string]string{
		"full":    "[[usage 820000]] Remember 42.",
		"floor":   "[[usage 950000]] Remember 42.",
		"refused": "[[error 403]] hello",
		"works":   "[[delay 10m]] hello",
	} {
		m.OK("spawn", handle, "--model", "sonnet", "--prompt", prompt)
	}
	m.StartAsking("spawn", "asks", "--model", "sonnet", "--permission-mode", "default", "--prompt", `[[tool Bash {"command":"true"}]]`)
	m.OK("spawn", "moved", "--model", "sonnet", "--cwd", m.Folder("project/place"))
}

// Each verdict on a claude that is so, with its evidence.
func TestTriageOfATeam(t *testing.T) {
	m := standIn(t)
	m.spawnTroubled()
	m.OK("stop", "ended")
	m.Kill(m.Session("moved").RecordedPID, syscall.SIGKILL)
	m.WaitState("moved", "crashed")
	m.Must(os.RemoveAll(m.Folder("project/place")))
	m.Kill(m.Session("crashed").RecordedPID, syscall.SIGKILL)
	m.WaitState("crashed", "crashed")
	m.Kill(m.Session("frozen").RecordedPID, syscall.SIGSTOP)
	m.WaitState("asks", "waiting")
	m.WaitFor("a hook waits", func() (bool, string) { open := m.OK("requests"); return open != "", open })
	m.WaitState("full", "idle")
	m.WaitState("floor", "idle")
	m.WaitState("refused", "failed")

	all, code := m.Triage()
	m.Check(code == 8, "exit code %d", code)
	m.mustJudge(all, map[string]judged{
		"idle":    {"idle", 0, []string{"the registry says idle"}, ""},
		"full":    {"stressed", 2, []string{"18% of its context is left (low): 820,0"}, "nbs-worker compact full"},
		"floor":   {"stressed", 4, []string{"% of its context is left (floor)"}, "nbs-worker resume floor --force --fresh"},
		"asks":    {"waiting", 0, []string{"the registry says waiting: "}, "nbs-worker requests asks"},
		"works":   {"healthy", 0, []string{"the registry says busy"}, ""},
		"refused": {"held", 0, []string{"authentication_failed"}, "nbs-worker attach refused"},
		"crashed": {"dead", 3, []string{"crashed (signal: killed)"}, "nbs-worker resume crashed"},
		"moved":   {"missing", 0, []string{"its folder ", "is not there"}, "nbs-worker resume moved --cwd DIR"},
		"ended":   {"stopped", 0, []string{"on purpose"}, ""},
		"frozen":  {"zombie", 3, []string{"stopped by a signal at two looks 2s apart; in between it used 0s"}, "nbs-worker resume frozen --force"},
	})

	m.Check(m.tmuxCalls("triage") == m.tmuxCalls("list"), "triage asks tmux %d times, list %d", m.tmuxCalls("triage"), m.tmuxCalls("list"))
	asked := m.tmuxCalls("session", "idle")
	m.Check(asked == 1, "session asks tmux %d times", asked)

	_, code = m.Triage("idle", "ended")
	m.Check(code == 0, "exit code %d of agents that are well", code)
	m.Refused(2, "nobody", "triage", "idle", "nobody")
	tabs := m.NBS("triage", "crashed")
	m.Check(tabs.Code == 7 && strings.HasPrefix(tabs.Stdout, "crashed\tdead\t3\tcrashed (signal: killed)") && strings.HasSuffix(tabs.Stdout, "\tnbs-worker resume crashed\n"), "%s", tabs)
	m.Kill(m.Session("frozen").RecordedPID, syscall.SIGCONT)

	// Who has logged in and resumes the agent has mended it: it is not held until its next turn.
	m.OK("resume", "refused", "--force")
	mended, code := m.Triage("refused")
	m.Check(mended["refused"].Verdict == "idle" && code == 0, "%+v, exit code %d", mended["refused"], code)
}

// tmuxCalls is how many tmux processes a command starts.
func (m *team) tmuxCalls(args ...string) int {
	m.Helper()
	real, err := exec.LookPath("tmux")
	m.Must(err)
	calls := filepath.Join(m.TempDir(), "calls")
	counting := m.Program("tmux", "echo >>"+calls+"; exec "+real+` "$@"`)
	m.NBSWith([]string{m.Before(counting)}, args...)
	lines, err := os.ReadFile(calls)
	m.Must(err)
	return len(lines)
}
