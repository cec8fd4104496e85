package conversations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestTurnFromItsAcceptanceToItsResult(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	_, err := c.State()
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "%v", err)
	turn := mustEnqueue(t, c, asked("a", "Remember 42."))
	rig.Check(t, turn.Seq == 1, "%+v", turn)
	request, err := c.Request(1)
	rig.Check(t, err == nil && request.Text == "Remember 42.", "%+v, %v", request, err)
	keys, err := d.WithWork()
	rig.Check(t, err == nil && len(keys) == 1 && keys[0] == chat, "%v, %v", keys, err)
	rig.Must(t, c.Begin(t.Context(), start(1)))
	s := mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.AliceID, false} && s.Open[0].Tries == 1, "%+v", s)
	rig.Must(t, c.Confirm(t.Context(), storetest.AliceID))
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
	s = mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.AliceID, true} && len(s.Open) == 0 && s.Answered == 1 && s.Next == 2, "%+v", s)
	result, there, err := c.Result("a")
	rig.Check(t, err == nil && there && result.Answer == "OK.", "%+v, %v, %v", result, there, err)
	keys, err = d.WithWork()
	rig.Check(t, err == nil && len(keys) == 0, "%v, %v", keys, err)
	keys, err = d.Keys()
	rig.Check(t, err == nil && len(keys) == 1 && keys[0] == chat, "%v, %v", keys, err)
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"telegram:123456789", "review", "cron:nightly", "à", strings.Repeat("k", 200)} {
		key, err := ParseKey(given)
		rig.Check(t, err == nil && string(key) == given, "%q: %v", given, err)
	}
	for _, given := range []string{"", "-k", "@theologian", "a b", "a\tb", "a\x1b[2J", "a\u200bb", "\xff", strings.Repeat("k", 201)} {
		_, err := ParseKey(given)
		storetest.WantKind(t, given, err, fail.BadInput)
	}
}

// Twenty ask at once, ten times each. Turns of each are in the order in which it asked, and no number is given twice.
func TestConcurrentAskersLineUp(t *testing.T) {
	t.Parallel()
	const askers, turns = 20, 10
	d, project := inProject(t)
	d.compactAbove = 8 << 10 // as if it went on for days
	c := d.Of(chat)
	ctx := context.WithoutCancel(t.Context())
	room := make(chan struct{}, mostOpen)
	var all sync.WaitGroup
	for asker := range askers {
		all.Go(func() {
			own := open(project)
			own.compactAbove = d.compactAbove
			defer func() { storetest.Must(own.nbs.Close()) }()
			for i := range turns {
				id := fmt.Sprintf("%d:%d", asker, i)
				room <- struct{}{}
				_, _, err := own.Of(chat).Enqueue(ctx, Meta{}, asked(id, id))
				rig.Check(t, err == nil, "%s: %v", id, err)
			}
		})
	}
	next := make([]int, askers)
	for seq := 1; seq <= askers*turns; seq++ {
		var request Request
		rig.WaitFor(t, "a turn is accepted", func() (bool, string) {
			var err error
			request, err = c.Request(seq)
			return err == nil, fmt.Sprint(seq, err)
		})
		var asker, i int
		_, err := fmt.Sscanf(request.Text, "%d:%d", &asker, &i)
		rig.Must(t, err)
		rig.Check(t, i == next[asker], "turn %d is %s; want %d:%d", seq, request.Text, asker, next[asker])
		next[asker] = i + 1
		rig.Must(t, c.Begin(t.Context(), start(seq)))
		rig.Must(t, c.Finish(t.Context(), answered(seq, request.Text)))
		<-room
	}
	all.Wait()
	s := mustState(t, c)
	rig.Check(t, s.Answered == askers*turns && s.Next == askers*turns+1 && len(s.Open) == 0, "%+v", s)
	storetest.WantNames(t, d.nbs.Path(pendingFolder))
}

