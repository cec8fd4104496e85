package turn

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// A command of the project runs, and is found in the transcript after a kill like any text. One that claude does not
// have reaches neither the model nor the transcript.
func TestCommands(t *testing.T) {
	s := eachVersion(t)
	folder := filepath.Join(s.world.Project, ".claude", "commands")
	rig.Must(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "daily.md"), []byte("Say what is new: $ARGUMENTS\n"), 0o600)))
	id, invocation := newID(), uuid.NewString()
	unknown := s.start(Spec{SessionID: id, Opening: cmdline.OpenNew, Model: "sonnet"})
	o, err := unknown.Command(rig.Patient(t), TextID(invocation, 1), "/weekly now", nil)
	rig.Check(t, err == nil && o.Class == UnknownCommand && o.Detail == "Claude has no command /weekly here", "%+v, %v", o, err)
	s.close(unknown)
	p := s.start(Spec{SessionID: id, Opening: cmdline.OpenNew, Model: "sonnet"})
	s.turn(p, "Remember 42.")
	o, err = p.Command(rig.Patient(t), uuid.NewString(), "/weekly", nil) // after which it goes on
	rig.Check(t, err == nil && o.Class == UnknownCommand, "%+v, %v", o, err)
	o, err = p.Command(rig.Patient(t), TextID(invocation, 2), "/daily now", nil)
	rig.Check(t, err == nil && o.Class == Answered && o.Answer == "You said: Say what is new: now", "%+v, %v", o, err)
	s.close(p)
	file, _, err := s.config().Transcript(id)
	rig.Must(t, err)
	mark, err := Marked(file, invocation, 2)
	rig.Check(t, err == nil && mark.Answer == o.Answer, "%+v, %v", mark, err)
	asked := slices.DeleteFunc(s.api.Requests(), func(r api.Request) bool { return r.Side || r.Method != "POST" })
	rig.Equal(t, len(asked), 2, "requests")
}

// A claude whose hook has refused a text takes the next one.
func TestARefusedTextHarmsNoClaude(t *testing.T) {
	s := eachVersion(t)
	const hooks = `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"if grep -q secret; then echo no secrets >&2; exit 2; fi"}]}]}}`
	p := s.start(Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", Settings: hooks})
	s.turn(p, "Remember 42.")
	o, _ := s.turn(p, "a secret")
	rig.Equal(t, o.Class, Blocked, "a text with a secret")
	o, _ = s.turn(p, "What number?")
	rig.Equal(t, o.Answer, "42", "the next answer")
	s.close(p)
}
