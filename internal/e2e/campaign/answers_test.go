package campaign

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// standardRequests is how many requests the campaign has answered; NBS_REQUESTS says otherwise.
const standardRequests = 20

// requestsEach is how many requests one project has; several projects are at it at a time.
const requestsEach = 20

// TestRequestsAreAnswered has agents ask for commands, files, pages, plans and answers, and answers: by command, by two
// at once, late, with the hook, the answerer or claude killed. What the agent then did and what the model was told are
// the referees: what was denied did not happen, what was allowed did, no other request was answered, none is left, and
// each receipt is true.
func TestRequestsAreAnswered(t *testing.T) {
	n, seed := e2e.Number(t, "NBS_REQUESTS", standardRequests), e2e.Number(t, "NBS_REQUESTS_SEED", 1)
	for first := 0; first < n; first += requestsEach {
		t.Run(fmt.Sprintf("from %d", first), func(t *testing.T) {
			m := &answering{team: eachVersion(t), tally: map[string]int{}}
			m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
			m.OK("spawn", "planner", "--model", "sonnet", "--permission-mode", "plan")
			for i := first; i < min(first+requestsEach, n); i++ {
				m.round(i, kinds[i%len(kinds)], ways[(i+seed)%len(ways)])
			}
			for _, what := range slices.Sorted(maps.Keys(m.tally)) {
				m.Logf("%3d %s", m.tally[what], what)
			}
		})
	}
}

// answering is a team whose requests are answered.
type answering struct {
	*team

	tally map[string]int
}

// asked is a request as the command line shows it.
type asked struct {
	ID, Handle, Tool, Title string

	kind   kind
	number int
}

// kind is a kind of request.
type kind struct {
	name   string
	handle string                              // of the agent that asks
	line   func(m *answering, i int) string    // what it is told
	file   func(m *answering, i int) string    // that comes to be if it is allowed; nil: none
	told   string                              // what the model is told if it is allowed; "": that is not known
	allow  func(r asked) []string              // the command that allows it
	after  func(m *answering, r asked, o fate) // what is done before the next one
}

var kinds = []kind{
	{
		name: "command", handle: "alpha", allow: approve, file: made,
		line: func(_ *answering, i int) string { return fmt.Sprintf(`[[tool Bash {"command":"touch made%d"}]]`, i) },
	},
	{
		name: "file", handle: "alpha", allow: approve, file: made,
		line: func(m *answering, i int) string {
			return fmt.Sprintf(`[[tool Write {"file_path":%s,"content":"x"}]]`, e2e.Encoded(m.Team, made(m, i)))
		},
	},
	{
		name: "question", handle: "alpha", told: "right",
		allow: func(r asked) []string { return []string{"answer", r.Handle, r.ID, "2"} },
		line: func(_ *answering, i int) string {
			return fmt.Sprintf(`[[tool AskUserQuestion {"questions":[{"question":"Which way at %d?","header":"Way","multiSelect":false,"options":[{"label":"left","description":"l"},{"label":"right","description":"r"}]}]}]]`, i)
		},
	},
	{
		name: "page", handle: "alpha", allow: approve,
		line: func(_ *answering, i int) string {
			return fmt.Sprintf(`[[tool WebFetch {"url":"https://127.0.0.1:9/%d","prompt":"x"}]]`, i)
		},
	},
	{
		name: "plan", handle: "planner", allow: approve, told: "approved",
		line: func(_ *answering, i int) string {
			return fmt.Sprintf(`[[tool ExitPlanMode {"plan":"1. Part %d."}]]`, i)
		},
		after: func(m *answering, r asked, o fate) {
			if o == allowed { // it has left the mode
				m.OK("resume", r.Handle, "--force")
			}
		},
	},
}

func approve(r asked) []string { return []string{"approve", r.Handle, r.ID} }

func made(m *answering, i int) string {
	return filepath.Join(m.World.Project, fmt.Sprintf("made%d", i))
}

// fate is what becomes of a request.
type fate string

const (
	allowed fate = "allowed"
	denied  fate = "denied"
	gone    fate = "gone" // the model is told nothing of ours
)

// round has an agent ask, has that answered in one way, and judges.
func (m *answering) round(i int, k kind, w way) {
	m.Helper()
	m.Logf("request %d: %s, %s", i, k.name, w.name)
	m.WaitState(k.handle, "idle")
	m.Send(0, "accepted", k.handle, k.line(m, i))
	r := m.asks(k.handle)
	r.kind, r.number = k, i
	m.Check(k.name == "plan" || strings.Contains(r.Title, strconv.Itoa(i)), "request %d is %+v", i, r)
	became := w.answer(m, r)
	what := fmt.Sprintf("%s, %s: %s", k.name, w.name, became)
	m.tally[what]++
	m.WaitState(k.handle, "idle")
	m.MustPrint("[]\n", "requests", "--json")
	if k.file != nil {
		m.Check(e2e.Exists(k.file(m, i)) == (became == allowed), "request %d, %s: it happened: %t", i, what, became != allowed)
	}
	told := ""
	if became != gone {
		told = m.told(k.handle)
	} else { // otherwise the end of this turn would come with the next one
		m.Send(0, "accepted", k.handle, "Go on.")
	}
	m.Check(strings.Contains(told, refusal(i)) == (became == denied), "request %d, %s: the model was told %s", i, what, told)
	m.Check(became != allowed || w.byOption || strings.Contains(told, k.told), "request %d, %s: the model was told %s", i, what, told)
	if k.after != nil {
		k.after(m, r, became)
	}
}

// refusal is the message with which a request is denied.
func refusal(i int) string { return fmt.Sprintf("Not %d now.", i) }

// told returns the result of the last tool of an agent, as the model was told it.
func (m *answering) told(handle string) string {
	session := m.Session(handle).SessionID
	for _, request := range slices.Backward(m.API.Requests()) {
		var said struct {
			Messages []struct{ Content json.RawMessage }
		}
		if request.SessionID != session || request.Side || json.Unmarshal(request.Body, &said) != nil {
			continue
		}
		for _, message := range slices.Backward(said.Messages) {
			if strings.Contains(string(message.Content), `"tool_result"`) {
				return string(message.Content)
			}
		}
	}
	return "nothing"
}

// asks waits until an agent asks, at a dialog.
func (m *answering) asks(handle string) (r asked) {
	m.Helper()
	m.WaitFor(handle+" asks", func() (bool, string) {
		var open []asked
		m.Decode(&open, "requests", handle, "--json")
		if len(open) == 1 {
			r = open[0]
		}
		return len(open) == 1, m.Screen(handle)
	})
	m.WaitState(handle, "waiting")
	return r
}
