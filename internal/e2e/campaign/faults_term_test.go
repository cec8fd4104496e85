package campaign

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// TestVerbKilledRightAfterTerm is the moment that a campaign meets by luck: the verb is killed when it has sent TERM, and
// its agent, which obeys later, still looks as if it ran. Whoever resumes it is refused, or finds it ended.
func TestVerbKilledRightAfterTerm(t *testing.T) {
	t.Parallel()
	for _, verb := range []faults.Verb{faults.Stop, faults.Dismiss, faults.Force} {
		for _, obeyed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, obeyed before the repair %v", verb, obeyed), func(t *testing.T) {
				t.Parallel()
				g := newGround(t, world{kind: "stand-in"})
				gate := filepath.Join(g.World.Home, "gate")
				rig.Must(t, syscall.Mkfifo(gate, 0o600))
				g.Env = append(g.Env, "NBS_SIM_CLAUDE=stop-gate="+gate)
				g.playRightAfterTerm(t, verb, obeyed, gate)
			})
		}
	}
}

func (g *ground) playRightAfterTerm(t *testing.T, verb faults.Verb, obeyed bool, gate string) {
	g.team.T = t
	g.rounds++
	fault := faults.Fault{Verb: verb, Victims: []faults.Victim{faults.TheVerb}, Moment: faults.Moment{Step: "verb lock", Nth: 1}}
	r := &round{ground: g, fault: fault}
	defer r.explain()
	r.prepare()
	r.killAfterTerm()
	r.strike()
	if !r.hit.Hit {
		t.Fatal("the verb was not killed")
	}
	r.settle(r.hit.PIDs...)
	if !r.settled.Running {
		t.Fatalf("the agent has obeyed too early: %+v", r.settled)
	}
	if obeyed { // after it was seen to run, and with it all that looks after its end
		seen := r.settled
		rig.Must(t, os.WriteFile(gate, nil, 0o600))
		r.settle(r.began.Process.PID)
		r.settled = seen
	}
	r.check()
	r.repair()
	r.checkRepaired()
}

// killAfterTerm makes the kill wait until the verb has sent TERM: strace tells, as a grandchild, so that the verb's pid is
// that of the command.
func (r *round) killAfterTerm() {
	r.Helper()
	rig.Needs(r, "strace")
	said := filepath.Join(r.TempDir(), "signals")
	r.due = func() bool {
		text, _ := os.ReadFile(said) // not there yet: not sent
		return termSent.Match(text)
	}
	r.around = func(verb *exec.Cmd) *exec.Cmd {
		args := []string{"-D", "-f", "-qqq", "-o", said, "-e", "trace=pidfd_send_signal", "-e", "signal=none"}
		traced := exec.Command("strace", slices.Concat(args, []string{"-E", "TMUX_TMPDIR=" + r.World.TmuxDir}, verb.Args)...)
		traced.Dir = verb.Dir
		traced.Env = slices.DeleteFunc(slices.Clone(verb.Env), func(variable string) bool {
			return strings.HasPrefix(variable, "TMUX_TMPDIR=") // by which the team's processes are known: strace is none
		})
		return traced
	}
}

var termSent = regexp.MustCompile(`SIGTERM.* = 0`)
