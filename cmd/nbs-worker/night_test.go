package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// night is a team of ten, four of them on the real Claude Code, of which much goes wrong.
type night struct {
	*team
	before map[string]session
}

// newNight begins it: one agent is full, one hangs, one asks, two are refused by the API, five are well.
func newNight(t *testing.T) *night {
	m := standIn(t)
	// Each agent has its program; what is wrong with it is so at each of its starts.
	choice := m.program("claude", fmt.Sprintf(`case $NBS_HANDLE in
full|hangs|login|crash) exec %s "$@" ;;
loop) [ -e %s ] && export NBS_SIM_CLAUDE=die-after=1500ms ;;
asks) [ -e %[2]s ] || export NBS_SIM_CLAUDE=dialog=login ;;
esac
exec %[3]s "$@"`, rig.ClaudeBinary(t, versions[0]), m.evening(), m.variable("NBS_CLAUDE")))
	m.env = append(m.env, "NBS_CLAUDE="+choice)
	n := &night{team: m, before: map[string]session{}}
	for handle, prompt := range map[string]string{
		"full": "[[usage 880000]] Remember 42.", "hangs": "[[delay 10m]] hello", "login": "[[error 403]] hello", "crash": "Remember 42.",
		"loop": "", "asks": "", "a": "", "b": "", "c": "", "d": "",
	} {
		args := []string{"spawn", handle, "--model", "sonnet", "--no-wait"}
		if prompt != "" {
			args = append(args, "--prompt", prompt)
		}
		m.ok(args...)
	}
	for handle, state := range map[string]string{
		"full": "idle", "hangs": "busy", "login": "failed", "crash": "idle", "loop": "idle", "asks": "waiting", "a": "idle", "b": "idle", "c": "idle", "d": "idle",
	} {
		n.before[handle] = m.waitState(handle, state)
	}
	return n
}

// evening is a file that is there when the night has begun.
func (m *team) evening() string { return filepath.Join(m.world.Root, "evening") }

// mustKeep checks that an agent is so in the morning, in its conversation.
func (n *night) mustKeep(verdict string, handles ...string) {
	n.Helper()
	for _, handle := range handles {
		n.waitFor(handle+" is "+verdict, func() (bool, string) {
			all, _ := n.triage(handle)
			return all[handle].Verdict == verdict, fmt.Sprintf("%+v", all[handle])
		})
		if now := n.session(handle); now.SessionID != n.before[handle].SessionID {
			n.Errorf("%s is in another conversation: before %+v\nafter %+v", handle, n.before[handle], now)
		}
	}
}

// A team is left alone. In the morning all that can be well is, what only a person can help is held,
// and the person was told of each thing once.
func TestNight(t *testing.T) {
	n := newNight(t)
	w := n.beginWatch("patience: 5s\nevery: 3s\nrepairs: {per-hour: 60}\n")
	w.waitTold("asks", "waiting")
	w.waitTold("login", "held")
	w.waitDeed("repaired", "full", 1)
	w.waitDeed("repaired", "hangs", 1)

	n.write(n.evening(), "")
	n.kill(n.before["loop"].RecordedPID, syscall.SIGKILL)
	n.kill(n.before["crash"].RecordedPID, syscall.SIGKILL)
	w.waitDeed("repaired", "crash", 1)
	w.waitDeed("held", "loop", 1)
	n.mustBeLeftAlone("asks", n.before["asks"])
	w.waitTold("asks", "waiting")

	n.killServer()
	n.mustKeep("idle", "full", "hangs", "crash", "asks", "a", "b", "c", "d")
	n.mustKeep("held", "login", "loop")
	w.interrupt()

	if asked := strings.TrimSpace(n.ok("send", "crash", "What number?", "--wait-reply")); asked != "42" {
		t.Errorf("crash has forgotten: %s", asked)
	}
	for handle, want := range map[string]string{"loop": "held", "asks": "waiting", "full": "context"} {
		if told := w.told(handle); strings.Count(told, want) != 1 {
			t.Errorf("of %s was told %s", handle, told)
		}
	}
	for _, d := range w.deeds() {
		if d.What == "repaired" && !strings.Contains(strings.Join(n.noted(d.Handle, "watch"), "\n"), "repairs it, level ") {
			t.Errorf("the journal does not explain %+v", d)
		}
	}
}
