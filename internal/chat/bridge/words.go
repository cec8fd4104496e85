package bridge

import (
	"strings"
	"time"

	"nbs-worker/internal/human"
)

// failures describes what happened, by class.
var failures = map[string]string{
	"overloaded":      "Claude is overloaded",
	"server_error":    "Claude's API has a fault",
	"limit":           "The usage limit of Claude is reached",
	"authentication":  "Claude is not logged in on its machine",
	"bad_request":     "Claude's API refused the message",
	"bad_model":       "Claude does not have the model",
	"too_long":        "The conversation is too long for Claude",
	"unknown_session": "Your session could not be resumed",
	"session_in_use":  "This conversation is open somewhere else",
	"blocked":         "A hook at the machine refused your message",
	"interrupted":     "Your message was stopped",
	"killed":          "Claude was ended in the middle of the turn",
	"timed_out":       "Claude did not answer in time",
	"unknown":         "Claude ended in the middle of the turn; what it had done is unknown",
	"skipped":         "Your message was taken out of the queue",
	"lost":            "It is unknown what happened to your message",
	"daily_limit":     "Today's money for this chat is used up",
}

// remedies says how to resolve a failure, other than by sending the message again.
var remedies = map[string]string{
	"too_long":        "Send /new for a new conversation; the old one is kept.",
	"bad_request":     "Send /new for a new conversation if that goes on; the old one is kept.",
	"blocked":         "Say it in other words.",
	"unknown_session": "Send /new for a new conversation.",
	"daily_limit":     "Send it again tomorrow.",
}

// compose puts an answer into words: what happened to the conversation, the answer or the failure, and the next step.
func (b *Bridge) compose(key string, a Answer) []Piece {
	said := []Piece{b.plain(notice(a))}
	switch {
	case a.Class != "" || a.isHeld():
		said = append(said, b.plain(b.failure(key, a)))
	case strings.TrimSpace(a.Text) == "":
		said = append(said, b.plain("(Claude gave an empty answer.)"))
	default:
		said = append(append(said, b.markdown(a.Text)), b.offer(key, a)...)
	}
	return said
}

// plain returns words of the bridge's own, without the system's secrets.
func (b *Bridge) plain(words string) Piece { return Piece{Text: b.hide(words)} }

// markdown returns words of Claude.
func (b *Bridge) markdown(words string) Piece { return Piece{Text: b.hide(words), Markdown: true} }

func notice(a Answer) string {
	if a.Notice != "" || a.Continuity != "reset" {
		return a.Notice
	}
	text := "Your session could not be resumed"
	if a.Reason != "" {
		text += " (" + a.Reason + ")"
	}
	text += "; this is a new one."
	if a.PreviousSessionID != "" {
		text += " The old one was " + a.PreviousSessionID + "."
	}
	return text
}

func (b *Bridge) failure(key string, a Answer) string {
	what := failures[a.Class]
	if what == "" {
		what = "Claude failed"
	}
	if a.Error != "" && a.Class != "authentication" { // Claude's own words ask to type /login, which does nothing in a chat
		const longest = 300 // characters; the operator has the whole text
		what += " (" + shorten(a.Error, longest) + ")"
	}
	next := "Your message was not answered: send it again."
	if a.Acted != "" { // they would act twice
		what += ". Claude had used " + a.Acted
		next = "Your message was not answered. Ask what was done before you send it again."
	}
	switch {
	case a.Mends:
		return what + "; your message is kept. It is tried again now and then, and whenever you write.\nOr send /new for a new conversation without it."
	case !a.RetryAt.IsZero():
		return what + "; your message is kept and will be tried again at " + b.clock(a.RetryAt) + "."
	case a.Held:
		return what + "; your message is kept, and waits for a person at the machine: nbs-worker conversation retry " + key + "\nOr send /new for a new conversation."
	case a.Class == "interrupted":
		next = "The conversation goes on."
	case a.Class == "skipped":
		next = "Send it again if you want an answer."
	case remedies[a.Class] != "":
		next = "Your message was not answered. " + remedies[a.Class]
	}
	return what + ". " + next
}

// clock formats a time for the user's clock, with the day unless it is today.
func (b *Bridge) clock(at time.Time) string {
	at, now := at.In(b.Location), time.Now().In(b.Location)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("15:04 on 2 January")
}

// words formats an error for a chat.
func (b *Bridge) words(err error) string {
	const longest = 500 // characters
	return shorten(b.hide(err.Error()), longest)
}

func shorten(text string, longest int) string {
	text = human.Legible(strings.TrimSuffix(strings.TrimSpace(text), "."))
	return human.Cut(text, longest, human.Letter)
}
