package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/storetest/nbs"
	"nbs-worker/internal/team/attention"
)

// needy is a project with agents that need what the test says, and a chat that is told.
type needy struct {
	*testing.T

	needs *Needs
	now   time.Time
	state Needed
	fates map[string]requests.Answer // of requests that were taken
	gone  map[string]bool
	told  []string
	fails error
	takes time.Duration // to tell a chat something
}

func newNeedy(t *testing.T) *needy {
	n := &needy{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), fates: map[string]requests.Answer{}, gone: map[string]bool{}}
	n.begin(deliveries.In(nbs.New(t, deliveries.Folder)))
	return n
}

// begin begins to tell, as each server does.
func (n *needy) begin(notes *deliveries.Drawer) {
	tell := func(what string) func(context.Context, string, string, bridge.Post) error {
		return func(_ context.Context, key, id string, p bridge.Post) error {
			if n.fails != nil {
				return n.fails
			}
			n.now = n.now.Add(n.takes)
			n.told = append(n.told, human.OneLine(fmt.Sprintf("%s %s: %s %s (%d)", what, key, p.Title, p.Outcome, len(p.Choices))))
			return notes.Change(id, func(note *deliveries.Note) { note.State, note.Growing = deliveries.Begun, "1" })
		}
	}
	n.needs = &Needs{
		Chats: []string{"telegram:7"}, Notes: notes, Post: tell("post"), Change: tell("change"),
		Look: func(context.Context) (*Needed, error) { return &n.state, nil },
		Fate: func(id string) (requests.Fate, requests.Answer) {
			if a, taken := n.fates[id]; taken {
				return requests.Taken, a
			}
			if n.gone[id] {
				return requests.Gone, requests.Answer{}
			}
			return requests.Open, requests.Answer{}
		},
		Now: func() time.Time { return n.now }, Said: n.Logf,
	}
	rig.Must(n, n.needs.takeUp())
}

// tells looks once, and checks what the chat is told by that.
func (n *needy) tells(want ...string) time.Duration {
	n.Helper()
	n.told = nil
	again := n.needs.tell(n.Context())
	rig.Equal(n, strings.Join(n.told, "\n"), strings.Join(want, "\n"), "what is told")
	return again
}

// needs sets what alpha needs since some time ago.
func (n *needy) alpha(reason attention.Reason, ago time.Duration, seen bool) {
	a := AgentNeed{Handle: "alpha", State: "busy"}
	if reason != "" {
		a.Need = &attention.Need{Reason: reason, Since: n.now.Add(-ago), What: "a dialog", Seen: seen}
	}
	n.state.Agents = []AgentNeed{a}
}

func (n *needy) asks(id, command string) {
	input, err := json.Marshal(map[string]string{"command": command})
	rig.Must(n, err)
	n.state.Requests = append(n.state.Requests, requests.Request{ID: id, Handle: "alpha", At: n.now, Tool: "Bash", Input: input})
}

const askedFor = "alpha asks for permission, since 12:00: Bash "

// A request is told once, over a restart too, and its post says what became of it.
func TestARequestIsToldOnce(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, false)
	n.asks("11111111", "make")
	n.tells("post telegram:7: " + askedFor + "(2)")
	n.tells()
	n.begin(n.needs.Notes)
	n.now = n.now.Add(time.Minute)
	n.tells()
	n.state.Requests = nil
	n.fates["11111111"] = requests.Answer{Allow: true, By: "ann", At: n.now}
	n.tells("change telegram:7: " + askedFor + "Allowed at 12:01, by ann. (0)")
	n.alpha("", 0, false)
	n.tells()
	n.begin(n.needs.Notes)
	n.tells()
}

// The button of an option answers that option, also if its number is the label of another one.
func TestAButtonAnswersItsOption(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	p := n.needs.requestPost("telegram:7", &requests.Request{
		ID: "11111111", Handle: "alpha", At: n.now, Tool: "AskUserQuestion",
		Input: json.RawMessage(`{"questions":[{"question":"How many?","options":[{"label":"2"},{"label":"4"}]}]}`),
	})
	rig.Same(t, "the buttons", []bridge.Choice{
		{Label: "1. 2", Command: "/answer 11111111 1"}, {Label: "2. 4", Command: "/answer 11111111 2."}, {Label: "Deny", Command: "/deny 11111111"},
	}, p.choices)
}

// A request that a person has seen is not told. One that is told stays open when it is seen, and one that is gone is over.
func TestASeenRequestIsNotTold(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, true)
	n.asks("11111111", "make")
	n.tells()
	n.state.Requests = nil
	n.alpha(attention.Waits, 0, false)
	n.asks("22222222", "make")
	n.tells("post telegram:7: " + askedFor + "(2)")
	n.alpha(attention.Waits, 0, true)
	n.tells()
	n.state.Requests, n.gone["22222222"] = nil, true
	rig.Equal(t, n.tells(), settles, "when it is looked at again")
	n.alpha("", 0, false)
	n.tells("change telegram:7: " + askedFor + "Over: it was answered at the terminal, or what asked has ended. (0)")
}

