package bridge

import (
	"context"
	"errors"
	"io"
	"time"
)

// System is a chat system, as a bot sees it. Its methods are called by several goroutines. The bridge sets the time limit
// of a request, except of Next, Upload and Fetch; it makes requests again, and waits between them.
//
// Errors of a request: a [Failure]. After any other error, the request may have been carried out.
type System interface {
	Traits() Traits
	// ParseKey returns the place of a conversation's key: the system's name, a colon, the chat, and for a place within it a
	// slash and the topic. Errors: BadInput.
	ParseKey(key string) (Place, error)
	// Owner returns the user whose private chat with the bot it is now; "" for a group.
	Owner(chat string) (user string)
	// Hide removes the system's secrets from a text.
	Hide(text string) string

	// Start connects. Errors: Held (the system does not accept the bot); after any other it is called again.
	Start(ctx context.Context) (Bot, error)
	// Next waits for updates, and returns those that it has not returned yet. Errors: as of Start.
	Next(ctx context.Context) ([]Update, error)
	// Describe returns the name of a chat, for the operator. Errors: NotFound (the bot cannot reach it).
	Describe(ctx context.Context, chat string) (string, error)
	// SetMenu gives the system's apps the commands that work in groups, or in private chats. It does nothing where the apps
	// have no menu.
	SetMenu(ctx context.Context, groups bool, commands []MenuEntry) error

	// Format renders a text, with an empty line between its pieces, and cuts it into messages. It leaves out what is blank. A
	// piece of Markdown that shows nothing, since it is markup alone, is shown as it is.
	Format(pieces ...Piece) []Message
	// Send sends a message. When the bridge repeats it, it does so with the same id.
	Send(ctx context.Context, to Place, id string, m Message) (Sent, error)
	// Edit makes a message of the bot's say something else. To do so once more changes nothing.
	Edit(ctx context.Context, at Sent, m Message) error
	// Delete deletes a message of the bot's.
	Delete(ctx context.Context, at Sent) error
	// Typing shows, for Traits.Typing, that the bot writes; or with false that it does no more, where that is not shown
	// by itself.
	Typing(ctx context.Context, to Place, is bool) error
	// Upload sends a file, with an id as Send. Its content is read from its beginning.
	Upload(ctx context.Context, to Place, id string, f Upload) error
	// Fetch returns the content of a file. Errors: BadInput in a Failure (it is too large).
	Fetch(ctx context.Context, a Attachment) ([]byte, error)

	// Close closes the connections.
	Close()
}

// Traits are what is always so in a system.
type Traits struct {
	Name  string // prefix of keys, ids and flags of serve: "telegram"
	Title string // as users know it: "Telegram"

	Command string // takes the owner's flags: "nbs-worker serve setup telegram"
	Before  string // precedes the names of those flags that only a bridge has

	// SendsOnceFor is how long a message that is sent again with the same id is one message there; zero: it never is.
	SendsOnceFor time.Duration
	// LastRun is when an earlier process may have sent with ids that still count; zero: they do not.
	LastRun time.Time

	// Learns: Owner knows a chat only once Start has returned.
	Learns bool

	Longest int              // of a message, in units of Size
	Size    func(r rune) int // what a character counts
	MinFile int64            // bytes of a file that the bot may send
	MaxFile int64

	Typing       time.Duration // how long Typing shows
	Grow         time.Duration // how often an answer grows at most
	GrowInGroups time.Duration
}

// Bot is the bot's account.
type Bot struct {
	Name  string // without an @: a command may name it, "/stop@name"
	Hides string // why the bot does not get all messages of groups, and what to do about it; "" if it gets them
}

// Place is where messages are written: a chat, or a topic of a chat. Each has a conversation of its own.
type Place struct{ Chat, Topic string } // no topic: a chat without topics, or what is outside of them

// Sent is a message that the bot has sent.
type Sent struct {
	Chat    string // where its number counts
	Message string
}

// Piece is a part of a text: words of the bridge unless it is something else.
type Piece struct {
	Text     string
	Markdown bool // of Claude
	Code     bool // lines to be copied or pressed, such as commands
}

// Message is a text that fits into one message.
type Message struct {
	Before string // precedes the text: a word of the bridge
	Text   string // what the user reads
	Format any    // the system's own

	Choices []Choice // shown as buttons, or as a list of their commands
	Quiet   bool     // no phone gives notice of it
}

// Upload is a file for a chat.
type Upload struct {
	Name, Caption string
	Content       io.ReadSeeker
}

// MenuEntry is a command in the menu of a system's apps.
type MenuEntry struct{ Name, What string } // the name has no slash

// Update is a message, or the change of one, that comes from a chat.
type Update struct {
	ID   string // "telegram:<update id>": the same when it comes again
	Done func() // called, perhaps more than once, when what becomes of it is durable: until then it comes again after a crash

	// Taken is called once if the writer may write in the chat: it shows them that the update was taken. nil: nothing shows it.
	Taken func()

	At     Place
	Owner  string // whose private chat with the bot it was when the message was written; "" for a group
	From   Person // who wrote it
	Hidden bool   // the writer does not show who they are: From is shared by several

	Number string // of the message in its chat, or of the one that is changed
	IsEdit bool   // it changes an earlier message
	Button bool   // a choice below the bot's message Number was pressed; Text is its command
	Text   string // or the caption of its file; without the bot's name in front
	ForBot bool   // it names the bot, or answers a message of it

	File       *Attachment
	Unreadable string // what the message has that no bot can read: "a video"
	Album      string // messages with the same are one
	Full       bool   // its text may have been split behind this message, by the sender's app
	Cut        bool   // if it was, then within a word

	Answers   *Quoted // the message that it answers
	Elsewhere *Quoted // the message of another chat that it answers
	Forwarded *Person // who has written it, if it is forwarded

	Move *Move // the group became another chat
}

// Person is who wrote a message.
type Person struct {
	ID     string
	Name   string
	Handle string // "@name"
}

// Quoted is a message that another one answers.
type Quoted struct {
	Of     Person
	Number string // of the message in the chat; "": it is in another one
	Mine   bool   // the bot has written it
	Text   string // the part that is answered, or all of it
}

// Attachment is a file of a message that can be fetched.
type Attachment struct {
	Ref   string // the system's own
	Kind  string // in words: "the picture"
	Name  string
	Type  string // its media type
	Size  int64  // bytes; 0: unknown
	Voice bool   // it is speech
}

// Failure is why a request failed. It has the message and the kind of Err.
type Failure struct { //nolint:errname // it is taken apart, and seldom only an error
	Err error

	// Final: another attempt would end in the same way. Kinds of Err: NotFound (the chat does not take messages of the
	// bot), Held (the group became another chat), Failed (it was refused, or a file could not be read), BadInput.
	Final bool

	MovedTo  string        // the chat that the group became
	After    time.Duration // how long the system asks to wait
	NotDone  bool          // it was certainly not carried out
	Withheld bool          // of Fetch: the system could be reached, and does not give the file
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// FailureOf returns the failure in an error; the zero value if it has none.
func FailureOf(err error) Failure {
	if f, is := errors.AsType[*Failure](err); is {
		return *f
	}
	return Failure{}
}
