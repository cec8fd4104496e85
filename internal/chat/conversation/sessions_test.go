package conversation

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// A person goes back to a session by its name or its id, and without either to the latest one.
func TestRestoreByNameOrIDOrTheLatest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.Name(t.Context(), "review", "Holiday")
	storetest.WantKind(t, "name what is not there", err, fail.NotFound)
	first := s.mustAsk("one")
	rig.Must(t, named(s.Name(t.Context(), "review", "Holiday")))
	_, err = s.Reset(t.Context(), "review", ReasonAsked, nil)
	rig.Must(t, err)
	later := s.mustAsk("two")
	for _, named := range []string{"", "holiday", string(first.SessionID)[:8]} {
		id, err := s.Restore(t.Context(), "review", named)
		rig.Check(t, err == nil && id == first.SessionID, "restore %q: %s, %v; want %s", named, id, err, first.SessionID)
		_, err = s.Restore(t.Context(), "review", string(later.SessionID))
		rig.Must(t, err)
	}
	for name, want := range map[string]string{
		"Work":                  `no previous session is called "Work"`,
		string(later.SessionID): " is the present session",
	} {
		_, err = s.Restore(t.Context(), "review", name)
		storetest.WantKind(t, "restore what is not there", err, fail.NotFound)
		rig.Check(t, strings.Contains(err.Error(), want), "%v; want %q", err, want)
	}
	_, err = s.Name(t.Context(), "review", "two\nlines")
	storetest.WantKind(t, "name in two lines", err, fail.BadInput)
}

func named[A any](_ A, err error) error { return err }

// A chat that has used up its money for the day is told so, and goes on the next day in the same conversation.
func TestDailyLimitStopsUntilTomorrow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.now = time.Date(2026, 11, 26, 22, 0, 0, 0, time.Local)
	s.Respond = func(_ int, text string) turn.Outcome { return turn.Outcome{Answer: "re: " + text, CostUSD: new(0.75)} }
	limited := func(r *conversations.Request) { r.DailyLimit = 1.5 }
	for _, text := range []string{"one", "two"} {
		got, err := s.ask(text, limited)
		rig.Check(t, err == nil && got.Answer == "re: "+text, "%+v, %v", got, err)
	}
	got, err := s.ask("three", limited)
	rig.Check(t, err == nil && got.Class == string(classSpent) && strings.Contains(got.Error, "limit of $1.50 a day is used up: $1.50 today"), "%+v, %v", got, err)
	rig.Check(t, len(s.Texts()) == 2, "claude heard %q", s.Texts())
	s.now = s.now.Add(3 * time.Hour)
	got, err = s.ask("four", limited)
	rig.Check(t, err == nil && got.Answer == "re: four" && got.Continuity == conversations.Resumed, "%+v, %v", got, err)
}