func TestSameIDIsOneTurn(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	for range 10 {
		request := asked("a", "once")
		request.Timeout = time.Hour
		turn, result, err := c.Enqueue(t.Context(), Meta{}, request)
		rig.Check(t, err == nil && turn.Seq == 1 && result == nil, "%+v, %v, %v", turn, result, err)
	}
	_, _, err := c.Enqueue(t.Context(), Meta{}, asked("a", "something else"))
	storetest.WantKind(t, "another request", err, fail.Conflict)
	rig.Must(t, c.Begin(t.Context(), start(1)))
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
	for range 10 {
		turn, result, err := c.Enqueue(t.Context(), Meta{}, asked("a", "once"))
		rig.Check(t, err == nil && turn.Seq == 1 && result != nil && result.Answer == "OK." && result.Attempts == 1, "%+v, %v, %v", turn, result, err)
	}
	_, _, err = c.Enqueue(t.Context(), Meta{}, asked("a", "something else"))
	storetest.WantKind(t, "another request", err, fail.Conflict)
	storetest.WantKind(t, "finished twice", c.Finish(t.Context(), answered(1, "Again.")), fail.Conflict)
	storetest.WantKind(t, "of no turn", c.Finish(t.Context(), answered(2, "What?")), fail.NotFound)
}

func TestTooManyTurnsAreRefused(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	for range mostOpen {
		mustEnqueue(t, c, asked("", "one"))
	}
	_, _, err := c.Enqueue(t.Context(), Meta{}, asked("", "one more"))
	storetest.WantKind(t, "of the key", err, fail.Conflict)
	storetest.WantHint(t, err, "conversation queue '"+string(chat)+"'")
	for i := range mostPending - mostOpen { // of others
		storetest.Write(t, d.nbs.Path(pendingFolder, pendingFile(review.hash(), i+1, 0)), "{}")
	}
	third := d.Of("third")
	_, _, err = third.Enqueue(t.Context(), Meta{}, asked("", "one more"))
	storetest.WantKind(t, "of all", err, fail.Conflict)
	rig.Must(t, c.Skip(t.Context(), 1, "no longer wanted"))
	turn := mustEnqueue(t, third, asked("", "one more"))
	rig.Check(t, turn.Seq == 1, "%+v", turn)
}

// A held turn blocks those behind it, until somebody retries or skips it.
func TestHeldTurnBlocksItsKey(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	ctx := t.Context()
	mustEnqueue(t, c, asked("a", "poison"))
	mustEnqueue(t, c, asked("b", "behind"))
	rig.Must(t, c.Begin(ctx, start(1)))
	rig.Must(t, c.Hold(ctx, 1, Held{Class: "killed", Reason: "it died three times"}))
	storetest.WantKind(t, "the held one", c.Begin(ctx, start(1)), fail.Conflict)
	storetest.WantKind(t, "the one behind", c.Begin(ctx, start(2)), fail.Conflict)
	storetest.WantKind(t, "not held", c.Retry(ctx, 2), fail.Conflict)
	rig.Must(t, c.Retry(ctx, 1))
	turn := mustState(t, c).Open[0]
	rig.Check(t, turn.Tries == 0 && turn.Held == nil && len(turn.Starts) == 1, "%+v", turn)
	rig.Must(t, c.Hold(ctx, 1, Held{Class: "overloaded", Until: storetest.SomeTime()}))
	rig.Must(t, c.Begin(ctx, start(1)))
	rig.Must(t, c.Skip(ctx, 1, "it is poison"))
	result, there, err := c.Result("a")
	rig.Check(t, err == nil && there && result.Class == Skipped && result.Error == "it is poison", "%+v, %v", result, err)
	rig.Must(t, c.Begin(ctx, start(2)))
}

