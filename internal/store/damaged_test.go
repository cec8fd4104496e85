package store

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestDamagedRecordIsALoudError(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"empty":              "",
		"one line break":     "\n",
		"cut short":          legacy[:len(legacy)/2],
		"one line of it":     strings.SplitAfter(legacy, "\n")[0],
		"zeros":              strings.Repeat("\x00", 1024),
		"null":               "null",
		"array":              "[]",
		"text":               "theologian",
		"two records":        legacy + legacy,
		"too large":          `{"x":"` + strings.Repeat("x", fileLimit) + `"}`,
		"deep":               strings.Repeat("[", 100_000),
		"of another agent":   strings.Replace(legacy, `"theologian"`, `"somebody"`, 1),
		"without handle":     strings.Replace(legacy, `"handle":"theologian",`, "", 1),
		"tampered id":        strings.Replace(legacy, "abc12345-", "$(rm x)-", 1),
		"tampered model":     strings.Replace(legacy, `"opus"`, `"--dangerously"`, 1),
		"tampered root":      strings.Replace(legacy, "/home/user/project", "..", 1),
		"pid as text":        strings.Replace(legacy, "12345,", `"12345",`, 1),
		"newline in a field": strings.Replace(legacy, "/home/user", `/home/\n/user`, 1),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			file := path(s, "sessions", "theologian.json")
			storetest.Write(t, file, text)
			noteSession(t, s, "somebody", "00000000-0000-4000-8000-000000000000")
			noteSession(t, s, "theologian", otherID)
			noteSession(t, s, "Theologian", aliceID)
			noteSession(t, s, "theologians", otherID)
			loaded, damage := s.Load("theologian")
			wantDamage(t, damage, file)
			rig.Check(t, reflect.DeepEqual(loaded, agent.Record{}), "something is left of it: %+v", loaded)
			storetest.WantHint(t, damage, "nbs-worker spawn theologian --session-id "+string(aliceID))
			_, err := s.Update(t.Context(), "theologian", func(*agent.Record) error { return nil })
			wantDamage(t, err, file)
			storetest.WantText(t, file, text)
		})
	}
}

func noteSession(t *testing.T, s *Store, handle agent.Handle, id agent.SessionID) {
	t.Helper()
	rig.Must(t, s.journal.Append(t.Context(), noted(handle, id)))
}

// wantDamage checks that an error names the damaged file and a remedy.
func wantDamage(t *testing.T, err error, file string) {
	t.Helper()
	storetest.WantKind(t, "damaged", err, fail.BadInput)
	if err == nil {
		return
	}
	rig.Check(t, strings.Contains(err.Error(), "is damaged") && len(err.Error()) <= 1000 && !strings.ContainsAny(err.Error(), "\x00\n"), "the message is %q", err)
	storetest.WantHint(t, err, "mv '"+file+"' '"+file+".damaged'")
}

func TestDamagedRecordThatIsNoFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, os.Mkdir(path(s, "sessions", "alice.json"), 0o700))
	_, err := s.Load("alice")
	wantDamage(t, err, path(s, "sessions", "alice.json"))
	for _, hint := range fail.HintsOf(err) {
		rig.Check(t, !strings.Contains(hint, "--session-id"), "a session id that nobody knows is offered: %s", hint)
	}
}

// What kept a file from being read passes, and must not lead to a whole record being moved aside.
func TestRecordThatCannotBeReadIsNotDamaged(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	rig.Must(t, os.Rename(path(s, "sessions"), path(s, "aside")))
	storetest.Write(t, path(s, "sessions"), "")
	_, err := s.Load("alice")
	storetest.WantKind(t, "load", err, fail.Failed)
	rig.Check(t, errors.Is(err, syscall.ENOTDIR) && strings.HasPrefix(err.Error(), "read the record ") && fail.HintsOf(err) == nil, "%v, %q", err, fail.HintsOf(err))
}

// A record of a newer program is whole, whatever its fields look like by then.
func TestNewerRecordIsNeitherReadNorWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Replace(legacy, "{", `{"schema":2,`, 1),
		`{"schema":99,"handle":{"first":"theologian"},"pid":"none"}`,
	} {
		s := newStore(t)
		file := path(s, "sessions", "theologian.json")
		storetest.Write(t, file, text)
		_, err := s.Load("theologian")
		storetest.WantKind(t, "load", err, fail.Unfit)
		_, err = s.Update(t.Context(), "theologian", func(*agent.Record) error { return nil })
		storetest.WantKind(t, "update", err, fail.Unfit)
		storetest.WantKind(t, "insert", s.Insert(t.Context(), record("theologian")), fail.Conflict)
		storetest.WantHint(t, err, "newer nbs-worker")
		rig.Check(t, !strings.Contains(strings.Join(fail.HintsOf(err), " "), "mv "), "the hint is %q", fail.HintsOf(err))
		storetest.WantText(t, file, text)
	}
}

func TestHandleSpelledByHandInAnotherCase(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	storetest.Write(t, path(s, "sessions", "Theologian.json"), legacy)
	if _, err := s.Update(t.Context(), "theologian", func(r *agent.Record) error { r.PID = 7; return nil }); err != nil {
		t.Fatal(err)
	}
	handles, _ := s.Handles()
	rig.Check(t, len(handles) == 1 && handles[0] == "Theologian", "on disk are %v; want one record, under its name", handles)
	r, err := s.Load("THEOLOGIAN")
	rig.Check(t, err == nil && r.PID == 7, "Load = %+v, %v; want what was written", r, err)
}

// Wherever a record was cut, it is damaged and says how to get the agent back.
func TestRecordCutShortAtEveryByte(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	noteSession(t, s, "alice", aliceID)
	file := path(s, "sessions", "alice.json")
	for _, whole := range []string{storetest.Read(t, file), strings.ReplaceAll(legacy, "theologian", "alice")} {
		end := len(strings.TrimRight(whole, "\n"))
		for n := range end {
			storetest.Write(t, file, whole[:n])
			_, err := s.Load("alice")
			wantDamage(t, err, file)
			if t.Failed() {
				t.Fatalf("cut after %d bytes of %d", n, end)
			}
		}
		storetest.Write(t, file, whole[:end])
		_, err := s.Load("alice")
		rig.Check(t, err == nil, "without its last line break: %v", err)
	}
}
