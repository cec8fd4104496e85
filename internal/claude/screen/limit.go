package screen

import (
	"strings"
	"time"
)

// usageLimit matches the messages of Claude Code's versions that a usage limit of the user's plan is reached: "You've
// hit your session limit · resets 3:30pm (Europe/Berlin)", "Claude usage limit reached. Your limit will reset at 3pm
// (UTC).", "5-hour limit reached ∙ resets 3am".
var (
	usageLimit = pattern(`(?i)(?:hit|reached) your [a-z0-9 -]*limit|(?:usage|session|weekly|-hour|opus) limit reached`)
	resetsAt   = pattern(`(?i)resets? (?:at )?(\d{1,2})(?::(\d\d))? ?([ap]m)?(?: \(([A-Za-z0-9_+/-]+)\))?`)
)

// tooLong matches Claude's messages for a conversation that does not fit the window: in the transcript, on the
// screen.
var tooLong = pattern(`^(?:Prompt is too long|Context limit reached)`)

// TooLong reports whether a text is such a message.
func TooLong(text string) bool { return tooLong().MatchString(text) }

// justLifted is how long after a clock time that time still counts as today's, not as tomorrow's.
const justLifted = time.Hour

// UsageLimit reports whether a text says that a usage limit was reached, and until when. until is zero if the text
// names no time, or one that has just passed.
func UsageLimit(text string, now time.Time) (limited bool, until time.Time) {
	if !usageLimit().MatchString(text) {
		return false, until
	}
	m := resetsAt().FindStringSubmatch(text)
	if m == nil {
		return true, until
	}
	in := now.Location()
	if named, err := time.LoadLocation(m[4]); m[4] != "" && err == nil {
		in = named
	}
	at, err := time.Parse("15:04", clock(m[1], m[2]))
	if strings.EqualFold(m[3], "pm") || strings.EqualFold(m[3], "am") {
		at, err = time.Parse("3:04pm", clock(m[1], m[2])+strings.ToLower(m[3]))
	}
	if err != nil {
		return true, until
	}
	here := now.In(in)
	until = time.Date(here.Year(), here.Month(), here.Day(), at.Hour(), at.Minute(), 0, 0, in)
	switch passed := here.Sub(until); {
	case passed < 0:
		return true, until
	case passed < justLifted:
		return true, time.Time{}
	}
	return true, until.AddDate(0, 0, 1)
}

func clock(hour, minute string) string {
	if minute == "" {
		minute = "00"
	}
	return hour + ":" + minute
}
