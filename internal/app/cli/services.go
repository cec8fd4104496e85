package cli

import (
	"context"
	"net"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/platform/companion"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/supervisor"
)

// Services are what only the program nbs-worker-services can do. It links a web server, a Telegram client and SQLite,
// which would cost every launcher memory and every hook time; there are hundreds of those, and one of it.
type Services struct {
	// Serve hosts the conversations of a project, which open opens, until the context ends.
	Serve func(ctx context.Context, o ServeOptions, open func() (*supervisor.Supervisor, error)) error
	// OpenMemory opens what is remembered in a project, or makes and seals it. Errors: NotFound when there is none; Held
	// when the user does not vouch for it; Unfit when a later version made it; Failed when it is damaged.
	OpenMemory func(ctx context.Context, in *store.Store, create bool) (memory.Store, error)
	// LookAtMemory opens what is remembered for a person to look at, before it is sealed by the id of the database.
	LookAtMemory func(ctx context.Context, in *store.Store) (m memory.Store, instance string, err error)
	// Observe observes the agents of a project whose memory is on, until the context ends.
	Observe func(ctx context.Context, s *supervisor.Supervisor, o ObserveOptions) error
}

// ServeOptions are those of nbs-worker serve.
type ServeOptions struct {
	Chats   ChatOptions
	Warm    int    // claudes that are kept at most
	Memory  uint64 // bytes that they may have in all
	Idle    time.Duration
	Metrics net.Listener // nil: nowhere
	Say     func(format string, args ...any)
}

// ChatOptions are those of the bridge to Telegram.
type ChatOptions struct {
	TokenFile  string // "": the token is in the environment, or there is no bridge
	Allowed    []int64
	Users      []int64     // who is heard in the allowed chats; empty: everybody
	InGroups   bool        // the commands that reach agents are for groups too
	URL        string      // of the Bot API; "": Telegram's
	Prompt     string      // the system prompt of chats that begin, or are reset
	Model      agent.Model // of those; "": Claude's choice
	ContextCmd string      // a program whose output Claude is told beside each text; "": none
}

// handOver executes nbs-worker-services with this command line in place of this program; within a runbook it runs as
// a child. Errors: Unfit when it is not there.
func (f *factory) handOver(ctx context.Context) error {
	if f.streams.In == os.Stdin && f.streams.Out == os.Stdout {
		f.close()
		return companion.Become(f.args)
	}
	code, err := companion.Run(ctx, f.args, f.streams.In, f.streams.Out, f.streams.Err)
	if err == nil && code != 0 {
		err = exitError(code)
	}
	return err
}
