package conversation

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// Claude gets the pictures with the text, and beside it the paths of all files and who speaks.
func TestWhatComesWithAText(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c := s.Project.Store.Conversations().Of("review")
	keep := func(name string, shown bool) conversations.File {
		f, err := c.KeepFile("x", 0, conversations.File{Name: name, Type: "image/png", Shown: shown}, []byte("content of "+name))
		rig.Must(t, err)
		return f
	}
	with := func(r *conversations.Request) {
		r.Context = `From "Anna" (@anna).`
		r.Files = []conversations.File{keep("a.png", true), keep("b.png", false)}
	}
	s.mustAsk("hello", with)
	images, contexts := s.Got()
	rig.Same(t, "the pictures", []turn.Image{{Type: "image/png", Data: []byte("content of a.png")}}, images)
	for _, words := range []string{"<nbs-turn ", `From "Anna"`, c.Path() + "/files/", `a.png": image/png, 16 B, sent as "a.png"; you see it in the message`, `sent as "b.png"`} {
		rig.Check(t, strings.Contains(contexts[0], words), "%q is not in the context %q", words, contexts[0])
	}

	got, err := s.ask("again", with, func(r *conversations.Request) { rig.Must(t, os.Remove(c.FilePath(r.Files[0]))) })
	rig.Must(t, err)
	rig.Check(t, strings.Contains(got.Notice, "did not see the picture") && strings.Contains(got.Notice, "it is gone"), "%+v", got)
}

// The text of a turn is replaced until an attempt begins, also when its runner has read the old one.
func TestAnEditOfAWaitingTextIsSent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, _, err := s.Accept(t.Context(), "review", Say{Meta: s.meta(), Request: conversations.Request{ID: "a", Text: "one", At: s.now}})
	rig.Must(t, err)
	edit := func(text string) bool {
		done, err := s.Replace(t.Context(), "review", "a", text)
		rig.Must(t, err)
		return done
	}
	rig.Check(t, edit("two"), "it waits")
	start := s.Engine.Start
	s.Engine.Start = func(l turn.Launch) (headless.Process, error) {
		rig.Check(t, !edit("four"), "it has begun")
		return start(l)
	}
	state := s.state()
	read := state.Open[0]
	rig.Check(t, edit("three"), "it still waits")
	job := &job{Engine: s.Engine, c: s.Project.Store.Conversations().Of("review"), state: &state, turn: &read, ask: conversations.Request{ID: "a", Text: "two"}, text: "two"}
	rig.Must(t, job.speak(t.Context()))
	rig.Equal(t, len(s.Texts()), 0, "the old text was sent")
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer == "re: three", "%+v, %v", got, err)
}
