package turn

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/sim/rig"
)

// After INT the transcript says that the turn was interrupted, so that the model does not go on with it in the next one.
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
	rig.WaitFor(t, "the text is in the transcript", func() (bool, string) { return s.marked(spec.SessionID, 1).Found, p.stderr.String() })
	rig.Must(t, p.cmd.Process.Signal(syscall.SIGINT))
	o := <-ended
	<-p.Ended() // by itself
	rig.Check(t, o.Class == Interrupted && o.SessionID == spec.SessionID, "%+v", o)
	file, _, err := s.config().Transcript(spec.SessionID)
	rig.Must(t, err)
	text, err := os.ReadFile(file.Path)
	rig.Check(t, err == nil && strings.Contains(string(text), "[Request interrupted by user]"), "%v, %s", err, text)
	mark := s.marked(spec.SessionID, 1)
	rig.Check(t, mark.Found && !mark.Answered, "%+v", mark)
}
