package store

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/storetest"
)

// counter plays the writer of the power cuts: it makes the project, and returns what writes a number into alice's
// record: the store, or one of those that leave out a sync.
func counter(role, project string) (write func(n int) error, err error) {
	if err := os.MkdirAll(project, 0o700); err != nil {
		return nil, err
	}
	s, err := own(Create(project))
	if err != nil {
		return nil, err
	}
	unlock, err := s.LockVerb("alice", "spawn", storetest.SomeTime())
	if err != nil {
		return nil, err
	}
	unlock()
	update := func(n int) error {
		_, err := s.Update(context.Background(), "alice", func(r *agent.Record) error { r.PID = n; return nil })
		return err
	}
	file := path(s, sessions, "alice.json")
	switch role {
	case "count-up-without-folder-sync":
		update = func(n int) error { return renameio.WriteFile(file, numbered(n), 0o600) }
	case "count-up-without-sync":
		update = func(n int) error {
			return errors.Join(os.WriteFile(file+".new", numbered(n), 0o600), os.Rename(file+".new", file))
		}
	}
	return func(n int) error {
		if n > 1 {
			return update(n)
		}
		first := record("alice")
		first.PID = 1
		return s.Insert(context.Background(), first)
	}, nil
}

func numbered(n int) []byte {
	r := record("alice")
	r.PID = n
	text, err := json.Marshal(r)
	storetest.Must(err)
	return text
}
