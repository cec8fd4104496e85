package send

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// request is what requests --json tells, as far as these tests ask.
type request struct {
	ID, Tool, Title string
	Always          []string
}

// open waits until just so many requests are open, and returns them.
func (m *team) open(handle string, n int) (open []request) {
	m.Helper()
	m.WaitFor(fmt.Sprintf("%d requests are open", n), func() (bool, string) {
		open = nil
		m.Decode(&open, "requests", "--json")
		return len(open) == n, fmt.Sprintf("%+v\n%s", open, m.Screen(handle))
	})
	return open
}

// asksFor has alpha ask for one tool, with an input in JSON.
func (m *team) asksFor(tool, input string) request {
	m.Helper()
	m.Send(0, "accepted", "alpha", "[[tool "+tool+" "+input+"]]")
	r := m.open("alpha", 1)[0]
	m.Check(r.Tool == tool, "%+v", r)
	return r
}

// told waits until the model has been told the result of its tool, which has these words, and the turn has ended.
func (m *team) told(words ...string) {
	m.Helper()
	m.WaitState("alpha", "idle")
	all := m.API.Requests()
	last := strings.ReplaceAll(string(all[len(all)-1].Body), `\"`, `"`)
	for i := len(all) - 1; i >= 0 && (all[i].Side || !strings.Contains(last, "tool_result")); i-- {
		last = strings.ReplaceAll(string(all[i].Body), `\"`, `"`)
	}
	// The results of one turn come in any order.
	m.MustSay(last[max(0, strings.LastIndex(last, `"role":"assistant"`)):], words...)
	m.MustPrint("[]\n", "requests", "--json")
}

func questions(several bool, texts ...string) string {
	var all []string
	for _, text := range texts {
		all = append(all, fmt.Sprintf(`{"question":%q,"header":"Way","multiSelect":%t,"options":[{"label":"left","description":"by the sea"},{"label":"right","description":"by the hills"},{"label":"home","description":"back"}]}`, text, several))
	}
	return `{"questions":[` + strings.Join(all, ",") + `]}`
}

// Questions are answered by number, by label, by words of one's own, several at once, and in several options; the model
// gets what was said. A question is not approved, and a permission is not answered.
func TestQuestionsAreAnswered(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	for _, c := range []struct {
		several bool
		texts   []string
		choices []string
		told    []string
	}{
		{false, []string{"Which way?"}, []string{"2"}, []string{`"Which way?"="right"`}},
		{false, []string{"Which way now?"}, []string{"Neither: by boat."}, []string{`"Which way now?"="Neither: by boat."`}},
		{true, []string{"Which ways?"}, []string{"1", "Home"}, []string{`"Which ways?"="left, home"`}},
		{true, []string{"First?", "Then?"}, []string{"1,3", "right"}, []string{`"First?"="left, home"`, `"Then?"="right"`}},
	} {
		r := m.asksFor("AskUserQuestion", questions(c.several, c.texts...))
		refused := m.Refused(4, "is a question and needs an answer", "approve", "alpha", r.ID)
		m.MustSay(refused.Stderr, "hint: nbs-worker answer alpha "+r.ID+" 1")
		m.Refused(4, "has no option 9", append([]string{"answer", "alpha", r.ID, "9"}, c.choices[1:]...)...)
		m.MustPrint("alpha\n", append([]string{"answer", "alpha", r.ID}, c.choices...)...)
		m.told(c.told...)
	}
	r := m.asksFor("AskUserQuestion", questions(false, "Which way at last?"))
	m.MustPrint("alpha\n", "deny", "alpha", r.ID, "--message", "Decide it yourself.")
	m.told("Decide it yourself.")
	r = m.asksFor("Bash", `{"command":"touch one"}`)
	refused := m.Refused(4, "is no question", "answer", "alpha", r.ID, "1")
	m.MustSay(refused.Stderr, "hint: nbs-worker approve alpha "+r.ID)
	m.MustPrint("alpha\n", "approve", "alpha")
	m.told("")
	m.Check(m.has("one"), "the tool has not run")
}

