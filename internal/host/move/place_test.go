package move

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/moves"
)

// played is a machine that answers steps by their words.
type played struct {
	answers map[string]string
	fails   map[string]error
	asked   []string
}

func (p *played) Run(_ context.Context, _ io.ReadSeeker, out io.Writer, args ...string) error {
	line := strings.Join(args, " ")
	p.asked = append(p.asked, line)
	for words, text := range p.answers {
		if strings.HasPrefix(line, words) {
			_, _ = io.WriteString(out, text)
		}
	}
	for words, err := range p.fails {
		if strings.HasPrefix(line, words) {
			return err
		}
	}
	return nil
}

// An agent that arrives and cannot be started has arrived: the machine that it left is told so, and advises no move.
func TestAnArrivalThatCannotStartIsAnArrival(t *testing.T) {
	t.Parallel()
	const id = "0b6c2d3e-6a0f-4a57-9c52-0a9a3f0d9b11"
	alice := agent.Record{Spec: agent.Spec{Handle: "alice"}}
	from := &played{answers: map[string]string{
		"host give":  textOf(t, Ask{Format: format, State: moves.Left, Place: "laptop-of-old", PlaceID: "p", ID: id, Digest: "d", Record: alice}),
		"host leave": textOf(t, Gone{}),
	}}
	unready := errors.New("claude is not logged in")
	to := &played{answers: map[string]string{"host take --check": textOf(t, Room{Format: format, PlaceID: "p"}), "host arrive": textOf(t, Settled{Record: alice})}, fails: map[string]error{"host arrive": unready}}
	_, err := Run(t.Context(), Order{
		From: from, To: to, FromName: "laptop", ToName: "build1", Handle: "alice", Tell: func(string) {}, Note: func(string) {},
	})
	rig.Check(t, errors.Is(err, unready), "%v", err)
	rig.Check(t, slices.Contains(from.asked, "host leave alice --id "+id+" --done"), "the machine that it left was asked: %q", from.asked)
}

// A machine that has another name now is still the one to which an agent is on its way, and another one with the old name
// is not.
func TestAPlaceIsKnownByItsID(t *testing.T) {
	t.Parallel()
	for _, placeID := range []string{"p", "q"} {
		alice := agent.Record{Spec: agent.Spec{Handle: "alice"}}
		from := &played{answers: map[string]string{
			"host give":  textOf(t, Ask{Format: format, State: moves.Left, Place: "laptop", PlaceID: "p", ID: agent.NewMoveID(), Digest: "d"}),
			"host leave": textOf(t, Gone{}),
		}}
		to := &played{answers: map[string]string{
			"host take --check": textOf(t, Room{Format: format, PlaceID: placeID}), "host arrive": textOf(t, Settled{Record: alice}),
		}}
		name := map[string]string{"p": "mac-1", "q": "laptop"}[placeID]
		_, err := Run(t.Context(), Order{From: from, To: to, FromName: "build1", ToName: name, Handle: "alice", Tell: func(string) {}, Note: func(string) {}})
		rig.Check(t, placeID == "p" && err == nil || placeID == "q" && fail.KindOf(err) == fail.Conflict, "%s: %v", name, err)
	}
}

func textOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	rig.Must(t, err)
	return string(text)
}
