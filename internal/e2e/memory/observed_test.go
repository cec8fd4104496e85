package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// What agents do is observed by claudes of their own, whose conversations nobody takes for the agents'.

// observation is what memory list --json tells, as far as tests ask.
type observation struct {
	Handle    string
	SessionID string `json:"session_id"`
	Observer  string
	Type      string
	Title     string
	Turn      int
}

func (m *team) observations(args ...string) (all []observation) {
	m.Helper()
	m.Decode(&all, append([]string{"memory", "list", "--json", "--last", "100"}, args...)...)
	slices.Reverse(all)
	return all
}

// spooled are the announced ends of turns that nobody has looked at.
func (m *team) spooled() []string {
	m.Helper()
	all, err := filepath.Glob(filepath.Join(m.World.Project, ".nbs", "memory", "spool", "*.json"))
	m.Must(err)
	return all
}

// announced waits until hooks have announced so many of them.
func (m *team) announced(n int) {
	m.Helper()
	m.WaitFor(fmt.Sprintf("%d ends of turns are announced", n), func() (bool, string) {
		all := m.spooled()
		return len(all) >= n, fmt.Sprint(all)
	})
}

// decides has an agent take a line that is worth a note, and waits until its hook has said so.
func (m *team) decides(handle, title string) {
	m.Helper()
	before := len(m.spooled())
	m.SaysAndHears(handle, "decision: "+title, "agent: You said: decision: "+title)
	m.announced(before + 1)
}

func (m *team) observes() {
	m.Helper()
	m.OK("memory", "work", "--once")
}

// mustBeApart checks that each conversation of an agent has an observer of its own, and that no id is of both kinds.
func (m *team) mustBeApart() {
	m.Helper()
	m.MustSay(m.OK("memory", "check", "--json"), `"whole":true`)
	var status struct {
		Conversations []struct {
			SessionID string `json:"session_id"`
			Observer  string
		}
	}
	m.Decode(&status, "memory", "status", "--json")
	seen := map[string]bool{}
	for _, c := range status.Conversations {
		for _, id := range []string{c.SessionID, c.Observer} {
			m.Check(id != "" && !seen[id], "%q is there twice: %+v", id, status)
			seen[id] = true
		}
	}
	records, err := filepath.Glob(filepath.Join(m.World.Project, ".nbs", "sessions", "*.json"))
	m.Must(err)
	for _, record := range records {
		text, err := os.ReadFile(record)
		m.Must(err)
		for _, c := range status.Conversations {
			m.Check(!strings.Contains(string(text), c.Observer), "%s has the observer %s", record, c.Observer)
		}
	}
}

func TestMemoryOfAnAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "Remember 42.")
	m.MustAnswer("alpha", "OK, I will remember 42.")
	m.announced(1)
	m.decides("alpha", "keep observations in SQLite")
	m.SaysAndHears("alpha", "open end: nobody has written the manual", "agent: You said: open end")
	m.announced(3)
	m.observes()
	all := m.observations()
	m.Check(len(all) == 2 && all[0].Title == "keep observations in SQLite" && all[0].Turn == 2 && all[1].Type == "open_end" && all[1].Turn == 3, "%+v", all)
	m.MustSay(m.OK("memory", "search", "manual"), "nobody has written the manual")
	m.observes()
	m.Check(len(m.observations()) == 2, "a turn is observed twice: %+v", m.observations())

	// Nobody sees an observer but in what is remembered.
	list := m.OK("list", "--json")
	m.Check(!strings.Contains(list, all[0].Observer) && strings.Count(list, `"handle"`) == 1, "list: %s", list)

	// A resume of the agent changes nothing; who observes begins another conversation.
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("resume", "alpha", "--prompt", "decision: go on")
	m.MustAnswer("alpha", "You said: decision: go on")
	m.announced(1)
	m.observes()
	after := m.observations()
	m.Check(len(after) == 3 && after[2].Title == "go on" && after[0].Observer == after[2].Observer && after[0].Observer != all[0].Observer, "%+v", after)
	m.mustBeApart()
}

