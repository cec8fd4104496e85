package main

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// How full a conversation is and what it cost, as the real Claude Code tells it.

func TestContextAndCostOfARealAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		window := 1_000_000
		if strings.HasSuffix(t.Name(), versions[1]) {
			window = 200_000
		}
		m.ok("spawn", "alpha", "--model", "sonnet")
		low := m.waits("alpha", "--for", "context-below=25%")
		s := m.session("alpha")
		m.typeLine(s, "Hello. [[usage 50000]]")
		l := m.waitSession("alpha", "is measured by the status line", func(l session) bool {
			return l.Context != nil && l.Context.Source == "status line" && l.Context.Tokens >= 50_000 && l.Cost != nil && l.Cost.USD > 0
		})
		if l.Context.Window != window || l.Context.Band != "healthy" || l.Context.LeftPercent != 100-l.Context.UsedPercent || l.Cost.Source != "status line" || l.Context.AgeS == nil {
			t.Errorf("%+v, %+v", l.Context, l.Cost)
		}
		list := m.ok("list")
		m.check(regexp.MustCompile(`\t\d+\t\d+\.\d\d\t`).MatchString(list), "list: %q", list)
		m.typeLine(m.session("alpha"), "More. [[usage "+map[int]string{1_000_000: "800000", 200_000: "160000"}[window]+"]]")
		r := low.end()
		m.check(r.code == 0 && (r.stdout == "alpha\tidle\t-\n" || r.stdout == "alpha\tbusy\t-\n"), "below 25 %%: %s", r)
		m.waitState("alpha", "idle")
		if l := m.session("alpha"); l.Context.LeftPercent >= 25 || l.Context.Band != "low" {
			t.Errorf("%+v", l.Context)
		}
		// Without the status line the transcript tells it, and what Claude wrote down when it left.
		m.ok("stop", "alpha")
		before := m.session("alpha")
		m.must(os.Remove(m.inNbs("status", "alpha.json")))
		l = m.session("alpha")
		if l.Context == nil || l.Context.Source != "transcript" || l.Context.UsedPercent != before.Context.UsedPercent || l.Context.Window != window {
			t.Errorf("from the transcript: %+v; before %+v", l.Context, before.Context)
		}
		m.check(window != 200_000 || l.Cost == nil, "the old one writes no cost, and it is %+v", l.Cost)
		m.check(window != 1_000_000 || l.Cost != nil && l.Cost.Source == "transcript" && l.Cost.USD >= before.Cost.USD, "from the transcript: %+v; before %+v", l.Cost, before.Cost)
	})
}

// What the status line said before a resume is of another start.
func TestContextAfterAKillAndAResume(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.waitSession("alpha", "is known by its cost", func(s session) bool { return s.Cost != nil })
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("resume", "alpha")
	l := m.session("alpha")
	m.check(l.Context != nil && (l.Context.Source == "transcript" || l.Context.Source == "status line") && l.Context.Tokens != 0, "%+v", l.Context)
}
