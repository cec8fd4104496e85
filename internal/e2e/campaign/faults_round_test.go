package campaign

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

const (
	subject   = "alpha"
	bystander = "bystander" // of the same project and tmux server; nobody may touch it
)

// ground is a team that takes one fault after the other.
type ground struct {
	*team
	stand    string // path of the stand-in, which plays the bystander everywhere
	hasOther bool   // whether there is a bystander
	number   int    // that the subject was told last
	rounds   int
	usual    map[faults.Verb]time.Duration
	last     faults.Result
}

// round is one fault: what was before, what happened, what must hold.
type round struct {
	*ground
	fault   faults.Fault
	id      string // of the conversation; "" before a spawn
	before  e2e.Session
	began   startOf // the start that the verb met; none before a spawn
	accept  []int   // numbers that the agent may remember
	other   e2e.Session
	verb    e2e.Result
	hit     faults.Result
	settled e2e.Session // after the fault
	there   bool        // whether the record is

	// What else a kill waits for, and what the verb is run by; nil in a campaign.
	due    func() bool
	around func(verb *exec.Cmd) *exec.Cmd
}

// play makes one fault and its repair. g.last tells what became of the kill.
func (g *ground) play(t *testing.T, fault faults.Fault) {
	outer := g.team.T
	g.team.T = t
	defer func() { g.team.T = outer }()
	g.rounds++
	g.last = faults.Result{}
	r := &round{ground: g, fault: fault}
	defer r.explain()
	r.prepare()
	r.strike()
	g.last = r.hit
	if fault.Hasty {
		r.repairAtOnce()
	}
	r.settle(r.hit.PIDs...)
	r.check()
	r.repair()
	r.checkRepaired()
}

// explain shows what happened in a round that failed.
func (r *round) explain() {
	r.Helper()
	if r.Failed() {
		r.Logf("%s\nthe steps of the verb and the kill:\n%s\nthe verb: %s", r.fault, r.hit.Trail(), r.verb)
	}
}

// prepare brings about the state in which the verb begins.
func (r *round) prepare() {
	r.Helper()
	r.keepOther()
	if r.fault.Verb == faults.Spawn {
		if r.rounds == 1 {
			r.tell(r.number + 1) // and dismissed again: then all folders are there to be watched
		}
		if r.recorded() {
			r.OK("dismiss", subject)
		}
		return
	}
	if !r.recorded() {
		r.tell(r.number + 1)
	}
	r.before = r.WaitState(subject, "idle")
	r.id, r.accept = r.before.SessionID, []int{r.number}
	victim := map[faults.Before]int{
		faults.ClaudeKilled: r.before.RecordedPID, faults.LauncherKilled: r.Launcher(subject), faults.ServerKilled: r.ServerPID(),
	}[r.fault.Before]
	switch {
	case r.fault.Before == faults.Stopped:
		r.OK("stop", subject)
	case victim != 0:
		r.Kill(victim, syscall.SIGKILL)
		r.settle(victim)
	}
	r.keepOther()
	r.began, _, _ = r.lastStart(subject)
}

// tell spawns the subject with a new number to remember.
func (r *round) tell(number int) {
	r.Helper()
	r.number = number
	r.OK(r.spawn()...)
}

// tell is what the subject is told.
func tell(number int) string { return fmt.Sprintf("Remember %d.", number) }

func (r *round) spawn() []string {
	return []string{"spawn", subject, "--model", "sonnet", "--prompt", tell(r.number)}
}

// keepOther sees to it that the bystander runs.
func (r *round) keepOther() {
	r.Helper()
	if !r.hasOther {
		return
	}
	verb := "spawn"
	if _, there, _ := r.lastStart(bystander); there {
		verb = "resume"
		r.WaitFor("the bystander is at rest", func() (bool, string) {
			r.other = r.Session(bystander)
			return r.other.State == "idle" && r.other.TmuxAlive || r.other.IsDead(), fmt.Sprintf("%+v", r.other)
		})
		if r.other.Running {
			return
		}
	}
	if other := r.NBSWith([]string{"NBS_CLAUDE=" + r.stand}, verb, bystander); other.Code != 0 {
		r.Fatalf("%s of the bystander: %s", verb, other)
	}
	r.other = r.Session(bystander)
}