// A plan is denied with a message, and goes on; approved, the agent leaves the mode plan and asks before it acts.
func TestPlansAreAnswered(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "plan")
	r := m.asksFor("ExitPlanMode", `{"plan":"1. Touch one."}`)
	m.MustSay(m.OK("requests", "alpha"), "ExitPlanMode")
	m.MustPrint("alpha\n", "deny", "alpha", r.ID, "--message", "Touch two as well.")
	m.told("Touch two as well.")
	r = m.asksFor("ExitPlanMode", `{"plan":"1. Touch one and two."}`)
	m.MustPrint("alpha\n", "approve", "alpha", r.ID)
	m.told("approved")
	r = m.asksFor("Bash", `{"command":"touch one"}`)
	m.MustPrint("alpha\n", "approve", "alpha", r.ID)
	m.told("")
	m.Check(m.has("one"), "the tool has not run")
}

// Two requests of one turn are answered one by one, in any order.
func TestRequestsOfOneTurnAreAnswered(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	read := func(name, text string) string {
		path := filepath.Join(m.World.Home, name)
		m.Write(path, text)
		return fmt.Sprintf(`[[tool Read {"file_path":%s}]]`, e2e.Encoded(m.Team, path))
	}
	m.Send(0, "accepted", "alpha", read("first", "the one")+" "+read("second", "the other"))
	open := m.open("alpha", 2)
	refused := m.Refused(4, "2 requests of it are open", "approve", "alpha")
	m.MustSay(refused.Stderr, open[0].ID, open[1].ID)
	second := 0
	if strings.Contains(open[1].Title, "second") {
		second = 1
	}
	m.MustPrint("alpha\n", "approve", "alpha", open[second].ID)
	m.Check(m.open("alpha", 1)[0].ID == open[1-second].ID, "the other one was answered")
	m.WaitState("alpha", "waiting")
	m.MustPrint("alpha\n", "deny", "alpha", open[1-second].ID, "--message", "Not that.")
	m.told("the other", "Not that.")
}

// With --always the rule that Claude suggests is said, holds, and stands in its settings.
func TestAlwaysAllowsWhatClaudeSuggests(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.Must(os.MkdirAll(filepath.Join(m.World.Project, "sub"), 0o755))
	r := m.asksFor("Bash", `{"command":"git init sub"}`)
	m.Check(len(r.Always) > 0, "%+v", r)
	m.MustSay(m.OK("requests", "alpha"), "with --always: "+r.Always[0])
	var said struct{ Rules []string }
	m.Must(json.Unmarshal([]byte(m.OK("approve", "alpha", r.ID, "--always", "--json")), &said))
	m.Check(slices.Equal(said.Rules, r.Always), "%q; suggested were %q", said.Rules, r.Always)
	m.told("")
	settings, err := os.ReadFile(filepath.Join(m.World.Project, ".claude", "settings.local.json"))
	m.Must(err)
	m.MustSay(string(settings), "Bash(git init")
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"git init other"}]]`)
	m.told("")
	m.Check(m.has("other/.git"), "the tool has not run")
}

// What a subagent asks is answered in the terminal: claude shows the dialog of a subagent only when no hook waits.
func TestRequestsOfSubagents(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	prompt := e2e.Encoded(m.Team, `[[tool Bash {"command":"touch one"}]]`)
	m.Send(0, "accepted", "alpha", fmt.Sprintf(`[[tool Agent {"description":"work","subagent_type":"general-purpose","prompt":%s}]]`, prompt))
	m.WaitState("alpha", "waiting")
	m.MustPrint("[]\n", "requests", "--json")
	m.MustSay(m.Refused(2, "no request of it is open", "approve", "alpha").Stderr, "hint: a dialog that is no request is answered in its terminal: nbs-worker attach alpha")
	m.answer("Enter")
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("one"), m.Screen("alpha") })
}
