package turn

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// After INT the transcript says that the turn was interrupted, so that the model does not go on with it in the next one.
// 2.1.197 exits before it has written that, unless the machine is slow.
func TestAnInterruptedTurnIsSaidToBe(t *testing.T) {
	s := eachVersion(t)
	s.env = append(s.env, EagerFlush+"=1")
	spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet"}
	p := s.start(spec)
	ended := make(chan Outcome, 1)
	go func() {
		o, _ := p.Turn(t.Context(), TextID(invocationOf(1), 1), "Remember 42. [[delay 1h]]", nil)
		ended <- o
	}()
	rig.WaitFor(t, "the text is in the transcript, and the API is asked", func() (bool, string) {
		asked := slices.ContainsFunc(s.api.Requests(), func(r api.Request) bool { return strings.Contains(r.Last(), "Remember 42.") && !r.Side })
		return asked && s.marked(spec.SessionID, 1).Found, p.stderr.String()
	})
	rig.Must(t, p.cmd.Process.Signal(syscall.SIGINT))
	o := <-ended
	<-p.Ended() // by itself
	rig.Check(t, o.Class == Interrupted && o.SessionID == spec.SessionID, "%+v", o)
	file, _, err := s.config().Transcript(spec.SessionID)
	rig.Must(t, err)
	text, err := os.ReadFile(file.Path)
	isSaid := strings.Contains(string(text), "[Request interrupted by user]")
	rig.Check(t, err == nil && (isSaid || rig.Version() == rig.Oldest), "%v, %s", err, text)
	mark := s.marked(spec.SessionID, 1)
	rig.Check(t, mark.Found && !mark.Answered && mark.Stopped == isSaid, "%+v", mark)
}
