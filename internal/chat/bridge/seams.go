package bridge

import (
	"context"
	"os"
	"time"
)

// Incoming is a message of a chat.
type Incoming struct {
	Key     string // of the chat's conversation
	ID      string // of the update
	Text    string
	Context string // what Claude is told beside the text: who speaks, and what is quoted

	Files    []File
	Messages []string // the numbers, in the chat, of the messages that it consists of
	Parts    []string // the ids of these, if they are several
}

// File is a file of a message, kept.
type File struct {
	Name  string // as its sender called it
	Type  string // its media type
	Kept  string // its name in the conversation's folder
	Size  int    // bytes
	Sum   string // of its content
	Shown bool   // Claude gets it in the message, as a picture
}

// Edit is what became of an edited message.
type Edit int

// The outcomes.
const (
	EditIgnored Edit = iota // the message was not passed on, or has the same text
	EditTaken               // the message waits, and has the new text
	EditLate                // Claude has the message as it was
	EditPart                // the message waits as it was: only a part of it is known to be edited
)

// Chats gives access to the conversations, by key. An id names one update.
type Chats interface {
	// Accept puts a message into the chat's queue. After it returns, no crash loses the message. It accepts an id once.
	// Errors: Conflict (the queue is full), BadInput (refused for good). After any other it is tried again.
	Accept(ctx context.Context, m Incoming) error
	// Keep keeps the n-th file of a message, durably. It sets Type from the content where it is known, and Shown. path is
	// where it is. Errors: BadInput (refused for good). After any other it is tried again.
	Keep(ctx context.Context, key, id string, n int, f File, content []byte) (kept File, path string, err error)
	// Edit changes the text of the accepted message that contains the first of m.Messages; whole reports whether m has
	// all of it. Errors: as of Accept.
	Edit(ctx context.Context, m Incoming, whole bool) (Edit, error)
	// Ahead returns how many unanswered messages of the chat are before this one.
	Ahead(ctx context.Context, key, id string) (int, error)
	// Answer waits until there is an answer other than told, the previous one, which is zero at first. A held turn is
	// an answer too; another one follows. It waits until the context ends. Errors: NotFound.
	Answer(ctx context.Context, key, id string, told Answer) (Answer, error)
	// Hear calls heard with what Claude does with a message, as it does it, until leave is called. Heard must not block.
	Hear(key, id string, heard func(Progress)) (leave func())
	// Reset makes the next message begin a new conversation, and returns the old session ID, or "" if there was none.
	// The same id resets once, and gets the same answer again.
	Reset(ctx context.Context, key, id string) (previousID string, err error)
	// Interrupt stops the turn that runs, or is about to; a result says why. The same id stops no other turn, also if it
	// comes again after a crash; and none of a message that came behind the command. Errors: Held when the first message
	// is held.
	Interrupt(ctx context.Context, key, id, why string, isBehind func(id string) bool) (Interruption, error)
	// File opens a file of the project, by its path there, for the chat. Errors: NotFound, BadInput.
	File(path string) (*os.File, error)
	// Status describes the conversation's state in words.
	Status(ctx context.Context, key string) (string, error)
}

// Interruption is the outcome of a stop.
type Interruption struct {
	Is    bool   // the turn was stopped
	Ended bool   // it had ended before
	Told  bool   // Claude had answered, and went on: the chat is told by itself what was ended
	After string // what was ended then, if the chat is not told by itself
	Acted string // the tools that had run, in words
}

// Menu shows and changes how the conversation of a chat goes on. The texts that its methods return are sent to the
// chat unchanged.
type Menu interface {
	// Sessions lists the sessions of the conversation, and offers the earlier ones.
	Sessions(ctx context.Context, key string) (text string, choices []Choice, err error)
	// Back makes an earlier session the present one: the named one, or with "" the latest. The same id does it once.
	Back(ctx context.Context, key, id, named string) (string, error)
	Rename(ctx context.Context, key, name string) (string, error)
	// ChooseModel chooses the model of the next messages; "" says which it is.
	ChooseModel(ctx context.Context, key, name string) (string, error)
	Usage(ctx context.Context, key string) (string, error)
}

// Choice is something to choose from a list.
type Choice struct {
	Label   string // what the user reads
	Command string // what the choice stands for: a command of at most 64 bytes
}

