package conversations

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

const third = agent.SessionID("33333333-2222-4333-8444-555555555555")

// What lines come to, one after the other.
func TestFold(t *testing.T) {
	t.Parallel()
	const alice, other = storetest.AliceID, storetest.OtherID
	var (
		at    = storetest.SomeTime()
		one   = Line{What: Enqueued, Seq: 1, ID: "a", At: at, Meta: &Meta{Key: chat}}
		two   = Line{What: Enqueued, Seq: 2, ID: "b", At: at}
		alone = Line{What: Enqueued, Seq: 1, ID: "a", At: at, Isolated: true}
		begun = func(seq, era int, id agent.SessionID) Line {
			return Line{What: Started, Seq: seq, Start: &Start{Session: id, Era: era, At: at}}
		}
		said = func(id agent.SessionID) Line { return Line{What: Confirmed, Session: id} }
		done = func(seq int, id agent.SessionID) Line { return Line{What: Done, Seq: seq, Session: id, At: at} }
		held = Line{What: HeldUp, Seq: 1, Held: &Held{Class: "limit"}}
		ends = Line{What: WasReset, Previous: alice, Reason: "asked for", At: at}
		gone = Line{What: Done, Seq: 1, Session: other, Previous: alice, Continuity: Reset, Reason: "lost", At: at}
		seed = func(id, previous agent.SessionID) Line {
			return Line{What: Adopted, Session: id, Previous: previous, At: at}
		}
	)
	for what, c := range map[string]struct {
		lines []Line
		want  string // session, open turns, answered, previous sessions, what is to be told
	}{
		"accepted":                               {[]Line{one, two}, "- 1 2 | 0"},
		"a minted id is not confirmed":           {[]Line{one, begun(1, 0, alice)}, "alice? 1x1 | 0"},
		"minted anew":                            {[]Line{one, begun(1, 0, alice), begun(1, 0, other)}, "other? 1x2 | 0"},
		"confirmed by what Claude said":          {[]Line{one, begun(1, 0, alice), said(alice)}, "alice 1x1 | 0"},
		"Claude said another":                    {[]Line{one, begun(1, 0, alice), said(other)}, "other 1x1 | 0"},
		"said before anything began":             {[]Line{one, said(other)}, "- 1 | 0"},
		"answered":                               {[]Line{one, begun(1, 0, alice), done(1, alice)}, "alice | 1"},
		"a chain of ids":                         {[]Line{one, begun(1, 0, alice), done(1, alice), two, begun(2, 0, alice), done(2, other)}, "other | 2"},
		"a chain is not believed before its end": {[]Line{seed(alice, ""), one, begun(1, 1, alice), said(other)}, "alice 1x1 | 0"},
		"failed, the session kept":               {[]Line{seed(alice, ""), one, begun(1, 1, alice), {What: Done, Seq: 1, Class: "bad_model", At: at}}, "alice | 0"},
		"lost":                                   {[]Line{seed(alice, ""), one, begun(1, 1, alice), begun(1, 1, other), said(other), gone}, "other | 1 alice"},
		"an isolated turn touches nothing":       {[]Line{alone, begun(1, 0, alice), said(alice), done(1, alice)}, "- | 1"},
		"held":                                   {[]Line{one, begun(1, 0, alice), held}, "alice? 1x1! | 0"},
		"retried":                                {[]Line{one, begun(1, 0, alice), held, {What: Retried, Seq: 1}}, "alice? 1 | 0"},
		"begun again when its time has come":     {[]Line{one, held, begun(1, 0, alice)}, "alice? 1x1 | 0"},
		"skipped":                                {[]Line{one, two, {What: SkippedBy, Seq: 1, Class: Skipped}}, "- 2 | 0"},
		"reset":                                  {[]Line{one, done(1, alice), ends}, "- | 1 alice told alice"},
		"a reset is told once":                   {[]Line{one, done(1, alice), ends, two, begun(2, 1, other), done(2, other)}, "other | 2 alice"},
		"a reset is not told by a failure":       {[]Line{one, done(1, alice), ends, two, {What: Done, Seq: 2, Class: "failed"}}, "- | 1 alice told alice"},
		"reset while a turn runs":                {[]Line{seed(alice, ""), one, begun(1, 1, alice), ends, done(1, alice)}, "- | 1 alice told alice"},
		"reset without a session":                {[]Line{one, {What: WasReset}}, "- 1 | 0"},
		"restored":                               {[]Line{one, done(1, alice), ends, {What: Restored, Session: alice, At: at}}, "alice | 1"},
		"restored in place of another":           {[]Line{seed(alice, ""), seed(other, alice), {What: Restored, Session: alice, Previous: other}}, "alice | 0 other"},
		"adopted":                                {[]Line{seed(alice, ""), seed(third, alice)}, "third | 0 alice"},
	} {
		var s State
		for i := range c.lines {
			rig.Must(t, s.apply(&c.lines[i]))
		}
		rig.Equal(t, briefly(s), c.want, "%s", what)
		folded := State{}
		rig.Must(t, folded.apply(&Line{What: Base, State: &s}))
		rig.Equal(t, briefly(folded), c.want, "%s, of a base", what)
	}
}

