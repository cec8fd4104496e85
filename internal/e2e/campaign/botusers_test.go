package campaign

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/e2e/told"
	"nbs-worker/internal/sim/telegram"
)

// botUser is a person in a place.
type botUser struct {
	*botParachute

	at    told.Place
	rng   *rand.Rand
	count int // of what was said

	given   map[string]int // how often each command was given
	retried int            // the last message after which its owner had a turn tried again
}

// talk says a few things at once, waits until all is answered, and goes on so until all kills are made.
func (u *botUser) talk() {
	for {
		for range 1 + u.rng.IntN(3) {
			u.say()
		}
		u.answered()
		select {
		case <-u.over:
			return
		default:
		}
	}
}

// answered waits until all is answered. A person who waits for long writes again: a message that waits for its time
// is tried then. While the kills go on, each attempt at an answer may be killed, so its patience ends only after them.
func (u *botUser) answered() {
	begun := time.Now()
	asked, pause := begun, 8*u.usual
	check := func() (bool, string) {
		open := u.open()
		if len(open) > 0 && time.Since(asked) > pause {
			asked, pause = time.Now(), 2*pause
			u.writes("Are you there?")
			u.owner()
		}
		return len(open) == 0, strings.Join(open, "\n")
	}
	for is := false; !is; is, _ = check() {
		select {
		case <-u.over:
			u.WaitFor("all is answered", check)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	u.waited(time.Since(begun))
}

// owner does what the bot asks of its owner: a turn whose claude was killed thrice waits for that.
func (u *botUser) owner() {
	for _, m := range u.bot.Chat(u.at.Chat) {
		if m.Bot && m.Topic == u.at.Topic && m.Number > u.retried && strings.Contains(m.Text, "waits for a person at the machine: nbs-worker conversation retry "+keyOf(u.at)) {
			u.retried = m.Number
			u.NBS("conversation", "retry", keyOf(u.at)) // it may be over by now
			u.counts("retried")
		}
	}
}

// open returns what has no answer yet.
func (u *botUser) open() []string {
	u.mu.Lock()
	said := slices.DeleteFunc(slices.Clone(u.said), func(s told.Said) bool { return s.Place != u.at })
	u.mu.Unlock()
	findings, _ := told.Judge(said, slices.DeleteFunc(u.bot.Chat(u.at.Chat), func(m telegram.Message) bool { return m.Topic != u.at.Topic }))
	return slices.DeleteFunc(findings, func(f string) bool { return !strings.Contains(f, ": lost: ") })
}

// notes adds what was said to what is judged in the end.
func (u *botUser) notes(s told.Said) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.said = append(u.said, s)
}

// marked is a text that was not said before.
func (u *botUser) marked(text string) string {
	u.count++
	return fmt.Sprintf("%s <<%d.%d.%d>>", text, u.at.Chat&0xff, u.at.Topic, u.count)
}

// sends sends a text to the bot, which a group's must name.
func (u *botUser) sends(text string) telegram.Message {
	if u.at.Topic != 0 && !strings.HasPrefix(text, "/") {
		text = "@" + telegram.Name + " " + text
	}
	return u.bot.SayAs(max(u.at.Chat, 1), u.at.Chat, text, telegram.InTopic(u.at.Topic))
}

// writes says a text, which is answered in one of the forms; without one, as it is.
func (u *botUser) writes(text string, forms ...string) telegram.Message {
	text = u.marked(text)
	m := u.sends(text)
	if forms = append(forms, "You said: "+text); strings.HasPrefix(text, "[[long ") {
		forms = []string{lengthened(forms[0], text)}
	}
	u.notes(told.Said{Place: u.at, Number: m.Number, Text: text, Wants: forms})
	return m
}

const longAnswer = 9000

// lengthened is a long answer.
func lengthened(answer, text string) string {
	for line := 1; len(answer) < longAnswer; line++ {
		answer += fmt.Sprintf("\n\n%d of: %s", line, text)
	}
	return answer
}

// behind is what the bot adds to the reply to a command that has words behind it, and other the end of one that has none.
const (
	behind = `(?s).* What you wrote behind the command was not passed on: send it as a message of its own\.$`
	other  = `([^W]|W[^h])*$`
)

// commands gives a command, which is replied to. What may be the reply to an earlier one of its kind, said again, is not
// the reply to this one: every second one has a word behind it, and each waits for the one before.
func (u *botUser) commands(text, reply string, change ...func(*told.Said)) {
	kind := strings.Replace(text, "!", "/stop", 1)
	if u.given[kind]++; u.given[kind] > 1 && kind != "/stop" {
		u.answered()
	}
	end := other
	if u.given[kind]%2 == 0 && (kind == "/stop" || kind == "/new") {
		text, end = kind+" please", behind
	}
	s := told.Said{Place: u.at, Text: text, Aside: true, Reply: regexp.MustCompile("^(" + reply + ")" + end)}
	if kind != "/stop" && kind != "/new" {
		s.Reply = regexp.MustCompile("^(" + reply + ")")
	}
	s.Number = u.sends(text).Number
	for _, c := range change {
		c(&s)
	}
	u.notes(s)
}

// goneBack is the reply to what goes back.
const goneBack = `Back in |I cannot go back: |There is no such earlier session|Nothing was said yet`

// say does one thing of those that people do.
func (u *botUser) say() {
	switch u.rng.IntN(14) {
	case 0, 1, 2:
		u.writes("plain")
	case 3, 4:
		u.writes("[[delay 150ms]] later")
	case 5:
		u.writes(fmt.Sprintf("[[long %d]] much", longAnswer))
	case 6, 7:
		u.shows()
	case 8:
		u.edits()
	case 9, 10:
		if u.given["/stop"] > 0 { // see commands; the message is not to be answered before the stop
			u.answered()
		}
		u.writes("[[delay 3s]] to be stopped")
		stop := []string{"/stop", "!"}[u.rng.IntN(2)]
		if u.at.Topic != 0 {
			stop = "/stop"
		}
		u.commands(stop, `Stopped\.|Nothing is running|It had just ended\.`, func(s *told.Said) { s.IsStop = true })
	case 11:
		u.commands("/new", `Starting fresh`)
	case 12:
		u.commands("/back", goneBack)
	case 13:
		u.presses()
	}
}

// shows sends a picture.
func (u *botUser) shows() {
	var data bytes.Buffer
	_ = png.Encode(&data, image.NewRGBA(image.Rect(0, 0, 20+u.count, 20))) // into memory
	text := u.marked("picture")
	said := text
	if u.at.Topic != 0 {
		said = "@" + telegram.Name + " " + text
	}
	m := u.bot.Photo(u.at.Chat, data.Bytes(), telegram.By(max(u.at.Chat, 1)), telegram.InTopic(u.at.Topic), telegram.Captioned(said))
	u.notes(told.Said{Place: u.at, Number: m.Number, Text: text, Wants: []string{"You said: " + text}})
}

// edits writes a text and changes it at once: what Claude has by then is answered.
func (u *botUser) edits() {
	text := u.marked("first")
	m := u.sends(text)
	other := strings.Replace(m.Text, "first", "second", 1)
	u.bot.Edit(u.at.Chat, m.Number, other)
	u.notes(told.Said{Place: u.at, Number: m.Number, Text: text, Wants: []string{"You said: " + text, "You said: " + strings.Replace(text, "first", "second", 1)}})
}

// presses asks for the sessions, and presses a button, if there is one.
func (u *botUser) presses() {
	u.commands("/sessions", `Now: |No session yet|Nothing was said yet`)
	u.answered()
	all := u.bot.Chat(u.at.Chat)
	for _, m := range slices.Backward(all) {
		if m.Bot && m.Topic == u.at.Topic && len(m.Buttons) > 0 {
			button := m.Buttons[u.rng.IntN(len(m.Buttons))][0]
			if u.bot.Press(max(u.at.Chat, 1), u.at.Chat, m.Number, button.Data) != "" {
				u.notes(told.Said{Place: u.at, Number: m.Number, Text: "[" + button.Text + "]", Aside: true, Reply: regexp.MustCompile("^(" + goneBack + ")")})
			}
			return
		}
	}
}
