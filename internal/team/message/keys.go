package message

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// checkKey returns an error if the user has given a key another meaning in Claude's prompt: the typed text would stay
// there. Errors: Held.
func (s *Sender) checkKey(r *agent.Record, key string) error {
	config, err := s.project.ConfigOf(r)
	if err != nil {
		return err
	}
	for _, rebound := range config.Rebound(key) {
		return fail.Errorf(fail.Held, "%s gives the key %s another meaning in its prompt, %s; nothing was typed",
			human.Quote(config.KeybindingsFile()), rebound.Key, human.Quote(rebound.Action)).
			Hint("take %s out of the bindings for Chat in that file; claude reads it again by itself", rebound.Key)
	}
	return nil
}