// An attempt that came to nothing, and a session of which no transcript was seen.
func TestFoldOfWhatNeverWas(t *testing.T) {
	t.Parallel()
	const alice = storetest.AliceID
	one, only := Line{What: Enqueued, Seq: 1, ID: "a", Meta: &Meta{Key: chat}}, Line{What: Adopted, Session: alice, Unseen: true}
	begun, void := Line{What: Started, Seq: 1, Start: &Start{Session: alice}}, Line{What: Voided, Seq: 1}
	for what, c := range map[string]struct {
		lines []Line
		want  string
	}{
		"taken back":                          {[]Line{one, begun, begun, void}, "alice? 1x1 | 0"},
		"taken back before it began":          {[]Line{one, void}, "- 1 | 0"},
		"adopted without a transcript":        {[]Line{only}, "alice* | 0"},
		"adopted, and seen since":             {[]Line{only, one, {What: Done, Seq: 1, Session: alice}}, "alice | 1"},
		"adopted, and adopted again":          {[]Line{only, {What: Adopted, Session: alice}}, "alice | 0"},
		"adopted, restored, and still unseen": {[]Line{only, {What: WasReset, Previous: alice}, {What: Restored, Session: alice}}, "alice* | 0"},
	} {
		var s State
		for i := range c.lines {
			rig.Must(t, s.apply(&c.lines[i]))
		}
		rig.Equal(t, briefly(s), c.want, "%s", what)
	}
}

// What was said after an answer is remembered until the next answer, or until the session is another one.
func TestWhatWasSaidIsRememberedUntilTheNextAnswer(t *testing.T) {
	t.Parallel()
	var s State
	for _, step := range []struct {
		line  Line
		heard int
		cut   bool
	}{
		{Line{What: Enqueued, Seq: 1, ID: "a"}, 0, false},
		{Line{What: Done, Seq: 1}, 0, false},
		{Line{What: Added, Unasked: &Unasked{Turn: "a", Text: "x"}}, 1, false},
		{Line{What: Enqueued, Seq: 2, ID: "b"}, 1, false},
		{Line{What: Done, Seq: 2, Class: "failed"}, 1, false},
		{Line{What: Added, Unasked: &Unasked{Turn: "b", Notice: true, Text: "ended"}}, 1, true},
		{Line{What: Enqueued, Seq: 3, ID: "c"}, 1, true},
		{Line{What: Done, Seq: 3, Class: "failed"}, 1, true},
		{Line{What: Enqueued, Seq: 4, ID: "d"}, 1, true},
		{Line{What: Done, Seq: 4}, 0, false},
		{Line{What: Added, Unasked: &Unasked{Turn: "d", Text: "x"}}, 1, false},
		{Line{What: WasReset}, 0, false},
	} {
		rig.Must(t, s.apply(&step.line))
		rig.Check(t, s.Heard == step.heard && s.Cut == step.cut, "after %s of turn %d: heard %d, cut %t", step.line.What, step.line.Seq, s.Heard, s.Cut)
	}
}

