package dash

import (
	"strings"
	"testing"
)

// A person sees an agent's changes from the dashboard, in their own pager; writes a remark about a line, and comes back to
// what the agent has changed since.
func TestReview(t *testing.T) {
	m := standIn(t)
	m.Git(m.Dir, "init", "-q")
	m.Git(m.Dir, "commit", "-q", "--allow-empty", "-m", "first")
	m.Git(m.Dir, "worktree", "add", "-q", "-b", "prices", m.Dir+".prices")
	m.OK("spawn", "alpha", "--model", "sonnet", "--cwd", m.Dir+".prices", "--trust="+m.Dir+".prices", "--prompt", `[[tool Bash {"command":"echo 'return 1' >price.go"}]] go`)
	m.WaitState("alpha", "idle")
	d := m.open(100, 30, "GIT_PAGER=cat")
	d.shows("1 agent, ", "alpha", "D changes")
	d.press("D")
	d.shows("new file mode", "+return 1", "Enter goes back", "not NEED")
	d.press("Enter")
	d.shows("1 agent, ", "NEED", "not Enter goes back")

	last := m.OK("changes", "alpha", "--since-turn")
	m.Check(last == "added\t1\t0\tno\tprice.go\n", "of its last turn: %s", last)
	got := m.Reply("alpha", "--about", "price.go:1", "Why 1?")
	m.Check(got == "You said: About price.go:1, `return 1`: Why 1?", "%q", got)
	last = m.OK("changes", "alpha", "--since-turn")
	m.Check(last == "", "of its last turn, which has only answered: %s", last)
	m.Git(m.Dir+".prices", "add", ".")
	m.Git(m.Dir+".prices", "commit", "-q", "-m", "prices")
	list := m.OK("changes", "alpha")
	m.Check(strings.Contains(list, "added\t1\t0\tyes\tprice.go\n"), "%s", list)
	m.Git(m.Dir, "merge", "-q", "prices")
	m.Check(m.OK("changes", "alpha") == "", "what is merged is still listed")
	d.press("D")
	d.shows("alpha has changed nothing", "Enter goes back")
	d.press("Enter")
	d.shows("NEED")
	d.press("q")
	d.shows("left with 0")
}
