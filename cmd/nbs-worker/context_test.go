package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// How full a conversation is and what it cost, as the real Claude Code tells it.

// level is what session --json says of context and cost.
type level struct {
	Context *struct {
		UsedPercent int `json:"used_percent"`
		LeftPercent int `json:"left_percent"`
		Tokens      int
		Window      int
		Band        string
		Source      string
		AgeS        *int `json:"age_s"`
	}
	Cost *struct {
		USD    float64
		Source string
	}
}

func (m *team) level(handle string) (l level) {
	m.Helper()
	m.must(json.Unmarshal([]byte(m.ok("session", handle, "--json")), &l))
	return l
}

func TestContextAndCostOfARealAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		window := 1_000_000
		if strings.HasSuffix(t.Name(), versions[1]) {
			window = 200_000
		}
		m.ok("spawn", "alpha", "--model", "sonnet")
		low := m.begin("wait", "alpha", "--for", "context-below=25%")
		m.asleep(low)
		s := m.session("alpha")
		m.typeLine(s, "Hello. [[usage 50000]]")
		m.waitFor("the status line tells the level", func() (bool, string) {
			l := m.level("alpha")
			text, _ := json.Marshal(l)
			return l.Context != nil && l.Context.Source == "status line" && l.Context.Tokens >= 50_000 && l.Cost != nil && l.Cost.USD > 0, string(text)
		})
		l := m.level("alpha")
		if l.Context.Window != window || l.Context.Band != "healthy" || l.Context.LeftPercent != 100-l.Context.UsedPercent || l.Cost.Source != "status line" || l.Context.AgeS == nil {
			t.Errorf("%+v, %+v", l.Context, l.Cost)
		}
		if list := m.ok("list"); !regexp.MustCompile(`\t\d+\t\d+\.\d\d\t`).MatchString(list) {
			t.Errorf("list: %q", list)
		}
		m.typeLine(m.session("alpha"), "More. [[usage "+map[int]string{1_000_000: "800000", 200_000: "160000"}[window]+"]]")
		if r := low.end(); r.code != 0 || r.stdout != "alpha\tidle\t-\n" && r.stdout != "alpha\tbusy\t-\n" {
			t.Errorf("below 25 %%: %s", r)
		}
		m.waitState("alpha", "idle")
		if l := m.level("alpha"); l.Context.LeftPercent >= 25 || l.Context.Band != "low" {
			t.Errorf("%+v", l.Context)
		}
		// Without the status line the transcript tells it, and what Claude wrote down when it left.
		m.ok("stop", "alpha")
		before := m.level("alpha")
		m.removeStatus("alpha")
		l = m.level("alpha")
		if l.Context == nil || l.Context.Source != "transcript" || l.Context.UsedPercent != before.Context.UsedPercent || l.Context.Window != window {
			t.Errorf("from the transcript: %+v; before %+v", l.Context, before.Context)
		}
		if window == 200_000 && l.Cost != nil {
			t.Errorf("the old one writes no cost, and it is %+v", l.Cost)
		}
		if window == 1_000_000 && (l.Cost == nil || l.Cost.Source != "transcript" || l.Cost.USD < before.Cost.USD) {
			t.Errorf("from the transcript: %+v; before %+v", l.Cost, before.Cost)
		}
	})
}

// What the status line said before a resume is of another start.
func TestContextAfterAKillAndAResume(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.waitFor("a cost is known", func() (bool, string) { l := m.level("alpha"); return l.Cost != nil, "" })
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("resume", "alpha")
	l := m.level("alpha")
	if l.Context == nil || l.Context.Source != "transcript" && l.Context.Source != "status line" || l.Context.Tokens == 0 {
		t.Errorf("%+v", l.Context)
	}
}

func (m *team) removeStatus(handle string) {
	m.Helper()
	m.must(os.Remove(m.inNbs("status", handle+".json")))
}
