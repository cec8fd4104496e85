package store

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// All that the store reads may have been written by somebody else, or by half.

// newFuzzStore is one store for all inputs of a fuzz target: making one takes longer
// than an input.
func newFuzzStore(f *testing.F) *Store {
	f.Helper()
	s, err := own(Create(storetest.MemoryProject(f)))
	rig.Must(f, err)
	f.Cleanup(func() { _ = s.Close() })
	rig.Must(f, s.prepare())
	return s
}

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
	s := newFuzzStore(f)
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

// A launch is taken whole, by its own invocation, and is then gone; any other file is
// refused.
func FuzzTakeLaunch(f *testing.F) {
	for _, text := range []string{
		`{"invocation":"i","claude":"/bin/claude","env":"QT1iAEI9Yw==","prompt":"hello"}`, `{"invocation":"i","env":""}`, `{"invocation":"i"}`,
		`{"invocation":"i","env":null}`, `{"invocation":"i","env":["A=b"]}`, `{"invocation":"other"}`, "{", "null", "",
	} {
		f.Add([]byte(text))
	}
	s := newFuzzStore(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		putIn(t, s.launches(), "alice.i.json", data)
		launch, err := s.TakeLaunch("alice", "i")
		_, gone := os.Stat(s.launches().Path("alice.i.json"))
		rig.Check(t, (err == nil) == (gone != nil) && (err != nil || launch.Invocation == "i"), "TakeLaunch = %+v, %v; the file: %v", launch, err, gone)
		rig.Check(t, !slices.Contains(launch.Env, "") || len(launch.Env) != 1, "an empty environment has an entry: %q", launch.Env)
	})
}

// Any environment that the kernel can hold arrives as it was.
func FuzzEnviron(f *testing.F) {
	f.Add("A=b", "B=\xff\xfe")
	f.Add("", "")
	f.Add("A", "=\n")
	f.Fuzz(func(t *testing.T, one, two string) {
		if strings.Contains(one+two, "\x00") {
			return
		}
		for _, env := range []Environ{nil, {one}, {one, two}, {two, "", one}} {
			data, err := env.MarshalJSON()
			rig.Must(t, err)
			var got Environ
			err = got.UnmarshalJSON(data)
			rig.Check(t, err == nil && (slices.Equal(got, env) || strings.Join(env, "") == ""), "%q arrives as %q: %v", env, got, err)
		}
	})
}

// Whatever stands in a lock file, the lock is a conflict, in one harmless line.
func FuzzLockHolder(f *testing.F) {
	for _, text := range []string{
		`{"pid":7,"verb":"resume","handle":"alice","since":"2026-02-20T11:44:07Z"}`, `{"pid":-1,"verb":"\u001b]0;x\u0007","handle":"a\nb"}`,
		`{"verb":"resume"}`, `{"pid":`, "null", "",
	} {
		f.Add([]byte(text))
	}
	s := newFuzzStore(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s.put(t, "locks/alice.verb", data)
		holder, err := s.readHolder("alice.verb")
		if err != nil {
			return
		}
		text := holder.String()
		rig.Check(t, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) && len(text) <= 300 && holder.PID > 0, "the holder is %q", text)
	})
}
