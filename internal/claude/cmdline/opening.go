package cmdline

// Opening is how a launch opens the recorded conversation.
type Opening string

// The two openings. Claude refuses the wrong one: for --resume an id without a
// transcript is no conversation, for --session-id an id with one is in use.
const (
	OpenNew    Opening = "--session-id" // nothing was ever said
	OpenResume Opening = "--resume"     // there is a transcript with messages
)

// Word returns the name of the opening in reports.
func (o Opening) Word() string {
	if o == OpenResume {
		return "resumed"
	}
	return "new"
}

// Conversation describes the conversation that the launch opens.
func (o Opening) Conversation() string {
	if o == OpenResume {
		return "the same conversation"
	}
	return "a new conversation"
}
