package dash

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nbs-worker/internal/sim/rig"
)

// watched is a source that notes whether the user was there when it was asked for a screen.
type watched struct {
	Source

	wasThere bool
}

func (w *watched) Screen(_ context.Context, _ Who, isThere bool) (string, error) {
	w.wasThere = isThere
	return "its terminal", nil
}

func (w *watched) Select(Who) {}

// A preview that stays open while the user is away is no look at what the agent does meanwhile. Their next key is.
func TestAPreviewIsSeenByWhoIsThere(t *testing.T) {
	t.Parallel()
	source := &watched{}
	s := &shell{ctx: t.Context(), source: source, model: screenOf(team())}
	_, cmd := s.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	s.Update(cmd())
	rig.Check(t, source.wasThere, "a key is no look")

	s.touched = time.Now().Add(-time.Hour)
	s.Update(s.heard(outdated{})())
	rig.Check(t, !source.wasThere, "a screen that is shown to no one counts as a look")

	_, cmd = s.Update(tea.KeyPressMsg{Code: '?', Text: "?"})
	s.Update(cmd())
	rig.Check(t, source.wasThere, "the first key after a while is no look at what is shown")
}

// A preview that is being read is read once more after that, however often it was asked for meanwhile.
func TestAPreviewIsReadOnceAtATime(t *testing.T) {
	t.Parallel()
	s := &shell{ctx: t.Context(), source: &watched{}, model: screenOf(team())}
	_, first := s.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	for range 3 {
		rig.Check(t, s.heard(outdated{}) == nil, "it is read twice at a time")
	}
	_, second := s.Update(first())
	rig.Check(t, second != nil, "what has changed meanwhile is not read")
	said, is := second().(shown)
	rig.Check(t, is && said.text == "its terminal", "%+v", said)
	s.Update(said)
	rig.Check(t, len(s.peeks) == 0, "%+v", s.peeks)
}
