package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// way is a way in which a request is answered, and what may happen meanwhile.
type way struct {
	name     string
	answer   func(m *answering, r asked) fate
	byOption bool // the first option is chosen in the terminal
}

var ways = []way{
	{name: "allowed", answer: (*answering).allowed},
	{name: "denied", answer: (*answering).denied},
	{name: "by two at once", answer: (*answering).byTwo},
	{name: "late", answer: (*answering).late, byOption: true},
	{name: "the hook was killed", answer: (*answering).hookKilled, byOption: true},
	{name: "the answerer was killed", answer: (*answering).answererKilled},
	{name: "claude was killed", answer: (*answering).claudeKilled},
}

// deny is the command that denies a request.
func deny(r asked) []string {
	return []string{"deny", r.Handle, r.ID, "--message", refusal(r.number)}
}

// journaled checks that the journal says who gave the answer that counts, and that no other answer has counted.
func (m *answering) journaled(r asked, words string) {
	m.Helper()
	m.Check(strings.Contains(m.Journal(), "("+r.ID+"): "+words), "the journal does not say that %s was %s", r.ID, words)
}

func (m *answering) allowed(r asked) fate {
	m.MustPrint(r.Handle+"\n", r.kind.allow(r)...)
	words := "allowed; by "
	if r.kind.name == "question" {
		words = "answered; by "
	}
	m.journaled(r, words)
	m.Refused(5, r.ID, deny(r)...)
	return allowed
}

func (m *answering) denied(r asked) fate {
	m.MustPrint(r.Handle+"\n", deny(r)...)
	m.journaled(r, "denied; by ")
	return denied
}

// byTwo has two answer at once, one for and one against.
func (m *answering) byTwo(r asked) fate {
	var codes [2]int
	var both sync.WaitGroup
	for i, args := range [][]string{r.kind.allow(r), deny(r)} {
		both.Go(func() { codes[i] = m.NBS(args...).Code })
	}
	both.Wait()
	m.Check(codes == [2]int{0, 5} || codes == [2]int{5, 0}, "both at once end with %v", codes)
	if codes[0] == 0 {
		return allowed
	}
	return denied
}

// late answers when the terminal has already answered.
func (m *answering) late(r asked) fate {
	became := m.inTheTerminal(r)
	m.WaitState(r.Handle, "idle")
	m.WaitFor("the request is over", func() (bool, string) { return m.NBS("requests", "--json").Stdout == "[]\n", m.Screen(r.Handle) })
	m.Refused(5, "the request is over: "+r.ID, deny(r)...)
	return became
}

// inTheTerminal answers at the dialog: takes its first option or, of a plan, which would begin another conversation,
// none.
func (m *answering) inTheTerminal(r asked) fate {
	key, became, again := "Enter", allowed, time.Second
	if r.kind.name == "plan" { // a second Escape opens a menu
		key, became, again = "Escape", gone, 20*time.Second
	}
	target := "=" + m.Session(r.Handle).TmuxSession + ":"
	next := time.Now().Add(time.Second) // a dialog does not take what comes within a moment of its appearance
	m.WaitFor(key+" takes", func() (bool, string) {
		shown := m.Tmux("capture-pane", "-p", "-t", target)
		isOpen := strings.Contains(shown, "❯ 1. ")
		if now := time.Now(); isOpen && now.After(next) {
			m.Tmux("send-keys", "-t", target, key)
			next = now.Add(again)
		}
		return !isOpen, shown
	})
	return became
}

// hookKilled leaves the dialog to the terminal.
func (m *answering) hookKilled(r asked) fate {
	hooks := slices.DeleteFunc(m.Carrying(r.Handle), func(pid int) bool {
		return !slices.Contains(m.Cmdline(pid), "--answers") || m.Cmdline(pid)[0] != m.Worker
	})
	m.Check(len(hooks) == 1, "%d hooks wait", len(hooks))
	for _, pid := range hooks {
		m.Kill(pid, syscall.SIGKILL)
		m.WaitDead(pid)
	}
	m.Refused(5, "the request is over: "+r.ID, r.kind.allow(r)...)
	m.MustBe(r.Handle, "waiting")
	return m.inTheTerminal(r)
}

// answererKilled kills who allows at any moment; then another one denies. What that one is told is true.
func (m *answering) answererKilled(r asked) fate {
	first := m.Begin(r.kind.allow(r)...)
	<-time.After(time.Duration(rand.IntN(150)) * time.Millisecond)
	_ = first.Process.Kill()
	_ = first.Wait()
	switch second := m.NBS(deny(r)...); second.Code {
	case 0:
		return denied
	case 5:
		m.MustSay(second.Stderr, r.ID)
		return allowed
	default:
		m.Fatalf("after an answerer was killed: %s", second)
		return gone
	}
}

// claudeKilled answers while claude is killed, or after it was.
func (m *answering) claudeKilled(r asked) fate {
	pid := m.Session(r.Handle).PID
	if r.number%2 == 0 {
		m.Kill(pid, syscall.SIGKILL)
		m.WaitDeath(r.Handle)
		m.WaitFor("the request is over", func() (bool, string) { return m.NBS("requests", "--json").Stdout == "[]\n", "" })
		m.Refused(5, "the request is over: "+r.ID, r.kind.allow(r)...)
	} else {
		refuses := m.Begin(deny(r)...)
		m.Kill(pid, syscall.SIGKILL)
		m.WaitDeath(r.Handle)
		end := refuses.End()
		m.Check(slices.Contains([]int{0, 1, 3, 5}, end.Code), "while claude was killed: %s", end)
		m.tally[fmt.Sprintf("while claude was killed: exit code %d", end.Code)]++
	}
	m.OK("resume", r.Handle)
	return gone
}
