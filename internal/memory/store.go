package memory

import (
	"context"
	"errors"
	"io"
	"time"

	"nbs-worker/internal/agent"
)

// Query selects observations.
type Query struct {
	Text   string       // words that all occur; empty in [Store.Latest]: any
	Any    bool         // some of the longer words of Text are enough
	Handle agent.Handle // empty: of every agent
	Keys   *string      // of the conversations, only those whose keys begin so, beside the agents; nil: all
	Since  time.Time    // noticed since; zero: ever
	Until  time.Time    // noticed before; zero: ever
	Limit  int          // how many at most; 0: DefaultLimit
}

// DefaultLimit is how many observations are returned for a query without a limit.
const DefaultLimit = 20

// StatusOf is the status of one observed conversation.
type StatusOf struct {
	Observed
	Observations int
	Newest       time.Time // when the newest observation was noticed; zero if it has no observations
	Problem      string    // why its observer did not get on, in one line; empty: nothing is known
	ProblemAt    time.Time
}

// ErrReplaced is the error after the database file was moved or replaced: a change would be stored in the old file.
var ErrReplaced = errors.New("it was moved or replaced after it was opened")

// Store keeps observations. Several processes and goroutines may use it. The changes of a call are durable when it
// returns: all of them or none. Each method that changes something may fail with [ErrReplaced].
type Store interface {
	// Create begins to store observations of a conversation. It is idempotent: the handle and the first prompt of the
	// first call stay. It ignores o's MemoryID, Synthesized and ReadTo: the memory id is unknown until it is
	// captured. Errors: Conflict when the content id is a memory id.
	Create(ctx context.Context, o Observed) error
	// Observed returns a conversation. Errors: NotFound.
	Observed(ctx context.Context, content agent.SessionID) (Observed, error)
	// Capture stores the id of the observer's conversation. The last id wins, and takes over earlier observations.
	// Errors: NotFound; BadInput for an invalid session id; Conflict when the id is a content id, or another
	// conversation's observer.
	Capture(ctx context.Context, content, memoryID agent.SessionID) error
	// Store stores the observations of a turn, and that the transcript was read up to the record readTo. Each
	// observation names the captured memory id. An existing one is not stored again. Errors: NotFound; Conflict when
	// no id is captured, or another than an observation names; BadInput when one is not valid.
	Store(ctx context.Context, content agent.SessionID, turn int, all []Observation, readTo string) (stored int, err error)
	// Advance records that the transcript was read up to the record readTo. Errors: NotFound.
	Advance(ctx context.Context, content agent.SessionID, readTo string) error
	// Trouble records why the observer of a conversation failed, for people; Store and Advance clear it. Errors:
	// NotFound.
	Trouble(ctx context.Context, content agent.SessionID, problem string) error
	// Add stores a note that was written by hand. Its conversation need not be observed: it gets a synthesized memory
	// id if no id is captured. Errors: BadInput; Conflict as of Create.
	Add(ctx context.Context, handle agent.Handle, content agent.SessionID, o Observation) (Observation, error)

	// Spend adds to the tokens of a day (2006-01-02, UTC) and returns their sum.
	Spend(ctx context.Context, day string, tokens int) (total int, err error)

	// Search returns the observations that match the words, best first. Errors: BadInput for a query without words.
	Search(ctx context.Context, q Query) ([]Observation, error)
	// Latest returns observations, newest first.
	Latest(ctx context.Context, q Query) ([]Observation, error)
	// Get returns one observation. Errors: NotFound.
	Get(ctx context.Context, id int64) (Observation, error)

	// Forget removes one observation. Errors: NotFound.
	Forget(ctx context.Context, id int64) error
	// ForgetHandle removes all that is stored about an agent. It returns the removed conversations, and the number of
	// removed observations.
	ForgetHandle(ctx context.Context, handle agent.Handle) (conversations []Observed, n int, err error)
	// Rename gives all that is stored about an agent to its new handle.
	Rename(ctx context.Context, from, to agent.Handle) error

	// Status returns every observed conversation, the oldest first.
	Status(ctx context.Context) ([]StatusOf, error)
	// Check looks for violations: damage of the file, observations without a conversation, a memory id that is a
	// content id. Each line names one, as [Seen] shows it; no lines: all is well.
	Check(ctx context.Context, sees func(agent.Handle) bool) ([]string, error)

	// Export writes all that is stored of the agents and conversations that the reader sees as JSON lines, and returns
	// the number of observations.
	Export(ctx context.Context, w io.Writer, sees func(agent.Handle) bool) (n int, err error)
	// Import takes what Export wrote: all of it or nothing. It skips what exists already. Errors: BadInput, which
	// names the line.
	Import(ctx context.Context, r io.Reader) (n, skipped int, err error)
	// Backup writes a copy of the whole database, in its state at one moment, to a new file. Errors: Conflict when
	// the file exists.
	Backup(ctx context.Context, path string) error

	// Instance returns the id that the database got when it was created. The user's seal covers it.
	Instance() string
	Close() error
}
