package store

import (
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// messages holds texts that are too long to be typed. Agents read them there.
const messages = "messages"

// messageAge is the age after which a text is no longer read.
const messageAge = 30 * 24 * time.Hour

// PutMessage leaves a text for an agent, durably, and returns its file.
func (s *Store) PutMessage(text string, now time.Time) (path string, err error) {
	name := uuid.NewString() + ".md"
	if err := s.nbs.Write(messages, name, []byte(text+"\n")); err != nil {
		return "", err
	}
	s.nbs.Sweep(messages, now, func(_ string, age time.Duration) bool { return age > messageAge })
	return s.Message(name), nil
}

// Message returns the path of the file of a name that a text was written to.
func (s *Store) Message(name string) string { return filepath.Join(s.project, folder, messages, name) }

// DropMessage removes a text that was not sent to any agent.
func (s *Store) DropMessage(path string) error {
	return s.nbs.Remove(messages + "/" + filepath.Base(path))
}
