package main

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
	m.decode(&all, append([]string{"memory", "list", "--json", "--last", "100"}, args...)...)
	slices.Reverse(all)
	return all
}

// announced waits until hooks have announced so many ends of turns that nobody has looked at.
func (m *team) announced(n int) {
	m.Helper()
	m.waitFor(fmt.Sprintf("%d ends of turns are announced", n), func() (bool, string) {
		all, err := filepath.Glob(filepath.Join(m.world.Project, ".nbs", "memory", "spool", "*.json"))
		m.must(err)
		return len(all) >= n, fmt.Sprint(all)
	})
}

// decides has an agent take a line that is worth a note, and waits until its hook has said so.
func (m *team) decides(handle, title string) {
	m.Helper()
	before, err := filepath.Glob(filepath.Join(m.world.Project, ".nbs", "memory", "spool", "*.json"))
	m.must(err)
	m.saysAndHears(handle, "decision: "+title, "agent: You said: decision: "+title)
	m.announced(len(before) + 1)
}

func (m *team) observes() {
	m.Helper()
	m.ok("memory", "work", "--once")
}

// mustBeApart checks that each conversation of an agent has an observer of its own, and that no id is of both kinds.
func (m *team) mustBeApart() {
	m.Helper()
	m.mustSay(m.ok("memory", "check", "--json"), `"whole":true`)
	var status struct {
		Conversations []struct {
			SessionID string `json:"session_id"`
			Observer  string
		}
	}
	m.decode(&status, "memory", "status", "--json")
	seen := map[string]bool{}
	for _, c := range status.Conversations {
		for _, id := range []string{c.SessionID, c.Observer} {
			m.check(id != "" && !seen[id], "%q is there twice: %+v", id, status)
			seen[id] = true
		}
	}
	records, err := filepath.Glob(filepath.Join(m.world.Project, ".nbs", "sessions", "*.json"))
	m.must(err)
	for _, record := range records {
		text, err := os.ReadFile(record)
		m.must(err)
		for _, c := range status.Conversations {
			m.check(!strings.Contains(string(text), c.Observer), "%s has the observer %s", record, c.Observer)
		}
	}
}

func TestMemoryOfAnAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "Remember 42.")
		m.mustAnswer("alpha", "OK, I will remember 42.")
		m.announced(1)
		m.decides("alpha", "keep observations in SQLite")
		m.saysAndHears("alpha", "open end: nobody has written the manual", "agent: You said: open end")
		m.announced(3)
		m.observes()
		all := m.observations()
		m.check(len(all) == 2 && all[0].Title == "keep observations in SQLite" && all[0].Turn == 2 && all[1].Type == "open_end" && all[1].Turn == 3, "%+v", all)
		m.mustSay(m.ok("memory", "search", "manual"), "nobody has written the manual")
		m.observes()
		m.check(len(m.observations()) == 2, "a turn is observed twice: %+v", m.observations())

		// Nobody sees an observer but in what is remembered.
		list := m.ok("list", "--json")
		m.check(!strings.Contains(list, all[0].Observer) && strings.Count(list, `"handle"`) == 1, "list: %s", list)

		// A resume of the agent changes nothing; who observes begins another conversation.
		m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha", "--prompt", "decision: go on")
		m.mustAnswer("alpha", "You said: decision: go on")
		m.announced(1)
		m.observes()
		after := m.observations()
		m.check(len(after) == 3 && after[2].Title == "go on" && after[0].Observer == after[2].Observer && after[0].Observer != all[0].Observer, "%+v", after)
		m.mustBeApart()
	})
}

// Wherever the agent goes inside claude, its turns are of the conversation in which they were said, each once.
func TestMemoryFollowsTheAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: first")
		m.mustAnswer("alpha", "You said: decision: first")
		first := m.session("alpha")
		m.announced(1)
		m.typeLine(first, "/branch")
		branched := m.waitMoved(first, "branch")
		m.waitArrived("alpha")
		m.decides("alpha", "branched")
		m.typeLine(first, "/clear")
		cleared := m.waitMoved(branched, "clear")
		m.waitArrived("alpha")
		m.decides("alpha", "cleared")
		for _, number := range []string{"42", "43"} { // 2.1.197 does not compact what is short
			m.saysAndHears("alpha", "Remember "+number+".", "OK, I will remember "+number)
		}
		m.saysAndHears("alpha", "/compact", "the conversation was compacted (manual), from ")
		m.decides("alpha", "compacted")
		m.typeLine(first, "/resume "+first.SessionID)
		m.waitMoved(cleared, "resume")
		m.waitArrived("alpha")
		m.decides("alpha", "resumed")
		m.observes()
		want := []string{
			first.SessionID + " first", branched.SessionID + " branched", cleared.SessionID + " cleared",
			cleared.SessionID + " compacted", first.SessionID + " resumed",
		}
		var got []string
		for _, o := range m.observations() {
			got = append(got, o.SessionID+" "+o.Title)
		}
		slices.Sort(want)
		slices.Sort(got)
		rig.Same(t, "observations by conversation", want, got)
		m.mustBeApart()
	})
}

