package store

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/storetest"
)

// newPID is what the role "update" writes.
const newPID = 4711

var secretLaunch = Launch{Invocation: "i", Env: []string{"TOKEN=canary-of-a-secret"}}

// playRole makes the test binary another nbs-worker: a role, a project and what the
// role needs.
func playRole(words []string) {
	role, project := words[0], words[1]
	if change, known := changes[role]; known {
		runtime.LockOSThread() // strace counts the calls of each thread
		if err := change(project); err != nil {
			fmt.Println(err)
			if hints := fail.HintsOf(err); len(hints) > 0 {
				fmt.Println(hints)
			}
			os.Exit(1)
		}
		return
	}
	if strings.HasPrefix(role, "count-up") {
		write, err := counter(role, project)
		storetest.Must(err)
		storetest.Must(rig.CountUp(len(words) > 2, write))
		return
	}
	s, err := own(Open(project))
	storetest.Must(err)
	unlock := func() {}
	defer func() { unlock() }()
	switch role {
	case "verb":
		unlock, err = s.LockVerb(agent.Handle(words[2]), "resume", storetest.SomeTime())
	case "lease-with-child":
		unlock, err = s.AcquireLease(aliceID, Holder{PID: os.Getpid(), Verb: "run", Handle: "alice", Since: storetest.SomeTime()})
		storetest.Must(err)
		rig.StartBelow(false, "stay", project)
	case "count":
		n, _ := strconv.Atoi(words[2])
		storetest.Must(count(context.Background(), s, n))
	}
	storetest.Must(err)
	rig.Stay()
}

// changes are the roles that change what is on disk, once.
var changes = map[string]func(project string) error{
	"update": changing(func(ctx context.Context, s *Store) error {
		_, err := s.Update(ctx, "alice", func(r *agent.Record) error { r.PID = newPID; return nil })
		return err
	}),
	"insert":     changing(func(ctx context.Context, s *Store) error { return s.Insert(ctx, record("bob")) }),
	"remove":     changing(func(ctx context.Context, s *Store) error { return s.Remove(ctx, "alice") }),
	"append":     changing(func(ctx context.Context, s *Store) error { return s.journal.Append(ctx, noted("alice", otherID)) }),
	"put-launch": changing(func(_ context.Context, s *Store) error { return s.PutLaunch("alice", secretLaunch) }),
	"put-message": changing(func(_ context.Context, s *Store) error {
		_, err := s.PutMessage("hello", storetest.SomeTime())
		return err
	}),
	"first-spawn":  func(project string) error { return spawnFirst(project, "") },
	"large-insert": func(project string) error { return spawnFirst(project, strings.Repeat("x", 100<<10)) },
}

func spawnFirst(project, prompt string) error {
	s, err := own(Create(project))
	if err != nil {
		return err
	}
	unlock, err := s.LockVerb("bob", "spawn", storetest.SomeTime())
	if err != nil {
		return err
	}
	defer unlock()
	bob := record("bob")
	bob.InitialPrompt = prompt
	return s.Insert(context.Background(), bob)
}

func changing(change func(context.Context, *Store) error) func(project string) error {
	return func(project string) error {
		s, err := own(Open(project))
		if err != nil {
			return err
		}
		return change(context.Background(), s)
	}
}

// noted is a line of the journal.
func noted(handle agent.Handle, id agent.SessionID) journal.Event {
	return journal.Event{At: storetest.SomeTime(), Event: "start", Handle: handle, SessionID: id}
}
