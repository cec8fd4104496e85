package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

const (
	watchLock   = "watch"
	memoryLimit = 1 << 20 // bytes
)

// LockWatch takes the right to watch the project, for as long as the caller lives or until release.
// Errors: Conflict, naming the holder.
func (s *Store) LockWatch(now time.Time) (release func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.tryLock(watchLock, Holder{PID: os.Getpid(), Verb: "watch", Since: now}, func(by string) error {
		return agent.Errorf(agent.Conflict, "the project is watched already: %s", by)
	})
}

// memories is the folder of what the watches of all projects remember, a file a project. It is
// outside of them: who is told what is not for an agent to write.
func (s *Store) memories() private.Tree { return s.inHome("watch") }

// RecallWatch reads what the watch of the project has to remember; nothing before the first.
func (s *Store) RecallWatch(into any) error {
	name := s.ProjectHash() + ".json"
	data, err := s.memories().Read(name, memoryLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		path := s.memories().Path(name)
		return agent.Errorf(agent.BadInput, "read %s: %w", path, err).
			Hint("without it a watch repairs and tells some things once more: rm %s", agent.ShellWord(path))
	}
	return nil
}

// RememberWatch replaces what the watch has to remember. A power cut may lose it.
func (s *Store) RememberWatch(memory any) error {
	if err := s.memories().HandOver(s.ProjectHash()+".json", memory, memoryLimit); err != nil {
		return fmt.Errorf("remember what was done: %w", err)
	}
	return nil
}