// Ten agents in one folder, two of which say the same, are observed at once, each for itself.
func TestMemoryOfTenAgents(t *testing.T) {
	m := real(t)
	var handles []string
	for i := range 10 {
		handle := fmt.Sprintf("agent-%d", i)
		handles = append(handles, handle)
		m.ok("spawn", handle, "--model", "sonnet", "--memory", "--prompt", fmt.Sprintf("decision: number %d", i/2*2))
	}
	for _, handle := range handles {
		m.waitState(handle, "idle")
	}
	m.announced(10)
	m.observes()
	all := m.observations()
	seen := map[string]string{}
	for _, o := range all {
		seen[o.Handle] = o.Title
	}
	for i, handle := range handles {
		m.check(seen[handle] == fmt.Sprintf("number %d", i/2*2), "%s: %+v", handle, all)
	}
	m.check(len(all) == 10, "%+v", all)
	m.mustBeApart()
}

// What a subagent found is its agent's.
func TestMemoryOfASubagent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt",
			`[[tool Task {"description":"d","prompt":"discovery: the cache is stale","subagent_type":"general-purpose"}]]`)
		m.waitState("alpha", "idle")
		m.announced(1)
		m.observes()
		all := m.observations()
		m.check(slices.ContainsFunc(all, func(o observation) bool {
			return o.Title == "the cache is stale" && o.Handle == "alpha" && o.SessionID == m.session("alpha").SessionID
		}), "%+v", all)
	})
}

// What the API refuses is told, and shown again by the next run; nonsense is passed over, and told.
func TestMemoryThatCannotBeMade(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer error 403 times=1]]")
	m.mustAnswer("alpha", "You said: decision: one")
	m.announced(1)
	m.refused(7, "authentication", "memory", "work", "--once")
	m.mustSay(m.ok("memory", "status"), "authentication: ")
	m.decides("alpha", "two [[observer wrong always]]")
	m.saysAndHears("alpha", "decision: three", "agent: You said: decision: three")
	m.announced(3)
	m.observes()
	all := m.observations()
	m.check(len(all) == 2 && strings.HasPrefix(all[0].Title, "one") && all[1].Title == "three" && all[1].Turn == 3, "%+v", all)
	m.mustSay(m.ok("events", "alpha"), "memory-skipped", "turn 2 of "+m.session("alpha").SessionID+" was not observed")
	m.check(!strings.Contains(m.ok("memory", "status"), "authentication"), "its trouble is over: %s", m.ok("memory", "status"))
	m.mustBeApart()
}

// A worker that is killed with its observer is followed by one that observes what is missing, and nothing twice; the
// server of the project observes by itself.
func TestMemoryOutlivesItsWorker(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer slow 2s]]")
		m.mustAnswer("alpha", "You said: decision: one")
		m.announced(1)
		work := m.begin("memory", "work")
		m.waitFor("the observer is asked", func() (bool, string) {
			return slices.ContainsFunc(m.api.Requests(), func(r api.Request) bool { return strings.Contains(r.Last(), "<transcript ") }), ""
		})
		m.must(work.Process.Kill())
		work.end()
		m.observes()
		m.check(len(m.observations()) == 1, "%+v", m.observations())
		m.mustBeApart()

		serve := m.begin("serve")
		m.saysAndHears("alpha", "decision: two", "agent: You said: decision: two")
		m.waitFor("the server has observed it", func() (bool, string) {
			all := m.observations()
			return len(all) == 2 && all[1].Title == "two", fmt.Sprintf("%+v", all)
		})
		m.must(serve.Process.Signal(syscall.SIGTERM))
		serve.end()
		m.mustBeApart()
	})
}
