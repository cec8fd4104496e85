package bridge

// What the tests with a real system share with the bridge.
const (
	Ellipsis   = ellipsis
	QuoteLimit = quoteLimit
	ByStop     = byStop
	ByNew      = byNew
	NotPassed  = notPassed
)

// Help is what a chat is told about the commands, where those that reach agents work in private chats.
func Help(groups bool) string { return (&Bridge{Options: Options{InPrivate: true}}).help(groups) }

// Backlog is how many messages wait in a test, at least as many as a system gives at a time.
const Backlog = 100