// Wherever the agent goes inside claude, its turns are of the conversation in which they were said, each once; what a subagent
// found is its agent's. Observers are played: the real one is tested in internal/memory/observer.
func TestMemoryFollowsTheAgent(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: first")
	m.MustAnswer("alpha", "You said: decision: first")
	first := m.Session("alpha")
	m.announced(1)
	m.TypeLine(first, "/branch")
	branched := m.WaitMoved(first, "branch")
	m.WaitArrived("alpha")
	m.decides("alpha", "branched")
	m.TypeLine(first, "/clear")
	cleared := m.WaitMoved(branched, "clear")
	m.WaitArrived("alpha")
	m.decides("alpha", "cleared")
	for _, number := range []string{"42", "43"} { // 2.1.197 does not compact what is short
		m.SaysAndHears("alpha", "Remember "+number+".", "OK, I will remember "+number)
	}
	m.SaysAndHears("alpha", "/compact", "the conversation was compacted (manual), from ")
	m.decides("alpha", "compacted")
	m.TypeLine(first, "/resume "+first.SessionID)
	m.WaitMoved(cleared, "resume")
	m.WaitArrived("alpha")
	m.decides("alpha", "resumed")
	before := len(m.spooled())
	m.SaysAndHears("alpha", `[[tool Task {"description":"d","prompt":"discovery: the cache is stale","subagent_type":"general-purpose"}]]`, "Tool said: ")
	m.announced(before + 1)
	r := m.NBSWith([]string{"NBS_CLAUDE=" + rig.StandIn(t)}, "memory", "work", "--once")
	m.Check(r.Code == 0, "%s", r)
	want := []string{
		first.SessionID + " first", branched.SessionID + " branched", cleared.SessionID + " cleared",
		cleared.SessionID + " compacted", first.SessionID + " resumed", first.SessionID + " the cache is stale",
	}
	var got []string
	for _, o := range m.observations() {
		got = append(got, o.SessionID+" "+o.Title)
	}
	slices.Sort(want)
	slices.Sort(got)
	rig.Same(t, "observations by conversation", want, got)
	m.mustBeApart()
}

// Agents in one folder, of which each two say the same, are observed at once, each for itself.
func TestMemoryOfSeveralAgents(t *testing.T) {
	m := standIn(t)
	var handles []string
	for i := range 4 {
		handle := fmt.Sprintf("agent-%d", i)
		handles = append(handles, handle)
		m.OK("spawn", handle, "--model", "sonnet", "--memory", "--prompt", fmt.Sprintf("decision: number %d", i/2*2))
	}
	for _, handle := range handles {
		m.WaitState(handle, "idle")
	}
	m.announced(len(handles))
	m.observes()
	all := m.observations()
	seen := map[string]string{}
	for _, o := range all {
		seen[o.Handle] = o.Title
	}
	for i, handle := range handles {
		m.Check(seen[handle] == fmt.Sprintf("number %d", i/2*2), "%s: %+v", handle, all)
	}
	m.Check(len(all) == len(handles), "%+v", all)
	m.mustBeApart()
}

// What the API refuses is told, and shown again by the next run; nonsense is passed over, and told.
func TestMemoryThatCannotBeMade(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer error 403 times=1]]")
	m.MustAnswer("alpha", "You said: decision: one")
	m.announced(1)
	m.Refused(7, "authentication", "memory", "work", "--once")
	m.MustSay(m.OK("memory", "status"), "authentication: ")
	m.decides("alpha", "two [[observer wrong always]]")
	m.SaysAndHears("alpha", "decision: three", "agent: You said: decision: three")
	m.announced(3)
	m.observes()
	all := m.observations()
	m.Check(len(all) == 2 && strings.HasPrefix(all[0].Title, "one") && all[1].Title == "three" && all[1].Turn == 3, "%+v", all)
	m.MustSay(m.OK("events", "alpha"), "memory-skipped", "turn 2 of "+m.Session("alpha").SessionID+" was not observed")
	m.Check(!strings.Contains(m.OK("memory", "status"), "authentication"), "its trouble is over: %s", m.OK("memory", "status"))
	m.mustBeApart()
}

// A worker that is killed with its observer is followed by one that observes what is missing, and nothing twice; the
// server of the project observes by itself.
func TestMemoryOutlivesItsWorker(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer slow 2s]]")
	m.MustAnswer("alpha", "You said: decision: one")
	m.announced(1)
	work := m.Begin("memory", "work")
	m.WaitFor("the observer is asked", func() (bool, string) {
		return slices.ContainsFunc(m.API.Requests(), func(r api.Request) bool { return strings.Contains(r.Last(), "<transcript ") }), ""
	})
	m.Must(work.Process.Kill())
	work.End()
	m.observes()
	m.Check(len(m.observations()) == 1, "%+v", m.observations())
	m.mustBeApart()

	serve := m.Begin("serve")
	m.SaysAndHears("alpha", "decision: two", "agent: You said: decision: two")
	m.WaitFor("the server has observed it", func() (bool, string) {
		all := m.observations()
		return len(all) == 2 && all[1].Title == "two", fmt.Sprintf("%+v", all)
	})
	m.Must(serve.Process.Signal(syscall.SIGTERM))
	serve.End()
	m.mustBeApart()
}