// A request whose hook has ended while its dialog waits is the terminal's.
func TestADialogThatIsLeftIsTheTerminals(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, false)
	n.asks("11111111", "make")
	n.tells("post telegram:7: " + askedFor + "(2)")
	n.state.Requests, n.gone["11111111"] = nil, true
	n.tells()
	n.now = n.now.Add(settles)
	n.alpha(attention.Waits, settles, false)
	n.tells("change telegram:7: " + askedFor + "It can only be answered at the terminal now: nbs-worker attach alpha (0)")
	n.tells()
}

// An agent that still waits after its answer was taken waits for another dialog, such as a subagent's, which is told.
func TestADialogBesideAnAnsweredRequestIsTold(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, false)
	n.asks("11111111", "make")
	n.tells("post telegram:7: " + askedFor + "(2)")
	n.now = n.now.Add(time.Minute)
	n.state.Requests = nil
	n.fates["11111111"] = requests.Answer{Allow: true, By: "ann", At: n.now}
	n.alpha(attention.Waits, time.Minute, false)
	rig.Equal(t, n.tells("change telegram:7: "+askedFor+"Allowed at 12:01, by ann. (0)"), lingers, "when it is looked at again")
	n.now = n.now.Add(lingers)
	n.alpha(attention.Waits, time.Minute+lingers, false)
	n.tells("post telegram:7: alpha waits, since 12:00: a dialog (0)")
	n.tells()
}

// Other needs are told when they have lasted, each once, and end when a person has looked or the agent goes on.
func TestOtherNeedsAreTold(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, time.Second, false)
	rig.Equal(t, n.tells(), settles-time.Second, "when a dialog is told")
	n.now = n.now.Add(4 * time.Second)
	n.alpha(attention.Waits, 5*time.Second, false)
	n.tells("post telegram:7: alpha waits, since 11:59: a dialog (0)")
	n.alpha(attention.Waits, 4*time.Second, false) // when it began is not known more exactly
	n.tells()
	n.begin(n.needs.Notes)
	n.tells()
	n.state.Agents[0] = AgentNeed{Handle: "alpha", Unknown: true}
	n.tells()
	n.alpha(attention.Done, 0, false)
	n.tells("change telegram:7: alpha waits, since 11:59: a dialog Over: alpha is busy now. (0)", "post telegram:7: alpha is done, since 12:00: a dialog (0)")
	n.alpha(attention.Done, 0, true)
	n.tells("change telegram:7: alpha is done, since 12:00: a dialog Seen by a person. (0)")
	n.tells()
	n.state.Agents = nil
	n.tells()
}

// A server that is killed before it has sent, or before it has noted what it sent, leaves the rest to the next one.
func TestTheNextServerTellsWhatOneHadBegun(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, false)
	n.asks("11111111", "make")
	ctx, cancel := context.WithCancel(t.Context())
	n.fails = context.Canceled
	cancel()
	rig.Must(t, n.needs.send(ctx, n.needs.requestPost("telegram:7", &n.state.Requests[0])))
	n.fails = nil
	n.begin(n.needs.Notes)
	n.tells("post telegram:7: " + askedFor + "(2)")
	n.fates["11111111"] = requests.Answer{By: "telegram:7", At: n.now}
	n.state.Requests, n.fails = nil, context.Canceled
	n.needs.end(ctx, "request:telegram:7:11111111", "Denied at 12:00, by telegram:7.")
	n.fails = nil
	n.begin(n.needs.Notes)
	n.tells("change telegram:7: " + askedFor + "Denied at 12:00, by telegram:7. (0)")
	n.begin(n.needs.Notes)
	n.tells()
}

// A chat that cannot be told does not stop the others, and is not told again.
func TestAChatThatCannotBeTold(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Done, 0, false)
	n.fails = errors.New("it has blocked the bot")
	n.tells()
	n.fails = nil
	n.tells()
	_, there, err := n.needs.Notes.PostOf("telegram:7", "", "1")
	rig.Check(t, err == nil && !there, "%v %v", there, err)
}

// While a chat system is away, requests come and go. One that is over when it is back is not told.
func TestWhatIsOverIsNotToldLate(t *testing.T) {
	t.Parallel()
	n := newNeedy(t)
	n.alpha(attention.Waits, 0, false)
	n.asks("11111111", "make")
	n.asks("22222222", "make clean")
	n.takes = time.Hour
	rig.Check(t, n.tells("post telegram:7: "+askedFor+"(2)") > 0, "it does not look again")
	n.takes = 0
	n.state.Requests, n.gone["22222222"] = n.state.Requests[:1], true
	n.tells()
}