// A system prompt is the conversation's until somebody resets it.
func TestSystemPromptStaysUntilAReset(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	ask := func(id, prompt string) error {
		_, _, err := c.Enqueue(t.Context(), Meta{SystemPrompt: prompt}, asked(id, id))
		return err
	}
	rig.Must(t, ask("a", "You are Bubba."))
	rig.Must(t, ask("b", ""))
	rig.Must(t, ask("c", "You are Bubba."))
	err := ask("d", "You are Alice.")
	storetest.WantKind(t, "another prompt", err, fail.Conflict)
	storetest.WantHint(t, err, "reset")
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
	previous, err := c.Reset(t.Context(), "asked for", func(m *Meta) error { m.SystemPrompt = "You are Alice."; return nil })
	rig.Check(t, err == nil && previous.ID == storetest.AliceID, "%+v, %v", previous, err)
	rig.Must(t, ask("d", "You are Alice."))
	s := mustState(t, c)
	rig.Check(t, s.Session == Session{} && s.TellReset != nil && s.TellReset.Reason == "asked for" && s.Meta.Key == chat, "%+v", s)
	rig.Must(t, c.Restore(t.Context(), storetest.AliceID))
	rig.Must(t, c.Restore(t.Context(), storetest.AliceID))
	s = mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.AliceID, true} && len(s.Previous) == 0, "%+v", s)
	storetest.WantKind(t, "of nobody", c.Restore(t.Context(), storetest.OtherID), fail.NotFound)
}

func TestAdoptedSessionIsTheConversations(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	rig.Check(t, errors.Is(c.Restore(t.Context(), storetest.AliceID), fs.ErrNotExist), "a conversation that is none is restored")
	for _, id := range []agent.SessionID{storetest.AliceID, storetest.AliceID, storetest.OtherID} {
		rig.Must(t, c.Adopt(t.Context(), Meta{Cwd: "/srv"}, id, true))
	}
	s := mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.OtherID, true} && len(s.Previous) == 1 && s.Next == 1 && s.Meta.Cwd == "/srv", "%+v", s)
	rig.Check(t, mustEnqueue(t, c, asked("a", "one")).Seq == 1, "the first turn has another number")
}

// A long journal becomes one line, and nothing is forgotten but answers that are old.
func TestCompactionKeepsStateResultsAndIDs(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	talked(t, c)
	rig.Must(t, c.Begin(t.Context(), start(2)))
	_, err := c.Reset(t.Context(), "asked for", nil)
	rig.Must(t, err)
	before := inWords(t, mustState(t, c))
	d.compactAbove = 1
	rig.Must(t, c.Hold(t.Context(), 2, Held{Class: "limit"}))
	rig.Must(t, c.Retry(t.Context(), 2))
	lines, err := c.Journal()
	rig.Check(t, err == nil && len(lines) == 2 && lines[0].What == Base, "%+v, %v", lines, err)
	rig.Equal(t, inWords(t, mustState(t, c)), strings.Replace(before, `,"tries":1`, "", 1), "the state")
	turn, result, err := c.Enqueue(t.Context(), Meta{}, asked("a", "Remember 42."))
	rig.Check(t, err == nil && turn.Seq == 1 && result != nil && result.Answer == "OK.", "%+v, %v, %v", turn, result, err)
	turn, result, err = c.Enqueue(t.Context(), Meta{}, asked("b", "What number?"))
	rig.Check(t, err == nil && turn.Seq == 2 && result == nil, "%+v, %v, %v", turn, result, err)
	old := time.Now().Add(-2 * resultsKept)
	rig.Must(t, os.Chtimes(c.Path()+"/"+results+"/"+idFile("a"), old, old))
	for i := range 10 {
		request := asked("", "And now?")
		request.At = time.Now()
		rig.Check(t, mustEnqueue(t, c, request).Seq == 3+i, "another number")
	}
	_, there, err := c.Result("a")
	rig.Check(t, err == nil && !there, "an old answer is kept: %v", err)
}

// One has the right to run turns at a time; the next one has it as soon as that ends.
func TestTurnsAreRunByOne(t *testing.T) {
	t.Parallel()
	d, project := inProject(t)
	unlock, err := d.Of(chat).AwaitTurn(t.Context())
	rig.Must(t, err)
	other := open(project)
	defer func() { storetest.Must(other.nbs.Close()) }()
	none, err := other.Of(chat).TryTurn()
	rig.Check(t, err == nil && none == nil, "it is taken twice: %v", err)
	elsewhere, err := other.Of(review).TryTurn()
	rig.Check(t, err == nil && elsewhere != nil, "another key waits: %v", err)
	elsewhere()
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = other.Of(chat).AwaitTurn(late)
	rig.Check(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
	unlock()
	next, err := other.Of(chat).AwaitTurn(t.Context())
	rig.Must(t, err)
	next()
}
