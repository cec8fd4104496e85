package telegram

import (
	"context"
	"time"
)

// Chats are the conversations, by key. An id names one message of a chat: "telegram:<update id>".
type Chats interface {
	// Accept takes a message into the chat's queue: when it returns, no crash loses it. The same id is accepted once.
	// Errors: Conflict (the queue is full), BadInput: it is refused for good. Any other: it is tried again.
	Accept(ctx context.Context, key, id, text string) error
	// Ahead is how many unanswered messages of the chat are before this one.
	Ahead(ctx context.Context, key, id string) (int, error)
	// Answer waits until there is an answer other than told, the one before, which is zero at first. That the turn is
	// held up is an answer too; another one follows it. It waits as long as the context lasts. Errors: NotFound.
	Answer(ctx context.Context, key, id string, told Answer) (Answer, error)
	// Reset has the next message begin a new conversation, and returns the session id of the old one, "" when there
	// was none. The same id resets once, and gets the same answer.
	Reset(ctx context.Context, key, id string) (previousID string, err error)
	// Status says in words how the conversation is.
	Status(ctx context.Context, key string) (string, error)
}

// Deliveries remember which answers were told. Each change is durable when it returns.
type Deliveries interface {
	// Undelivered are the messages that this bridge accepted and whose answers were not told, in the order in which
	// they were accepted.
	Undelivered(ctx context.Context) ([]Message, error)
	// Delivered reports whether the answer to a message was told.
	Delivered(ctx context.Context, key, id string) (bool, error)
	// NoteTelling is called before an answer is sent. It reports whether that was noted before: then the chat may have
	// the answer, or a part of it.
	NoteTelling(ctx context.Context, key, id string) (again bool, err error)
	// NoteDelivered is called when an answer was sent. Untold is why it was not, or not all of it: Telegram refused it.
	NoteDelivered(ctx context.Context, key, id, untold string) error
}

// Team are the agents. The texts that its methods return are sent to the chat unchanged.
type Team interface {
	Agents(ctx context.Context) (string, error)
	// Send sends a text to an agent. The same id is sent once.
	Send(ctx context.Context, handle, id, text string) (string, error)
	Resume(ctx context.Context, handle string) (string, error)
}

// Message is one that was accepted.
type Message struct{ Key, ID string }

// Answer is what became of a message.
type Answer struct {
	Text              string
	Continuity        string // new, resumed, or reset: the conversation is another than the one before
	Reason            string // of a reset
	Notice            string // what goes with the answer, in words; of a reset it replaces those of this package
	PreviousSessionID string // of a reset
	Class             string // "" when Claude answered; else what failed: overloaded, limit, authentication, ...
	Error             string // what failed, in words
	Held              bool   // the message is kept, and waits for RetryAt, or for somebody when that is zero
	RetryAt           time.Time
}

// equal compares times by what they mean.
func (a Answer) equal(b Answer) bool {
	same := a.RetryAt.Equal(b.RetryAt)
	a.RetryAt, b.RetryAt = time.Time{}, time.Time{}
	return same && a == b
}

// isHeld reports whether another answer follows this one.
func (a Answer) isHeld() bool { return a.Held || !a.RetryAt.IsZero() }
