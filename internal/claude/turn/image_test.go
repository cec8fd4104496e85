package turn

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/sim/rig"
)

func picture(t *testing.T, width, height int) Image {
	t.Helper()
	var data bytes.Buffer
	rig.Must(t, png.Encode(&data, image.NewRGBA(image.Rect(0, 0, width, height))))
	return Image{Type: "image/png", Data: data.Bytes()}
}

// A picture reaches the API as one, and its turn is found in the transcript, also after a kill in the middle of it.
// Claude makes a large picture smaller, and says so behind the user's text.
func TestAPictureIsSentWithAText(t *testing.T) {
	s := eachVersion(t)
	spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", Settings: Settings(claude.Closed{}, true)}
	s.context(1)
	p := s.start(spec)
	o, err := p.Turn(rig.Patient(t), TextID(invocationOf(1), 1), "/what is this?", nil, picture(t, 40, 30), picture(t, 3000, 20))
	rig.Must(t, err)
	rig.Check(t, o.Class == Answered && o.Answer == "You said: /what is this?", "%+v %s", o, p.stderr.String())
	s.close(p)
	rig.Same(t, "the turn", Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: o.Answer}}, s.marked(spec.SessionID, 1))
	var sent []string
	for _, r := range s.api.Requests() {
		var asked struct {
			Messages []struct{ Content json.RawMessage }
		}
		if r.Method != "POST" || r.Side || json.Unmarshal(r.Body, &asked) != nil {
			continue
		}
		for _, m := range asked.Messages {
			var blocks []saidBlock
			if json.Unmarshal(m.Content, &blocks) != nil {
				continue
			}
			for _, b := range blocks {
				switch {
				case b.Type == "image":
					sent = append(sent, b.Source.Media)
				case strings.TrimSpace(b.Text) == "what is this?":
					sent = append(sent, "text")
				}
			}
		}
	}
	rig.Check(t, strings.Join(sent, " ") == "image/png image/png text", "the API got %q", sent)

	spec.Opening = cmdline.OpenResume
	s.context(2)
	p = s.start(spec)
	ended := make(chan Outcome, 1)
	go func() {
		o, _ := p.Turn(t.Context(), TextID(invocationOf(2), 2), "And this? [[delay 1h]]", nil, picture(t, 41, 31))
		ended <- o
	}()
	rig.WaitFor(t, "the text is in the transcript", func() (bool, string) { return s.marked(spec.SessionID, 2).Found, p.stderr.String() })
	rig.Must(t, p.cmd.Process.Kill())
	<-ended
	rig.Same(t, "after the kill", Mark{Marked: transcript.Marked{Found: true}}, s.marked(spec.SessionID, 2))
	file, _, err := s.config().Transcript(spec.SessionID)
	rig.Must(t, err)
	byID, err := file.Marked("another marker", TextID(invocationOf(1), 1))
	rig.Check(t, err == nil && byID.Answered, "by the id of its text: %+v, %v", byID, err)
}
