package memory

import (
	"context"
	"errors"
	"io"
	"time"

	"nbs-worker/internal/agent"
)

// Query says which observations are looked for.
type Query struct {
	Text   string       // words that all occur; empty in [Store.Latest]: any
	Handle agent.Handle // empty: of every agent
	Since  time.Time    // noticed since; zero: ever
	Limit  int          // how many at most; 0: DefaultLimit
}

// DefaultLimit is how many observations are returned for a query without a limit.
const DefaultLimit = 20

// StatusOf is what is known of one observed conversation.
type StatusOf struct {
	Observed
	Observations int
	Newest       time.Time // when the newest observation was noticed; zero: there is none
	Problem      string    // why its observer did not get on, in one line; empty: nothing is known
	ProblemAt    time.Time
}

// ErrReplaced is why nothing can be stored any more: the file at the path is not the one that was opened, so a change
// would be stored where nobody looks.
var ErrReplaced = errors.New("it was moved away, or another one was put in its place, since it was opened")

// Store keeps observations. It is safe for use by several processes and goroutines; what one call
// changes is durable when it returns, all of it or nothing. Whatever changes something may fail with
// [ErrReplaced].
type Store interface {
	// Create begins to keep what is observed of a conversation. It is idempotent: the handle and the
	// first prompt of the first call stay. MemoryID, Synthesized and ReadTo are not taken from o: the
	// memory id is unknown until it is captured. Errors: Conflict when the content id is a memory id.
	Create(ctx context.Context, o Observed) error
	// Observed returns a conversation. Errors: NotFound.
	Observed(ctx context.Context, content agent.SessionID) (Observed, error)
	// Capture keeps the id of the observer's conversation; the last wins, and takes what was observed
	// before along. Errors: NotFound; BadInput for what is no session id; Conflict when the id is a
	// content id, or another conversation's observer.
	Capture(ctx context.Context, content, memoryID agent.SessionID) error
	// Store keeps what was observed in a turn, and that the transcript was read to the record readTo.
	// Each observation names the captured memory id. One that is there already is not stored again.
	// Errors: NotFound; Conflict when no id is captured, or another than an observation names; BadInput
	// when one is not valid.
	Store(ctx context.Context, content agent.SessionID, turn int, all []Observation, readTo string) (stored int, err error)
	// Advance keeps that the transcript was read to the record readTo. Errors: NotFound.
	Advance(ctx context.Context, content agent.SessionID, readTo string) error
	// Trouble keeps why the observer of a conversation did not get on, for people; Store and Advance end it.
	// Errors: NotFound.
	Trouble(ctx context.Context, content agent.SessionID, problem string) error
	// Add keeps a note that was written by hand, of a conversation that need not be observed; it gets a
	// synthesized memory id when none is captured. Errors: BadInput; Conflict as of Create.
	Add(ctx context.Context, handle agent.Handle, content agent.SessionID, o Observation) (Observation, error)

	// Spend adds to the tokens that were spent on a day (2006-01-02, UTC) and returns their sum.
	Spend(ctx context.Context, day string, tokens int) (total int, err error)

	// Search returns what fits the words, best first. Errors: BadInput when there are none.
	Search(ctx context.Context, q Query) ([]Observation, error)
	// Latest returns observations, newest first.
	Latest(ctx context.Context, q Query) ([]Observation, error)
	// Get returns one. Errors: NotFound.
	Get(ctx context.Context, id int64) (Observation, error)

	// Forget removes one observation. Errors: NotFound.
	Forget(ctx context.Context, id int64) error
	// ForgetHandle removes all that is kept of an agent, and returns the conversations as they were and
	// how many observations there were.
	ForgetHandle(ctx context.Context, handle agent.Handle) (conversations []Observed, n int, err error)

	// Status returns every observed conversation, the oldest first.
	Status(ctx context.Context) ([]StatusOf, error)
	// Check looks for what must not be: damage of the file, observations that belong to nobody, a memory
	// id that is a content id. Each line says one; none: all is well.
	Check(ctx context.Context) ([]string, error)

	// Export writes all that is kept as JSON lines, and returns the number of observations.
	Export(ctx context.Context, w io.Writer) (n int, err error)
	// Import takes what Export wrote: all of it or nothing. What is there already is skipped. Errors:
	// BadInput, which names the line.
	Import(ctx context.Context, r io.Reader) (n, skipped int, err error)
	// Backup writes a copy of the whole database, as it is at one moment, to a new file.
	// Errors: Conflict when the file is there.
	Backup(ctx context.Context, path string) error

	// Instance is the id that the database got when it was made, for whoever vouches for it.
	Instance() string
	Close() error
}
