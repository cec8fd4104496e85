package conversations

import (
	"errors"
	"io/fs"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func playRole(role []string) {}

func TestTurnFromItsAcceptanceToItsResult(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	_, err := c.State()
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "%v", err)
	turn := mustEnqueue(t, c, asked("a", "Remember 42."))
	rig.Check(t, turn.Seq == 1, "%+v", turn)
	request, err := c.Request(1)
	rig.Check(t, err == nil && request.Text == "Remember 42.", "%+v, %v", request, err)
	keys, err := d.WithWork()
	rig.Check(t, err == nil && len(keys) == 1 && keys[0] == chat, "%v, %v", keys, err)
	rig.Must(t, c.Begin(t.Context(), start(1)))
	s := mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.AliceID, false} && s.Open[0].Tries == 1, "%+v", s)
	rig.Must(t, c.Confirm(t.Context(), storetest.AliceID))
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
	s = mustState(t, c)
	rig.Check(t, s.Session == Session{storetest.AliceID, true} && len(s.Open) == 0 && s.Answered == 1 && s.Next == 2, "%+v", s)
	result, there, err := c.Result("a")
	rig.Check(t, err == nil && there && result.Answer == "OK.", "%+v, %v, %v", result, there, err)
	keys, err = d.WithWork()
	rig.Check(t, err == nil && len(keys) == 0, "%v, %v", keys, err)
	keys, err = d.Keys()
	rig.Check(t, err == nil && len(keys) == 1 && keys[0] == chat, "%v, %v", keys, err)
}