func (r *round) recorded() bool {
	r.Helper()
	_, there, err := r.lastStart(subject)
	if err != nil {
		r.Fatalf("the record does not parse: %v", err)
	}
	return there
}

// words is the command line of the verb. One that starts the agent tells it a new number.
func (r *round) words() []string {
	switch r.fault.Verb {
	case faults.Stop, faults.Dismiss:
		return []string{string(r.fault.Verb), subject}
	case faults.Spawn:
		r.number++
		r.accept = []int{r.number}
		return r.spawn()
	default:
		r.number++
		r.accept = append(r.accept, r.number)
		return append(strings.Fields(string(r.fault.Verb)), subject, "--prompt", tell(r.number))
	}
}

// verbLimit is less than a start waits for claude, and much more than a verb needs: one that waits for what is gone is
// found by it.
const verbLimit = 20 * time.Second

// strike runs the verb and kills.
func (r *round) strike() {
	r.Helper()
	cmd := r.Command(r.words())
	if r.around != nil {
		cmd = r.around(cmd)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var verb atomic.Int64
	place := faults.Place{
		NBS: r.InNbs(), Launches: r.LaunchFolder(), Config: r.World.ConfigDir, Handle: subject,
		Tmux: r.World.TmuxDir + "/tmux-" + strconv.Itoa(os.Getuid()),
	}
	strike, err := faults.Begin(r.fault, place, r.usual[r.fault.Verb], func(victim faults.Victim) *os.Process {
		if r.due != nil && !r.due() {
			return nil
		}
		if victim == faults.TheVerb {
			return r.hold(int(verb.Load()))
		}
		return r.victim(subject, victim)
	})
	r.Must(err)
	r.Must(cmd.Start())
	verb.Store(int64(cmd.Process.Pid))
	begun := time.Now()
	hung := time.AfterFunc(rig.Scaled(verbLimit), func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the code tells
	if !hung.Stop() {
		r.Errorf("the verb was still there after %s", time.Since(begun))
	}
	if len(r.fault.Victims) == 0 {
		r.settle() // what the verb set going is seen to its end: the last reply may come after it
	}
	r.hit = strike.End()
	if r.hit.Err != nil {
		r.Fatal(r.hit.Err)
	}
	r.verb = e2e.Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// settle waits until everything that was set going has come to rest: who was killed is gone, nothing that ends by itself
// is left, and the agent either runs, claude and launcher in a tmux that lives, and is idle, or has ended with all that
// ends with it.
func (r *round) settle(killed ...int) {
	r.Helper()
	for _, pid := range killed {
		r.WaitDead(pid)
	}
	r.WaitFor("the agent comes to rest", func() (bool, string) {
		var own []e2e.WorldProcess
		led := false
		for _, p := range r.Processes() {
			switch {
			case p.IsTransient(r.Worker):
				return false, p.String()
			case p.IsLauncher(r.Worker, subject):
				own, led = append(own, p), true
			case p.Handle == subject && p.IsClaude():
				own = append(own, p)
			}
		}
		if r.there = r.recorded(); !r.there {
			return len(own) == 0, fmt.Sprint(own)
		}
		r.settled = r.Session(subject)
		detail := fmt.Sprintf("%+v\n%v", r.settled, own)
		// The kernel shows a killed claude as a zombie while its other threads are still ending.
		runs := r.settled.State == "idle" && !slices.Contains(killed, r.settled.RecordedPID)
		return runs && r.settled.TmuxAlive && led || r.settled.IsDead() && len(own) == 0, detail
	})
}
