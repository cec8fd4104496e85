package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// Ten agents are started, stopped, resumed, dismissed and killed, again and again, and all the
// while others look. Each answer is held to what is known of the time in which it was given.

const (
	truthAgents = 10
	// truthShare is how many percent of a whole campaign are played, with each kind of claude,
	// when nobody asks for more.
	truthShare = 2
)

// TestTruth looks 10,000 times with list, 500 times with doctor and 1,000 times with session, at
// agents of each kind. NBS_TRUTH is the percentage of that.
func TestTruth(t *testing.T) {
	t.Parallel()
	share := e2e.Number(t, "NBS_TRUTH", truthShare)
	for _, kind := range []string{"stand-in", "real"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			claude := rig.StandIn(t)
			if kind == "real" {
				claude = rig.ClaudeBinary(t, rig.Newest)
			}
			w := newTruth(newTeam(t, claude))
			w.play(10_000*share/100, 500*share/100, 1_000*share/100)
		})
	}
}

// truth is one campaign.
type truth struct {
	*team
	agents map[string]*history
	idle   chan string // agents that nobody acts on
	over   atomic.Bool
	acts   atomic.Int64
}

func newTruth(m *team) *truth {
	w := &truth{team: m, agents: map[string]*history{}, idle: make(chan string, truthAgents)}
	m.OK("spawn", "bystander") // its session keeps the server: its end would be another cause of death
	for i := range truthAgents {
		handle := fmt.Sprintf("agent-%d", i)
		w.agents[handle] = newHistory()
		w.idle <- handle
	}
	return w
}

// play acts and looks until as many looks were taken as asked for.
func (w *truth) play(lists, doctors, sessions int) {
	w.Helper()
	var actors, observers sync.WaitGroup
	const atOnce = 3
	for range atOnce {
		actors.Go(w.act)
	}
	w.look(&observers, lists, w.list)
	w.look(&observers, doctors, w.diagnose)
	w.look(&observers, sessions, w.inspect)
	observers.Wait()
	w.over.Store(true)
	actors.Wait()
	w.Logf("%d lists, %d doctors and %d sessions beside %d changes", lists, doctors, sessions, w.acts.Load())
	if least := int64(lists / 100); w.acts.Load() < least {
		w.Errorf("only %d changes were made meanwhile", w.acts.Load())
	}
}

func (w *truth) look(observers *sync.WaitGroup, times int, at func()) {
	observers.Go(func() {
		for range times {
			if w.Failed() {
				return // one false word is enough to know
			}
			at()
		}
	})
}

// act changes one agent after the other.
func (w *truth) act() {
	for !w.over.Load() && !w.Failed() {
		handle := <-w.idle
		w.change(handle, w.agents[handle])
		w.acts.Add(1)
		w.idle <- handle
	}
}

// change does one of the things to an agent that can be done to it.
func (w *truth) change(handle string, h *history) {
	now := h.now()
	choices := map[phase][]string{absent: {"spawn"}, alive: {"stop", "kill", "kill", "dismiss"}, stopped: {"resume", "dismiss"}, crashed: {"resume", "resume", "stop", "dismiss"}}[now.phase]
	verb := choices[rand.IntN(len(choices))]
	switch verb {
	case "kill":
		h.begin(dying, now.pid, now.launcher)
		err := w.killed(now)
		w.Check(err == nil, "kill %s: %v", handle, err)
		h.begin(crashed, 0, 0)
	case "stop", "dismiss":
		h.begin(map[string]phase{"stop": stopping, "dismiss": leaving}[verb], now.pid, now.launcher)
		w.must(verb, handle)
		h.begin(map[string]phase{"stop": stopped, "dismiss": absent}[verb], 0, 0)
	default:
		h.begin(starting, 0, 0)
		w.must(verb, handle, "--timeout", e2e.Patience())
		pid, launcher := w.pidsOf(handle)
		h.started(pid, launcher)
	}
}

func (w *truth) must(args ...string) {
	if r := w.NBS(args...); r.Code != 0 || r.Stderr != "" {
		w.Errorf("nbs-worker %q: %s", args, r)
	}
}

