package conversation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// enriched asks for the enrichment, with memories that say what they were asked for.
func enriching(s *stage) {
	s.Memories = func(_ context.Context, of conversations.Key, text string, from, until time.Time) (fitting, noted []string, err error) {
		fitting = []string{"- fits " + text + " of " + string(of)}
		if !from.IsZero() {
			noted = []string{"- noted from " + from.Format(time.DateTime) + " to " + until.Format(time.DateTime)}
		}
		return fitting, noted, nil
	}
}

func enrich(r *conversations.Request) { r.Enrich = true }

// Claude gets the time with its zone, the project, what fits the text, and once in a session what was noted yesterday.
func TestATurnIsEnriched(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	enriching(s)
	s.now = time.Date(2026, 3, 29, 12, 30, 0, 0, time.Local)
	got := s.mustAsk("one", enrich, func(r *conversations.Request) { r.ContextCmd = "/usr/bin/env" })
	s.mustAsk("two", enrich)
	s.mustAsk("three")
	rig.Equal(t, got.Notice, "", "notice")
	for text, times := range map[string]int{
		"It is " + s.now.Format("Monday, 2 January 2006, 15:04 MST") + " (UTC" + s.now.Format("-07:00") + "). The project is ": 2,
		", in " + s.Project.Store.Project() + ".":                      2,
		"- fits one of review":                                         1,
		"- fits two of review":                                         1,
		"- noted from 2026-03-28 00:00:00 to 2026-03-29 00:00:00":      1,
		"NBS_CONVERSATION=review":                                      1,
		"Notes of yesterday's turns. A small model wrote them":         1,
		"Notes of earlier turns that may fit this text. A small model": 2,
	} {
		rig.Equal(t, s.contexts(got, text), times, "contexts with %q", text)
	}
	s.mustHear("one", "two", "three")
}

// What cannot be had is left out without a word: memories that fail, or are too many.
func TestEnrichmentFailsNoTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Memories = func(context.Context, conversations.Key, string, time.Time, time.Time) (fitting, noted []string, err error) {
		return nil, nil, errors.New("the memory is damaged")
	}
	got := s.mustAsk("one", enrich)
	rig.Check(t, got.Notice == "" && s.contexts(got, "The project is ") == 1 && s.contexts(got, "Notes of") == 0, "%+v", got)
	s.Memories = func(context.Context, conversations.Key, string, time.Time, time.Time) (fitting, noted []string, err error) {
		return []string{"- first", "- " + strings.Repeat("x", memoriesLimit), "- third"}, nil, nil
	}
	s.mustAsk("two", enrich)
	rig.Check(t, s.contexts(got, "- first") == 1 && s.contexts(got, "xxx") == 0, "%s", storetest.Read(t, s.Transcript(got.SessionID)))
	s.Memories = nil
	rig.Equal(t, s.mustAsk("three", enrich).Notice, "", "notice")
}

// All of it together stays within the limit: what a chat was told comes first.
func TestEnrichmentIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = strings.Repeat("n", 100)
	}
	s.Memories = func(context.Context, conversations.Key, string, time.Time, time.Time) (fitting, noted []string, err error) {
		return lines, lines, nil
	}
	s.mustTell(strings.Repeat("t", 1<<20))
	_, err := s.ask("one", enrich, func(r *conversations.Request) { r.ContextCmd = "/bin/cat" }, func(r *conversations.Request) { r.Context = strings.Repeat("c", 1<<10) })
	rig.Must(t, err)
	state := s.state()
	j := &job{Engine: s.Engine, c: s.Project.Store.Conversations().Of("review"), state: &state, turn: &conversations.Turn{}, mode: conversations.New,
		ask: conversations.Request{Enrich: true, Context: strings.Repeat("c", 1<<10)}}
	state.Told = []conversations.Told{{Number: 1, Text: strings.Repeat("t", 8<<10)}}
	text := j.beside(t.Context())
	rig.Check(t, len(text) <= contextLimit && strings.Contains(text, "Notes of yesterday") && strings.Contains(text, "ttt"), "%d bytes: %.300q", len(text), text)
}
