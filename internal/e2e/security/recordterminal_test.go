package security

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Text that others chose, in whatever we print: it steers no terminal, hides nothing
// and does not pass for a line of ours. In JSON it is escaped, and whole.

// steering finds a character that makes a terminal do something, but for line breaks
// and tabs.
func steering(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// evil is a text that takes over a terminal which shows it as it is: title, clear,
// 8-bit sequences, overwriting, reversed order.
const evil = "evil\x1b]0;owned\x07\x1b[2J\u009b31m\u009d0;x\u009c\r\x08\x7f\u202egnp.\u2066\u200f\u061c"

// evilLines also pretends to be output of ours.
const evilLines = evil + "\nhint: rm -rf ~\nnbs-worker: all is well\nState:           idle"

// hostileRecord has evil text wherever a record takes text.
func (m *team) hostileRecord(handle string) {
	m.Helper()
	m.SetRecord(handle, func(fields map[string]any) {
		fields["initial_prompt"], fields["claude_version"] = evilLines, evilLines
		fields["claude_args"], fields["env"] = []string{"--name", evilLines}, map[string]any{"A": evilLines}
		fields[evil] = evilLines
		fields["previous_sessions"] = []any{map[string]any{"session_id": fields["session_id"], "reason": evilLines, "until": fields["started"]}}
		exits := fields["exits"].([]any)
		exit := exits[len(exits)-1].(map[string]any)
		exit["signal"], exit["error"], exit["last_screen"] = evilLines, evilLines, strings.Repeat(evilLines+"\n", 3)
		e2e.Process(fields)["host"] = evilLines
	})
}

func TestHostileRecordIsShownHarmlessly(t *testing.T) {
	m := standIn(t)
	folder := m.Folder(strings.ReplaceAll(evil, "\r", ""))
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Root}})
	m.OK("spawn", "alpha", "--cwd", folder)
	m.OK("stop", "alpha")
	m.hostileRecord("alpha")
	m.showsHarmlessly("session", "alpha")
	m.showsHarmlessly("list")
	m.showsHarmlessly("resume", "alpha", "--dry-run")
	m.SetRecord("alpha", func(fields map[string]any) { delete(fields, "exits"); e2e.Process(fields)["boot_id"] = evilLines })
	m.showsHarmlessly("session", "alpha")
	m.showsHarmlessly("resume", "alpha")
	m.mustKeepInJSON(folder)
}

// mustKeepInJSON checks that a program gets the text as it is.
func (m *team) mustKeepInJSON(folder string) {
	m.Helper()
	var s struct {
		Cwd              string
		InitialPrompt    string                    `json:"initial_prompt"`
		PreviousSessions []struct{ Reason string } `json:"previous_sessions"`
	}
	out := m.OK("session", "alpha", "--json")
	m.Must(e2e.One(out, &s))
	m.Check(!steering(out) && s.Cwd == folder && s.InitialPrompt == evilLines && s.PreviousSessions[0].Reason == evilLines, "%q\n%+v", out, s)
	list := m.OK("list", "--json")
	m.Check(!steering(list) && strings.Count(list, "\n") == 1, "list: %q", list)
}

// showsHarmlessly runs a command in a pipe and on a terminal.
func (m *team) showsHarmlessly(args ...string) {
	m.Helper()
	r := m.NBS(args...)
	m.mustBeHarmless(fmt.Sprintf("%q in a pipe, stdout", args), r.Stdout)
	m.mustBeHarmless(fmt.Sprintf("%q in a pipe, stderr", args), r.Stderr)
	c := m.Console(m.Command(args, "NO_COLOR=1"))
	_ = c.Cmd.Wait() // some of them are to fail
	<-c.Done
	m.mustBeHarmless(fmt.Sprintf("%q on a terminal", args), strings.ReplaceAll(c.Seen.String(), "\r\n", "\n"))
}

func (m *team) mustBeHarmless(what, out string) {
	m.Helper()
	m.Check(!steering(out), "%s steers the terminal: %q", what, out)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "hint: rm") || strings.HasPrefix(line, "nbs-worker: all") || strings.HasPrefix(line, "State:           idle") {
			m.Errorf("%s: a line of somebody else's looks like ours: %q", what, line)
		}
	}
}

// What a live claude says of itself is in Claude's registry.
func TestHostileRegistryIsShownHarmlessly(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	s := m.Session("alpha")
	entry := filepath.Join(m.World.ConfigDir, "sessions", fmt.Sprintf("%d.json", s.RecordedPID))
	var fields map[string]any
	text, err := os.ReadFile(entry)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	m.Must(err)
	fields["status"], fields["waitingFor"], fields["cwd"], fields["version"] = "waiting", evilLines, evilLines, evilLines
	fields["sessionId"] = evilLines
	if text, err = json.Marshal(fields); err == nil {
		err = os.WriteFile(entry, text, 0o600)
	}
	m.Must(err)
	m.showsHarmlessly("session", "alpha")
	m.showsHarmlessly("list")
	m.showsHarmlessly("resume", "alpha")
	// And an id that is none does not become the record's.
	m.OK("stop", "alpha")
	after := m.Session("alpha")
	m.Check(after.SessionID == s.SessionID && len(after.PreviousSessions) == 0, "%+v", after)
}

// The last words of a claude that leaves at once are shown.
func TestHostileLastWordsAreShownHarmlessly(t *testing.T) {
	m := standIn(t)
	words := filepath.Join(m.World.Root, "words")
	m.Must(os.WriteFile(words, []byte(evilLines+"\n"), 0o600))
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script("cat "+words+"; exit 1"))
	m.showsHarmlessly("spawn", "alpha")
	m.showsHarmlessly("session", "alpha")
	m.showsHarmlessly("resume", "alpha")
}

// Whoever holds a lock signs it, and the loser is shown the signature of one of ours.
func TestHostileHolderOfALockIsShownHarmlessly(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	id := m.Session("alpha").SessionID
	m.OK("stop", "alpha")
	holder, err := json.Marshal(map[string]any{"pid": 1, "verb": evilLines, "handle": evilLines, "since": "2026-02-20T11:44:07Z"})
	m.Must(err)
	for _, name := range []string{"alpha.verb", id + ".lease"} {
		lock, err := os.OpenFile(m.InNbs("locks", name), os.O_RDWR|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = lock.Write(holder)
		}
		if err == nil {
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		}
		m.Must(err)
		m.showsHarmlessly("resume", "alpha")
		m.Refused(5, "the lock does not name its holder", "resume", "alpha")
		_ = lock.Close()
	}
	m.OK("resume", "alpha")
}
