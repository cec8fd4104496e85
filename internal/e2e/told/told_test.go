package told

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/telegram"
)

// long is an answer that is told in three parts.
var long = []string{"You said: long <<4>>", "1 of long <<4>>", "2 of long <<4>>"}

var (
	ann  = Place{Chat: 1}
	food = Place{Chat: -1001, Topic: 7}
	eve  = time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
)

// family is what was said in two places.
func family() []Said {
	return []Said{
		{Place: ann, Text: "one", Wants: []string{"You said: one"}},
		{Place: ann, Text: "two", Wants: []string{"You said: two", "You said: two, edited"}},
		{Place: food, Text: "salt", Wants: []string{"You said: salt"}},
		{Place: ann, Text: "never mind", Wants: []string{"You said: never mind"}},
		{Place: ann, Text: "/stop", IsStop: true, Aside: true, Reply: regexp.MustCompile(`^(Stopped\.|Nothing is running\.)`)},
		{Place: ann, Text: "long", Wants: []string{strings.Join(long, "\n\n")}},
		{Place: ann, Text: "the schedule of a day", Aside: true, Wants: []string{"Good morning"}, From: eve, Until: eve.Add(time.Minute)},
		{Place: ann, Text: "the schedule of the next", Aside: true, Wants: []string{"Good morning"}, From: eve.Add(23 * time.Hour), Until: eve.Add(24 * time.Hour)},
	}
}