// pidsOf reads the record, of which nobody else writes now.
func (w *truth) pidsOf(handle string) (claude, launcher int) {
	start, there, err := w.lastStart(handle)
	w.Check(err == nil && there, "the record of %s: %v", handle, err)
	return start.Process.PID, start.Process.Launcher.PID
}

// killed kills an agent's claude and waits until its launcher has written that down and left.
func (w *truth) killed(s span) error {
	launcher, err := local.New().Identify(s.launcher)
	if err != nil {
		return err
	}
	process, err := os.FindProcess(s.pid)
	if err != nil {
		return err
	}
	if err := process.Kill(); err != nil {
		return err
	}
	local.New().WaitGone(w.Context(), launcher, time.Minute)
	if !local.New().IsGone(launcher) {
		return fmt.Errorf("its launcher, pid %d, does not end", s.launcher)
	}
	return nil
}

// seen is what a look says of an agent.
type seen struct {
	Handle         string
	State, Cause   string
	Running        bool
	Desired        string
	PID            *int
	SessionID      string `json:"session_id"`
	PermissionMode string `json:"permission_mode"`
}

func (w *truth) list() {
	from := time.Now()
	r := w.NBS("list", "--json")
	var rows []seen
	if err := json.Unmarshal([]byte(r.Stdout), &rows); err != nil || r.Code != 0 || r.Stderr != "" {
		w.Errorf("list: %v: %s", err, r)
		return
	}
	by := map[string]*seen{}
	for i := range rows {
		by[rows[i].Handle] = &rows[i]
	}
	for handle := range w.agents {
		w.judge("list", handle, from, by[handle])
	}
}

func (w *truth) inspect() {
	handle := fmt.Sprintf("agent-%d", rand.IntN(truthAgents))
	from := time.Now()
	r := w.NBS("session", handle, "--json")
	var row *seen
	switch r.Code {
	case 0:
		row = &seen{}
		if err := e2e.One(r.Stdout, row); err != nil || r.Stderr != "" {
			w.Errorf("session %s: %v: %s", handle, err, r)
			return
		}
	case 2: // it is not there
	default:
		w.Errorf("session %s: %s", handle, r)
		return
	}
	w.judge("session", handle, from, row)
}

// judge holds an answer to all that is known of the agent in the time since it was asked for.
func (w *truth) judge(verb, handle string, from time.Time, row *seen) {
	spans := w.agents[handle].since(from)
	var whys []string
	for i := range spans {
		why := spans[i].refutes(row)
		if why == "" {
			return
		}
		whys = append(whys, why)
	}
	text, _ := json.Marshal(row)
	w.Errorf("%s says of %s: %s\n  %s", verb, handle, text, strings.Join(whys, "\n  "))
}

// isOthers reports whether doctor speaks of the claude of a turn that works elsewhere than in this project, or has ended.
// An agent of this project is never one.
func (w *truth) isOthers(id, what string) bool {
	if id != "conversations.left" {
		return false
	}
	_, named, _ := strings.Cut(what, ", pid ")
	pid, _, _ := strings.Cut(named, ",")
	folder, err := os.Readlink("/proc/" + pid + "/cwd")
	w.Check(pid != "", "doctor names no process: %s", what)
	return err != nil || !strings.HasPrefix(folder, w.World.Project)
}

// diagnose asks doctor, who finds nothing wrong with agents that are at work, nor with those
// that have crashed: triage says that. What is left of turns it finds in all projects of the user, so also in those of the
// tests that run beside this one.
func (w *truth) diagnose() {
	r := w.NBS("doctor", "--json")
	var c e2e.Checkup
	if err := json.Unmarshal([]byte(r.Stdout), &c); err != nil || r.Stderr != "" {
		w.Errorf("doctor: %v: %s", err, r)
		return
	}
	unwell := 0
	for _, found := range c.Checks {
		if found.Level != "ok" && !strings.HasPrefix(found.ID, "logout.") && found.ID != "folder.disk" && found.ID != "team.health" && !w.isOthers(found.ID, found.What) {
			w.Errorf("doctor: %s, %s: %s (%s)", found.ID, found.Level, found.What, strings.Join(found.Fix, "; "))
		}
		if found.Level != "ok" && found.Level != "note" {
			unwell++
		}
	}
	w.Check((r.Code != 0) == (unwell > 0), "doctor found %d things and ends with %d", unwell, r.Code)
}
