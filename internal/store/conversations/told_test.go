package conversations

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// texts are those that Claude does not know yet.
func texts(t testing.TB, c *Conversation) string {
	t.Helper()
	var all []string
	for _, told := range mustState(t, c).Told {
		all = append(all, fmt.Sprintf("%d %s", told.Number, told.Text))
	}
	return strings.Join(all, ", ")
}

func mustTell(t testing.TB, c *Conversation, text string) {
	t.Helper()
	rig.Must(t, c.Tell(t.Context(), Meta{Cwd: "/told"}, Told{By: "tell", At: storetest.SomeTime(), Text: text}))
}

// begin records an attempt that carries the texts up to a number.
func begin(t testing.TB, c *Conversation, seq, told int) {
	t.Helper()
	s := start(seq)
	s.Told = told
	rig.Must(t, c.Begin(t.Context(), s))
}

// A text stays until a turn that carried it is answered: neither a kill, a failure, a skip nor a reset loses it.
func TestWhatWasToldStaysUntilItIsCarried(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	d.compactAbove = 1 // each line is folded into one
	c := d.Of(chat)
	mustTell(t, c, "one")
	rig.Check(t, ptr(mustState(t, c)).IsUnused(), "it was used")
	_, _, err := c.Enqueue(t.Context(), Meta{Cwd: "/asked", SystemPrompt: "You are Bubba.", Model: "haiku"}, asked("a", "hello"))
	rig.Must(t, err)
	meta := mustState(t, c).Meta
	rig.Check(t, meta.Key == chat && meta.Cwd == "/asked" && meta.SystemPrompt == "You are Bubba." && meta.Model == "haiku", "the first turn decides: %+v", meta)

	begin(t, c, 1, 1) // and is killed
	mustTell(t, c, "two")
	begin(t, c, 1, 2)
	mustTell(t, c, "three") // after the second attempt was begun
	failed := answered(1, "")
	failed.Class = "failed"
	rig.Must(t, c.Finish(t.Context(), failed))
	rig.Equal(t, texts(t, c), "1 one, 2 two, 3 three", "after a failure")

	mustEnqueue(t, c, asked("b", "hello"))
	begin(t, c, 2, 3)
	rig.Must(t, c.Skip(t.Context(), 2, "given up"))
	rig.Equal(t, texts(t, c), "1 one, 2 two, 3 three", "after a skip")

	mustEnqueue(t, c, asked("c", "hello"))
	begin(t, c, 3, 3)
	mustTell(t, c, "four")
	rig.Must(t, c.Finish(t.Context(), answered(3, "yes")))
	rig.Equal(t, texts(t, c), "4 four", "after an answer")

	mustEnqueue(t, c, asked("d", "hello"))
	begin(t, c, 4, 4)
	_, err = c.Reset(t.Context(), "asked for", nil)
	rig.Must(t, err)
	rig.Must(t, c.Finish(t.Context(), answered(4, "yes")))
	rig.Equal(t, texts(t, c), "4 four", "the session that got it is not the present one")

	isolated := asked("e", "hello")
	isolated.Isolated = true
	mustEnqueue(t, c, isolated)
	begin(t, c, 5, 4)
	rig.Must(t, c.Finish(t.Context(), answered(5, "yes")))
	rig.Equal(t, texts(t, c), "4 four", "after a turn outside of the conversation")
}

func ptr[T any](v T) *T { return &v }

// What a chat is told without end is bounded: the newest texts stay, and how many were dropped is known.
func TestWhatWasToldIsBounded(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	for i := range 5 {
		mustTell(t, c, strconv.Itoa(i)+strings.Repeat("三", 999))
	}
	s := mustState(t, c)
	rig.Check(t, len(s.Told) == 2 && s.ToldDropped == 3 && s.Told[0].Text[0] == '3', "%d are left, %d were dropped", len(s.Told), s.ToldDropped)
	mustTell(t, c, strings.Repeat("三", toldLimit))
	s = mustState(t, c)
	text := s.Told[0].Text
	rig.Check(t, len(s.Told) == 1 && s.ToldDropped == 5 && len(text) <= toldLimit && len(text) > toldLimit-3 && strings.HasSuffix(text, "三"+leftOut), "%d are left, of %d bytes", len(s.Told), len(text))
	mustEnqueue(t, c, asked("a", "hello"))
	begin(t, c, 1, s.ToldTo)
	rig.Must(t, c.Finish(t.Context(), answered(1, "yes")))
	s = mustState(t, c)
	rig.Check(t, len(s.Told) == 0 && s.ToldDropped == 0, "%+v", s)
}

// A chat that was told something before it is taken over from another bridge has the folder of that bridge.
func TestAdoptAfterTold(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	mustTell(t, c, "one")
	rig.Must(t, c.Adopt(t.Context(), Meta{Cwd: "/adopted"}, storetest.AliceID, true))
	s := mustState(t, c)
	rig.Check(t, s.Meta.Cwd == "/adopted" && s.Meta.Key == chat && s.Session.ID == storetest.AliceID && len(s.Previous) == 0, "%+v", s)
}