// log is what the chats show if all is well. Its lines are numbered for the cases.
func log() []telegram.Message {
	tell := func(at Place, text string, when time.Time) telegram.Message {
		return telegram.Message{Bot: true, Chat: at.Chat, Topic: at.Topic, Text: text, At: when}
	}
	return []telegram.Message{
		0:  {Chat: 1, Text: "one"}, // a user's
		1:  tell(ann, "You said: one", eve),
		2:  tell(ann, "Queued: 1 message before this one. It is answered after that.", eve),
		3:  tell(food, "You said: salt", eve),
		4:  tell(ann, "You said: two, edited", eve),
		5:  tell(ann, "You said: nev\n\n(Stopped.)", eve),
		6:  tell(ann, "Stopped. The conversation goes on.", eve),
		7:  tell(ann, "Good morning", eve.Add(time.Second)),
		8:  tell(ann, long[0], eve),
		9:  tell(ann, long[1], eve),
		10: tell(ann, again+long[2], eve), // it was not told before, but the bot did not know
		11: tell(ann, again+"You said: two, edited", eve),
		12: tell(ann, "Good morning", eve.Add(23*time.Hour)),
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	without := func(lines ...int) []telegram.Message {
		all := log()
		for i := range lines {
			all[lines[i]].Deleted = true
		}
		return all
	}
	with := func(change func([]telegram.Message)) []telegram.Message {
		all := log()
		change(all)
		return all
	}
	for name, test := range map[string]struct {
		shown []telegram.Message
		want  string // the beginning of a finding; "": all is well
	}{
		"all is well":      {log(), ""},
		"replies in doubt": {append(log(), telegram.Message{Bot: true, Chat: 1, Text: again + "Nothing is running.", At: eve}), "2"},
		"a lost answer":    {without(3), `chat -1001, topic 7: lost: "salt" has no answer`},
		"a lost first":     {without(1), `chat 1, topic 0: lost: "one" has no answer`},
		"a lost part":      {without(9), `chat 1, topic 0: told without what comes before it, or at a wrong time: "2 of long <<4>>"`},
		"a lost end":       {without(10), `chat 1, topic 0: lost: the end of the answer to "long"`},
		"a lost reply":     {without(6), `chat 1, topic 0: lost: "/stop" has no reply`},
		"a lost schedule":  {without(12), `chat 1, topic 0: lost: "the schedule of the next" has no answer`},
		"a schedule at a wrong time": {with(func(all []telegram.Message) { all[12].At = eve.Add(22 * time.Hour) }),
			`chat 1, topic 0: told twice without saying so: "Good morning", the answer to "the schedule of a day"`},
		"a doubled answer": {append(log(), log()[1]), `chat 1, topic 0: told twice without saying so: "You said: one"`},
		"a doubled part":   {append(log(), log()[9]), `chat 1, topic 0: told twice without saying so: "1 of long <<4>>"`},
		"a doubled reply":  {append(log(), log()[6]), `chat 1, topic 0: told twice without saying so: "Stopped. The conversation goes on."`},
		"both forms of an edited message": {append(log(), telegram.Message{Bot: true, Chat: 1, Text: "You said: two", At: eve}),
			`chat 1, topic 0: told twice without saying so: "You said: two"`},
		"swapped answers": {with(func(all []telegram.Message) { all[1].Text, all[4].Text = all[4].Text, all[1].Text }),
			`chat 1, topic 0: told in the wrong order: the answer to "two" came before that to "one"`},
		"an answer in the wrong topic": {with(func(all []telegram.Message) { all[3].Topic = 8 }),
			`chat -1001, topic 8: told in the wrong place: "You said: salt", the answer to "salt" of chat -1001, topic 7`},
		"an answer that grew and was left": {with(func(all []telegram.Message) { all[2].Text = "…" }), `chat 1, topic 0: told without a question: "…"`},
		"an answer to a stopped message": {append(log(), telegram.Message{Bot: true, Chat: 1, Text: "You said: never mind", At: eve}),
			`chat 1, topic 0: "Stopped. The conversation goes on." was replied to "/stop", and every message has its answer`},
		"nothing was stopped": {with(func(all []telegram.Message) { all[6].Text = "Nothing is running." }), `chat 1, topic 0: lost: "never mind" has no answer`},
	} {
		findings, twice := Judge(family(), test.shown)
		switch {
		case test.want == "2" && twice == 2 && len(findings) == 0:
		case test.want == "" && (len(findings) > 0 || twice != 1):
			t.Errorf("%s: %d twice, %q", name, twice, findings)
		case test.want != "" && !strings.Contains(strings.Join(findings, "\n"), test.want):
			t.Errorf("%s: %q, not %q", name, findings, test.want)
		}
	}
}

// The repeat of an early reply may have been taken for a later command's: the sure reply is that one's, and no older one's.
func TestASureReplyIsOfTheLatestInDoubt(t *testing.T) {
	t.Parallel()
	stop := func(number int) Said {
		return Said{Place: ann, Number: number, Text: "/stop", IsStop: true, Aside: true, Reply: regexp.MustCompile(`^(Stopped\.|Nothing is running\.)`)}
	}
	say := func(number int, text string) Said {
		return Said{Place: ann, Number: number, Text: text, Wants: []string{"You said: " + text}}
	}
	said := []Said{say(1, "one"), stop(2), stop(4), say(6, "two"), stop(7)}
	tells := func(number int, text string) telegram.Message {
		return telegram.Message{Bot: true, Chat: ann.Chat, Number: number, Text: text}
	}
	shown := []telegram.Message{
		tells(3, again+"Stopped."), tells(5, "Nothing is running."),
		tells(8, again+"Nothing is running."), // that of the second command, said again
		tells(9, "Stopped."),
	}
	if findings, twice := Judge(said, shown); len(findings) > 0 || twice != 1 {
		t.Errorf("%d twice, %q", twice, findings)
	}
}

func TestStrays(t *testing.T) {
	t.Parallel()
	command := func(number int, text, reply string) Said {
		return Said{Place: ann, Number: number, Text: text, Aside: true, Reply: regexp.MustCompile("^" + reply)}
	}
	say := func(number int, text string) Said {
		return Said{Place: ann, Number: number, Text: text, Wants: []string{"You said: " + text}}
	}
	said := []Said{say(1, "<<1>>"), command(2, "/new", "Starting fresh"), say(3, "<<2>>"), command(4, "/back", "Back in |I cannot"), say(5, "<<3>>")}
	shown := []telegram.Message{
		{Bot: true, Chat: ann.Chat, Number: 6, Text: "You said: <<1>>"},
		{Bot: true, Chat: ann.Chat, Number: 6, Text: "what Judge finds"},
		{Bot: true, Chat: ann.Chat, Number: 7, Text: "Starting fresh; the old conversation is kept as a1."},
		{Bot: true, Chat: ann.Chat, Number: 8, Text: "Back in a1: Claude knows again what was said there."},
	}
	for _, test := range []struct {
		first, second string
		want          int
	}{{"a1", "b2", 0}, {"a1", "a1", 1}, {"b2", "b2", 1}, {"b2", "a1", 2}} {
		got := Strays(said, shown, map[string]string{"<<1>>": test.first, "<<2>>": test.second, "<<3>>": "a1"})
		if len(got) != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