// Deliveries records which answers were sent. Each change is durable when the call returns.
type Deliveries interface {
	// Undelivered returns the messages of all systems that were accepted and whose answers were not sent, in the order in
	// which they were accepted; and what was noted with NoteWaiting, in that order.
	Undelivered(ctx context.Context) ([]Unfinished, error)
	// Accepted returns the ids of the parts of the accepted message that m is a part of; nil if none was accepted. untold
	// is true, once, if no bridge knew of it: its answer is to be told.
	Accepted(ctx context.Context, m Incoming) (parts []string, untold bool, err error)
	// NoteParts records which ids a message has that will be accepted under the first of them.
	NoteParts(ctx context.Context, key string, ids []string) error
	// NoteWaiting records a command that is to be carried out, or a message behind it that is to be accepted. over reports
	// whether it was, as NoteDelivered has recorded.
	NoteWaiting(ctx context.Context, m Incoming) (over bool, err error)
	// NoteTelling is called before an answer is sent. It reports whether that was recorded before: then the chat may
	// have the answer, or a part of it.
	NoteTelling(ctx context.Context, key, id string) (again bool, err error)
	// NoteReplying is called before the reply to a command is sent, and NoteDelivered after that, with an id of the
	// reply's own. It reports whether it was called before: then the chat may have the reply; and whether it has it.
	NoteReplying(ctx context.Context, key, id string) (again, over bool, err error)
	// Shown returns what the chat has of the answer to a message. NoteShown records it.
	Shown(ctx context.Context, key, id string) (Shown, error)
	NoteShown(ctx context.Context, key, id string, s Shown) error
	// NoteDelivered is called after sending. Untold is why the answer was not sent completely: it was refused.
	NoteDelivered(ctx context.Context, key, id, untold string) error
	// Moves returns the groups that became other chats, of all systems, with the keys of their conversations.
	Moves(ctx context.Context) ([]Move, error)
	// NoteMove records that a group became another chat. What was recorded first counts.
	NoteMove(ctx context.Context, from, to string) (Move, error)
}

// Team gives access to the agents. The texts that its methods return are sent to the chat unchanged.
type Team interface {
	Agents(ctx context.Context) (string, error)
	// Send sends a text to an agent. The same id is sent once.
	Send(ctx context.Context, handle, id, text string) (string, error)
	Resume(ctx context.Context, handle string) (string, error)
	// AnswerAgent answers what an agent asks, and returns when that is proved. The same user may say the same again.
	AnswerAgent(ctx context.Context, a Answering) (Answered, error)
	// AgentOf returns the agent that a post of a conversation's chat is about; "" if the message is no such post.
	AgentOf(ctx context.Context, key string, post Sent) (handle string, err error)
}

// Answering is what a user says to what an agent asks.
type Answering struct {
	ID      string // of the message: after a crash it comes again
	By      string // who: "telegram:7"
	Request string // its id, or the handle of an agent that asks only one thing
	Allow   bool
	Choice  string // of a question; Allow is then ignored
	Message string // why it is refused
}

// Answered is what became of an answer.
type Answered struct {
	Text string
	Late bool // it did nothing: the request was answered before, or is over
}

// Progress is what Claude does in the middle of a turn: it writes a further part of its answer, or uses a tool.
type Progress struct {
	Text string // the part, or what the tool is used for
	Tool string // "" for a part of the answer
}

// Shown is what a chat has of an answer that was not told yet, or not completely.
type Shown struct {
	Sent      // the message in which the answer grows; none: no Message. A group may have become another chat since
	Parts int // how many of its messages were told
}

// Unfinished is an accepted message, or one that was noted.
type Unfinished struct {
	Key, ID string
	Noted   *Incoming // nil: it was accepted
}

// Answer is the outcome of a message.
type Answer struct {
	Text              string
	Continuity        string // new, resumed, or reset: another conversation than before
	Reason            string // of a reset
	Notice            string // a notice for the user, in words; for a reset it replaces this package's own
	PreviousSessionID string // of a reset
	Class             string // "" when Claude answered; otherwise the failure: overloaded, limit, authentication, ...
	Error             string // the failure in words
	Held              bool   // the message is kept until RetryAt, or, when that is zero, until a person acts
	RetryAt           time.Time
	Mends             bool // the cause may end by itself: RetryAt is only the next of many tries
	Known             bool // the chat was told of this cause before

	Acted string   // the tools that ran in a turn without an answer, in words
	Files []string // of the project, which the answer names and its turn has changed
}

// isHeld reports whether another answer follows this one.
func (a Answer) isHeld() bool { return a.Held || !a.RetryAt.IsZero() }
