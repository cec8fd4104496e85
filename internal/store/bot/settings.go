package bot

import (
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// Settings are how the chats of a bot are served, beside who may write there and what Claude may do.
type Settings struct {
	SystemPrompt string        `json:"system_prompt,omitempty"` // of new and reset chats
	Model        agent.Model   `json:"model,omitempty"`         // of the same chats; "": Claude's choice
	Enrich       bool          `json:"enrich,omitempty"`        // see [conversations.Request]
	ContextCmd   string        `json:"context_cmd,omitempty"`   // a program whose output Claude gets with each text; "": no program
	DailyLimit   float64       `json:"daily_limit,omitempty"`   // of a chat, in US dollars; 0: no limit
	Silence      time.Duration `json:"silence,omitempty"`       // see [conversations.Request]

	TranscribeCmd string `json:"transcribe_cmd,omitempty"` // a program that writes down a voice message; "": no program
	GroupAll      bool   `json:"group_all,omitempty"`      // take all messages of groups, not only those for the bot
}

// With returns the settings, with what the given flags say in place of what was kept.
func (s Settings) With(flags Settings, given func(flag string) bool) Settings {
	if given("system-prompt") || given("system-prompt-file") {
		s.SystemPrompt = flags.SystemPrompt
	}
	if given("model") {
		s.Model = flags.Model
	}
	if given("enrich") {
		s.Enrich = flags.Enrich
	}
	if given("context-cmd") {
		s.ContextCmd = flags.ContextCmd
	}
	if given("daily-limit") {
		s.DailyLimit = flags.DailyLimit
	}
	if given("turn-timeout") {
		s.Silence = flags.Silence
	}
	if given("transcribe-cmd") {
		s.TranscribeCmd = flags.TranscribeCmd
	}
	if given("group-all") {
		s.GroupAll = flags.GroupAll
	}
	return s
}

// Words describes the settings for a person, a line for each that was chosen.
func (s Settings) Words() []string {
	var lines []string
	add := func(is bool, format string, args ...any) {
		if is {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	const shown = 60 // characters
	add(s.SystemPrompt != "", "the system prompt of new chats is %s", human.Quote(human.Cut(human.OneLine(s.SystemPrompt), shown, human.Letter)))
	add(s.Model != "", "the model of new chats is %s", s.Model)
	add(s.Enrich, "Claude gets the time, the project and what is remembered with each text")
	add(s.ContextCmd != "", "Claude gets what %s prints with each text", human.Quote(s.ContextCmd))
	add(s.DailyLimit > 0, "a chat begins no turn on a day on which it has cost %g US dollars", s.DailyLimit)
	add(s.Silence > 0, "a turn ends after %s without a sign of life", s.Silence)
	add(s.Silence == conversations.Unlimited, "a turn has no time limit")
	add(s.TranscribeCmd != "", "voice messages are written down by %s", human.Quote(s.TranscribeCmd))
	add(s.GroupAll, "all messages of groups are taken")
	return lines
}
