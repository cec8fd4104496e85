package store

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// put writes a file of .nbs as somebody else would.
func (s *Store) put(t *testing.T, name string, data []byte) {
	t.Helper()
	rig.Must(t, os.WriteFile(path(s, name), data, 0o600))
}

// A record is read and valid, or refused with a remedy; reading changes nothing.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		legacy, legacy[:99], "", "null", `{"schema":2}`, `{"schema":1e3,"handle":[]}`, `{"SCHEMA":7,"handle":"theologian"}`,
		strings.Replace(legacy, "theologian", "THEOLOGIAN", 1), strings.Replace(legacy, "{", `{"process":{"invocation":"x","tmux":{"path":"x"}},`, 1),
	} {
		f.Add([]byte(text))
	}
	s, err := own(Create(storetest.MemoryProject(f))) // one for all inputs: making one takes longer than an input
	rig.Must(f, err)
	f.Cleanup(func() { _ = s.Close() })
	rig.Must(f, s.prepare())
	f.Fuzz(func(t *testing.T, data []byte) {
		s.put(t, "sessions/theologian.json", data)
		r, err := s.Load("theologian")
		switch {
		case err == nil:
			invalid := r.Validate()
			rig.Check(t, invalid == nil && r.Handle == "theologian", "an invalid record was read: %+v: %v", r, invalid)
			id, err := agent.ParseSessionID(string(r.SessionID))
			rig.Check(t, err == nil && id == r.SessionID, "session id %q: %v", r.SessionID, err)
		case fail.KindOf(err) == fail.BadInput:
			wantDamage(t, err, path(s, "sessions/theologian.json"))
		case fail.KindOf(err) != fail.Unfit || len(fail.HintsOf(err)) != 1:
			t.Errorf("%v, hints %q", err, fail.HintsOf(err))
		}
		after, err := os.ReadFile(path(s, "sessions/theologian.json"))
		rig.Check(t, err == nil && bytes.Equal(after, data), "reading has changed it: %q, %v", after, err)
	})
}