func briefly(s State) string {
	names := strings.NewReplacer(string(storetest.AliceID), "alice", string(storetest.OtherID), "other", string(third), "third")
	words := []string{strings.TrimSpace(string(s.Session.ID))}
	if s.Session.ID == "" {
		words[0] = "-"
	} else if !s.Session.Confirmed {
		words[0] += "?"
	}
	for _, turn := range s.Open {
		word := strconv.Itoa(turn.Seq)
		if turn.Tries > 0 {
			word += "x" + strconv.Itoa(turn.Tries)
		}
		if turn.Held != nil {
			word += "!"
		}
		words = append(words, word)
	}
	words = append(words, "|", strconv.Itoa(s.Answered))
	for _, p := range s.Previous {
		words = append(words, string(p.ID))
	}
	if s.IsUnseen() {
		words[0] += "*"
	}
	if s.TellReset != nil {
		words = append(words, "told", string(s.TellReset.ID))
	}
	return names.Replace(strings.Join(words, " "))
}

// A line that does not follow from those before it is refused.
func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	at := time.Time{}
	for what, line := range map[string]Line{
		"a number again":    {What: Enqueued, Seq: 1, At: at},
		"a number left out": {What: Enqueued, Seq: 3},
		"no open turn":      {What: Done, Seq: 7},
		"an unknown word":   {What: "dance", Seq: 1},
		"a second base":     {What: Base, State: &State{}},
		"an empty start":    {What: Started, Seq: 1},
	} {
		var s State
		rig.Must(t, s.apply(&Line{What: Enqueued, Seq: 1}))
		rig.Check(t, s.apply(&line) != nil, "%s is taken", what)
	}
}

// A turn that has ended while its claude goes on can be stopped until that is said to have ended, or the next turn of
// its kind has begun. What comes after a text that Claude did not take belongs to the answer before it.
func TestATurnIsLeftWhileItsClaudeGoesOn(t *testing.T) {
	t.Parallel()
	var s State
	for i, step := range []struct {
		line Line
		left string
	}{
		{Line{What: Enqueued, Seq: 1, ID: "a"}, ""},
		{Line{What: Enqueued, Seq: 2, ID: "b", Isolated: true}, ""},
		{Line{What: Enqueued, Seq: 3, ID: "c"}, ""},
		{Line{What: Enqueued, Seq: 4, ID: "d"}, ""},
		{Line{What: Started, Seq: 1, Start: &Start{}}, ""},
		{Line{What: Done, Seq: 1, Lingers: true}, "1a"},
		{Line{What: Started, Seq: 2, Start: &Start{}}, "1a"},
		{Line{What: Done, Seq: 2, Lingers: true}, "1a 2b"},
		{Line{What: Started, Seq: 3, Start: &Start{}}, "2b"},
		{Line{What: Done, Seq: 3, Class: "blocked", Lingers: true}, "2b 3a"},
		{Line{What: Stopped, Seq: 3, Reason: "by a test"}, "2b 3a!"},
		{Line{What: Added, Unasked: &Unasked{Turn: "a", Notice: true, Text: "It failed."}}, "2b 3a!"},
		{Line{What: Added, Unasked: &Unasked{Turn: "a", Notice: true, Ended: true}}, "2b"},
		{Line{What: Added, Unasked: &Unasked{Turn: "b", Notice: true, Ended: true}}, ""},
	} {
		rig.Must(t, s.apply(&step.line))
		var left []string
		for _, turn := range s.Lingering {
			words := fmt.Sprint(turn.Seq, turn.ID)
			if turn.Stop != nil {
				words += "!"
			}
			left = append(left, words)
		}
		rig.Equal(t, strings.Join(left, " "), step.left, "after line %d, %s of turn %d", i, step.line.What, step.line.Seq)
	}
}
