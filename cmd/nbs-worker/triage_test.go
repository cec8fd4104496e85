package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// assessment is what triage --json tells of an agent.
type assessment struct {
	Handle, Verdict string
	Level           int
	Evidence        []string
	Command         string
}

// triage judges agents; the code is that of the command.
func (m *team) triage(args ...string) (byHandle map[string]assessment, code int) {
	m.Helper()
	r := m.nbs(append([]string{"triage", "--json"}, args...)...)
	var all []assessment
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		m.Fatalf("%v in %s", err, r)
	}
	byHandle = map[string]assessment{}
	for _, a := range all {
		byHandle[a.Handle] = a
	}
	return byHandle, r.code
}

// judged is what triage is to say of an agent, with words of its evidence.
type judged struct {
	verdict  string
	level    int
	evidence []string
	command  string
}

func (m *team) mustJudge(got map[string]assessment, want map[string]judged) {
	m.Helper()
	m.check(len(got) == len(want), "%d agents; want %d: %+v", len(got), len(want), got)
	for handle, w := range want {
		g := got[handle]
		m.check(g.Verdict == w.verdict && g.Level == w.level && g.Command == w.command, "%s: %+v; want %+v", handle, g, w)
		m.mustSay(strings.Join(g.Evidence, "\n"), w.evidence...)
	}
}

// Each verdict on a real claude that is so, with its evidence.
func TestTriageOfATeam(t *testing.T) {
	m := real(t)
	for _, handle := range []string{"idle", "crashed", "ended", "frozen"} {
		m.ok("spawn", handle, "--model", "sonnet")
	}
	m.ok("spawn", "full", "--model", "sonnet", "--prompt", "[[usage 820000]] Remember 42.")
	m.ok("spawn", "floor", "--model", "sonnet", "--prompt", "[[usage 950000]] Remember 42.")
	m.ok("spawn", "asks", "--model", "sonnet", "--prompt", "[[tool AskUserQuestion "+question+"]]")
	m.ok("spawn", "works", "--model", "sonnet", "--prompt", "[[delay 10m]] hello")
	m.ok("spawn", "refused", "--model", "sonnet", "--prompt", "[[error 403]] hello")
	m.ok("spawn", "over", "--model", "sonnet", "--prompt", "[[error too-long]] hello")
	m.ok("spawn", "moved", "--model", "sonnet", "--cwd", m.folder("project/place"))
	m.ok("stop", "ended")
	m.kill(m.session("moved").RecordedPID, syscall.SIGKILL)
	m.waitState("moved", "crashed")
	m.must(os.RemoveAll(m.folder("project/place")))
	m.kill(m.session("crashed").RecordedPID, syscall.SIGKILL)
	m.waitState("crashed", "crashed")
	m.kill(m.session("frozen").RecordedPID, syscall.SIGSTOP)
	m.waitState("asks", "waiting")
	m.waitState("full", "idle")
	m.waitState("floor", "idle")
	m.waitState("refused", "failed")
	m.waitState("over", "failed")
	before := m.session("works")

	all, code := m.triage()
	m.check(code == 8, "exit code %d", code)
	m.mustJudge(all, map[string]judged{
		"idle":    {"idle", 0, []string{"the registry says idle"}, ""},
		"full":    {"stressed", 2, []string{"18% of its context is left (low): 820,0"}, "nbs-worker compact full"},
		"floor":   {"stressed", 4, []string{"% of its context is left (floor)"}, "nbs-worker resume floor --force --fresh"},
		"asks":    {"waiting", 0, []string{"the registry says waiting: "}, "nbs-worker attach asks"},
		"works":   {"healthy", 0, []string{"the registry says busy"}, ""},
		"refused": {"held", 0, []string{"authentication_failed"}, "nbs-worker attach refused"},
		"over":    {"stressed", 2, []string{"its conversation is full"}, "nbs-worker compact over"},
		"crashed": {"dead", 3, []string{"crashed (signal: killed)"}, "nbs-worker resume crashed"},
		"moved":   {"missing", 0, []string{"its folder ", "is not there"}, "nbs-worker resume moved --cwd DIR"},
		"ended":   {"stopped", 0, []string{"on purpose"}, ""},
		"frozen":  {"zombie", 3, []string{"stopped by a signal at two looks 2s apart, in which it used 0s"}, "nbs-worker resume frozen --force"},
	})

	m.check(m.tmuxCalls("triage") == m.tmuxCalls("list"), "triage asks tmux %d times, list %d", m.tmuxCalls("triage"), m.tmuxCalls("list"))

	// The same agent with less patience: the spinner turns, and nothing grows.
	m.waitFor("nothing of it grows", func() (bool, string) {
		stuck, code := m.triage("works", "--patience", "2s")
		w := stuck["works"]
		return w.Verdict == "stuck" && w.Level == 2 && code == 7, strings.Join(w.Evidence, "; ")
	})
	m.mustBeLeftAlone("works", before)

	_, code = m.triage("idle", "ended")
	m.check(code == 0, "exit code %d of agents that are well", code)
	m.refused(2, "nobody", "triage", "idle", "nobody")
	tabs := m.nbs("triage", "crashed")
	m.check(tabs.code == 7 && strings.HasPrefix(tabs.stdout, "crashed\tdead\t3\tcrashed (signal: killed)") && strings.HasSuffix(tabs.stdout, "\tnbs-worker resume crashed\n"), "%s", tabs)
	m.kill(m.session("frozen").RecordedPID, syscall.SIGCONT)

	// Who has logged in and resumes the agent has mended it: it is not held until its next turn.
	m.ok("resume", "refused", "--force")
	mended, code := m.triage("refused")
	m.check(mended["refused"].Verdict == "idle" && code == 0, "%+v, exit code %d", mended["refused"], code)
}

// tmuxCalls is how many tmux processes a command starts.
func (m *team) tmuxCalls(verb string) int {
	m.Helper()
	real, err := exec.LookPath("tmux")
	m.must(err)
	calls := filepath.Join(m.TempDir(), "calls")
	counting := m.program("tmux", "echo >>"+calls+"; exec "+real+` "$@"`)
	m.nbsWith([]string{m.before(counting)}, verb)
	lines, err := os.ReadFile(calls)
	m.must(err)
	return len(lines)
}
