package bridge

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"nbs-worker/internal/sim/rig"
)

// fake is a system of which a test uses no more than its properties. Its groups have a minus before their names.
type fake struct{ System }

func (fake) Traits() Traits {
	return Traits{Name: "fake", Title: "Fake", Longest: 4000, Size: utf16.RuneLen, Grow: time.Hour, GrowInGroups: 3 * time.Hour}
}

func (fake) Owner(chat string) string {
	if strings.HasPrefix(chat, "-") {
		return ""
	}
	return chat
}

func (fake) Hide(text string) string { return strings.ReplaceAll(text, "secret", "***") }

func (fake) ParseKey(key string) (Place, error) {
	return Place{Chat: strings.TrimPrefix(key, "fake:")}, nil
}

// A group's messages grow more slowly: the bot may write 20 a minute there. Its topics do not grow at the same time.
func TestAnAnswerGrowsMoreSlowlyInAGroup(t *testing.T) {
	t.Parallel()
	b := New(Options{System: fake{}, Log: func(string) {}})
	b.growPause(Place{Chat: "7"})
	b.growPause(Place{Chat: "-7", Topic: "1"})
	b.pause(Place{Chat: "8"}, 5*time.Hour)
	for _, test := range []struct {
		at   Place
		want time.Duration
	}{{Place{Chat: "7"}, time.Hour}, {Place{Chat: "-7", Topic: "2"}, 3 * time.Hour}, {Place{Chat: "-7", Topic: "3"}, 6 * time.Hour}, {Place{Chat: "8"}, 5 * time.Hour}, {Place{Chat: "9"}, 0}} {
		pause := b.growPause(test.at)
		rig.Check(t, pause <= test.want && pause > test.want-time.Minute || pause == test.want, "%s: %s, want %s", test.at, pause, test.want)
	}
}

func TestALongAnswerGrowsToTheEndOfItsMessage(t *testing.T) {
	t.Parallel()
	g := &growing{b: New(Options{System: fake{}, Log: func(string) {}}), heard: make(chan struct{}, 1)}
	g.hear(Progress{Text: "secret " + strings.Repeat("x", 5000)})
	g.hear(Progress{Tool: "Read", Text: strings.Repeat("y", 100)})
	says := g.says()
	rig.Check(t, len([]rune(says)) < 4000 && strings.HasPrefix(says, "*** xxx") && strings.HasSuffix(says, "yyy……"), "it says %.20q ... %q", says, says[len(says)-20:])
}

func TestFilesAreOfferedWhereFileWorks(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {InPrivate: true}, {InPrivate: true, InGroups: true}} {
		o.System, o.Log = fake{}, func(string) {}
		b := New(o)
		rig.Equal(t, len(b.offer("fake:-7", Answer{Files: []string{"b.csv"}})) == 1, o.InGroups, "offers in a group")
		rig.Equal(t, len(b.offer("fake:7", Answer{Files: []string{"b.csv"}})) == 1, o.InPrivate, "offers in a private chat")
	}
}

func TestATimeOfTodayIsToldWithoutItsDay(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Minute).UTC()
	got := New(Options{System: fake{}, Log: func(string) {}, Location: time.UTC}).clock(soon)
	rig.Check(t, strings.HasPrefix(got, soon.Format("15:04")), "a time soon is told as %q", got)
}

// However many strangers write, what is remembered of them is bounded, and what was noted is not noted again.
func TestStrangersDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	noted := 0
	log := NewLog("fake", fake{}.Hide, func(string) { noted++ })
	for n := range 3000 {
		log.Once(fmt.Sprintf("chat %d is not allowed", n%1500))
	}
	rig.Check(t, len(log.noted) == 1000 && noted == 1000, "%d strangers are remembered, %d were noted", len(log.noted), noted)
}

func TestClaudeIsToldWhoWroteWhatIsForwardedOrQuoted(t *testing.T) {
	t.Parallel()
	b := New(Options{System: fake{}, Log: func(string) {}})
	for want, u := range map[string]Update{
		`It is forwarded from "Carl" (@carl): its words`:                                            {Forwarded: &Person{Name: "Carl", Handle: "carl"}},
		`It answers a message of "Eve" in another chat: "Obey!".`:                                   {Elsewhere: &Quoted{Of: Person{Name: "Eve"}, Text: "Obey!"}},
		`It answers a message of "Eve" in another chat: its words are not passed on.`:               {Elsewhere: &Quoted{Of: Person{Name: "Eve"}}},
		`It answers your message: "I do."`:                                                          {Answers: &Quoted{Mine: true, Text: "I do."}},
		`The message below is from "Ann". It answers a message of "Eve" (@eve), which has no text.`: {At: Place{Chat: "-7"}, From: Person{Name: "Ann"}, Answers: &Quoted{Of: Person{Name: "Eve", Handle: "eve"}}},
	} {
		if u.At == (Place{}) {
			u.Owner = "7"
		}
		got := b.contextOf(&u)
		rig.Check(t, strings.Contains(got, want), "the context is %q, want %q", got, want)
	}
}

// A message of a private chat is taken when others have joined the chat since then, but they do not read what only its
// owner may; and what others have written is not taken when they have left.
func TestAChatIsWhatItWasWhenAMessageWasWritten(t *testing.T) {
	t.Parallel()
	b := New(Options{System: fake{}, Users: []string{"7", "8"}, InPrivate: true, Log: func(string) {}})
	private := &Update{At: Place{Chat: "-1"}, Owner: "7", From: Person{ID: "7"}, Text: "hello"}
	m := b.incoming(private)
	rig.Check(t, b.isHeard(private) && m.isFor && !m.group, "what was written when the chat was private: %+v", m)
	rig.Check(t, !b.isHeard(&Update{At: Place{Chat: "7"}, From: Person{ID: "8"}}), "what another one wrote before it was private is heard")
	said, err := b.run(t.Context(), &chat{place: private.At}, m, "/agents", "")
	rig.Check(t, err == nil && said.text == b.isOff("/agents", true), "%+v, %v", said, err)
}
