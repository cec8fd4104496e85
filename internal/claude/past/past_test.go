package past

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/sim/rig"
)

// script writes a transcript: each line is the second at which it was said, who said what, and the id of its record.
type script struct {
	dir   string
	lines []string
	ids   int
}

func newScript(t *testing.T) *script { t.Helper(); return &script{dir: t.TempDir()} }

func (s *script) say(second int, form string, args ...any) (uuid string) {
	s.ids++
	uuid = fmt.Sprintf("r%d", s.ids)
	at := time.Date(2026, 2, 20, 11, 0, second, 0, time.UTC).Format(time.RFC3339)
	s.lines = append(s.lines, fmt.Sprintf(`{"uuid":%q,"timestamp":%q,`, uuid, at)+fmt.Sprintf(form, args...)+"}\n")
	return uuid
}

const (
	prompt = `"type":"user","message":{"role":"user","content":%q}`
	reply  = `"type":"assistant","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":%q}]}`
	uses   = `"type":"assistant","message":{"model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","name":"Bash","input":{"command":%q}}]}`
	result = `"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%q}]}`
	failed = `"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","message":{"model":"<synthetic>","content":[{"type":"text","text":%q}]}`
	copied = `"forkedFrom":{"sessionId":"old"},`
)

func (s *script) file(t *testing.T) transcript.File {
	t.Helper()
	path := filepath.Join(s.dir, "t.jsonl")
	rig.Must(t, os.WriteFile(path, []byte(strings.Join(s.lines, "")), 0o600))
	return transcript.At(path)
}

func (s *script) behind(t *testing.T, after string, final bool) Past {
	t.Helper()
	p, err := Behind(s.file(t), after, final)
	rig.Must(t, err)
	return p
}

// told is what the turns say, for comparison.
func told(p Past) string {
	var all []string
	for _, turn := range p.Turns {
		words := []string{fmt.Sprintf("%d:", turn.Number)}
		for _, m := range turn.Said {
			words = append(words, string(m.Speaker)+"="+m.Text)
		}
		all = append(all, strings.Join(words, " "))
	}
	if p.Rest {
		all = append(all, "rest")
	}
	return strings.Join(all, " | ")
}

func TestTurns(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.say(1, prompt, "one")
	s.say(2, uses, "ls")
	s.say(3, result, "a")
	first := s.say(4, reply, "done")
	rig.Equal(t, told(s.behind(t, "", false)), `1: you=one tool={"command":"ls"} tool=a agent=done`, "turns")
	s.say(5, `"type":"system","subtype":"turn_duration"`)
	second := s.say(6, prompt, "two")
	rig.Equal(t, told(s.behind(t, first, false)), "rest", "a turn that is not over")
	rig.Equal(t, told(s.behind(t, first, true)), "2: you=two", "the same, of a conversation that was left")
	s.say(7, reply, "yes")
	p := s.behind(t, first, false)
	rig.Equal(t, told(p), "2: you=two agent=yes", "behind the first")
	rig.Check(t, p.First == "one" && p.Turns[0].Last == "r7" && second != "", "%+v", p)
	lost := s.behind(t, "gone", false)
	rig.Check(t, lost.Lost && len(lost.Turns) == 2, "%+v", lost)
	rig.Equal(t, told(s.behind(t, p.Turns[0].Last, false)), "", "behind the last")
}

func TestTurnsOfAllKinds(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		write func(*script)
		want  string
	}{
		"answered before it was asked": {func(s *script) {
			s.say(2, reply, "yes")
			s.say(1, prompt, "one")
			s.say(3, `"type":"system","subtype":"turn_duration"`)
		}, "1: you=one agent=yes"},
		"two prompts in one turn": {func(s *script) { s.say(1, prompt, "one"); s.say(2, prompt, "two"); s.say(3, reply, "yes") }, "1: you=one you=two agent=yes"},
		"killed, then asked again": {func(s *script) {
			s.say(1, prompt, "one")
			s.say(2, uses, "ls")
			s.say(3, prompt, "two")
			s.say(4, reply, "yes")
		}, `1: you=one tool={"command":"ls"} | 2: you=two agent=yes`},
		"interrupted": {func(s *script) {
			s.say(1, prompt, "one")
			s.say(2, uses, "ls")
			s.say(3, prompt, "[Request interrupted by user]")
		}, `1: you=one tool={"command":"ls"} you=[Request interrupted by user]`},
		"failed": {func(s *script) {
			s.say(1, prompt, "one")
			s.say(2, failed, "API Error")
			s.say(3, prompt, "two")
			s.say(4, reply, "yes")
		}, "1: you=one agent=API Error | 2: you=two agent=yes"},
		"copied by a branch": {func(s *script) {
			s.say(1, copied+prompt, "one")
			s.say(2, copied+reply, "yes")
			s.say(3, prompt, "two")
			s.say(4, reply, "no")
		}, "1: you=two agent=no"},
		"two claudes at once": {func(s *script) {
			s.say(1, prompt, "one")
			s.say(4, reply, "of one")
			s.say(2, prompt, "two")
			s.say(3, reply, "of two")
		}, "1: you=one you=two agent=of two agent=of one"},
		"compacted": {func(s *script) {
			s.say(1, prompt, "one")
			s.say(2, reply, "yes")
			s.say(3, `"type":"system","subtype":"compact_boundary"`)
			s.say(3, `"type":"user","isCompactSummary":true,"message":{"role":"user","content":"a summary"}`)
			s.say(4, prompt, "two")
			s.say(5, reply, "no")
		}, "1: you=one agent=yes | 2: you=two agent=no"},
	} {
		s := newScript(t)
		c.write(s)
		rig.Equal(t, told(s.behind(t, "", false)), c.want, "%s", what)
	}
}

// A turn that failed and nothing else has nothing to observe.
func TestWorked(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.say(1, prompt, "one")
	s.say(2, failed, "API Error")
	p := s.behind(t, "", false)
	rig.Check(t, len(p.Turns) == 1 && !p.Turns[0].Worked(), "%+v", p)
}

// What a subagent says is told with the turn in which it was said, once.
func TestSubagents(t *testing.T) {
	t.Parallel()
	s, of := newScript(t), newScript(t)
	s.say(1, prompt, "one")
	first := s.say(10, reply, "yes")
	s.say(20, prompt, "two")
	s.say(30, reply, "no")
	of.say(2, prompt, "look")
	of.say(3, reply, "looked")
	of.say(15, reply, "in the background")
	of.say(40, reply, "later")
	path := s.file(t).Subagents()
	rig.Must(t, os.MkdirAll(path, 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(path, "agent-1.jsonl"), []byte(strings.Join(of.lines, "")), 0o600))
	rig.Equal(t, told(s.behind(t, "", false)), "1: you=one you=look agent=looked agent=yes | 2: agent=in the background you=two agent=no", "turns")
	rig.Equal(t, told(s.behind(t, first, false)), "2: agent=in the background you=two agent=no", "behind the first")
}

// Without a file nothing was said yet.
func TestNoTranscript(t *testing.T) {
	t.Parallel()
	p, err := Behind(transcript.At(filepath.Join(t.TempDir(), string(agent.NewSessionID())+".jsonl")), "", false)
	rig.Check(t, err == nil && len(p.Turns) == 0 && !p.Rest, "%+v, %v", p, err)
}
