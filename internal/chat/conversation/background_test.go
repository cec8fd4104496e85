package conversation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless/headlesstest"
)

// The files of a turn are gone before its answer is written down: nobody looks for those of a turn that is over.
func TestTheContextOfAnAnsweredTurnIsGoneBeforeClaudeIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	closed := false
	s.OnClose = func(c *headlesstest.Claude) {
		_, err := os.Stat(c.Context)
		rig.Check(t, c.Context != "" && errors.Is(err, fs.ErrNotExist), "%q: %v", c.Context, err)
		closed = true
	}
	_, err := s.ask("hello", func(r *conversations.Request) { r.ContextCmd = "/bin/true" })
	rig.Must(t, err)
	rig.Check(t, closed, "claude was not asked to exit")
}

// Of a long context the beginning is kept, whatever it is written in, and nothing after the gap.
func TestTheBeginningOfALongContextIsKept(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("三", contextLimit)
	out := &limited{limit: contextLimit}
	for _, part := range []string{text, "after the gap"} {
		n, err := out.Write([]byte(part))
		rig.Check(t, n == len(part) && err == nil, "%d of %d bytes were taken, %v", n, len(part), err)
	}
	kept := strings.ToValidUTF8(out.text.String(), "")
	rig.Check(t, out.cut && len(kept) > contextLimit-len("三") && strings.HasPrefix(text, kept), "%d bytes are kept: %.20q...", len(kept), kept)
}

// A program gets the path of a recording, without a shell, and its output is the text; what went wrong is said.
func TestAProgramWritesDownARecording(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	recording := filepath.Join(t.TempDir(), "a $(b); c.ogg")
	rig.Must(t, os.WriteFile(recording, []byte("salt"), 0o600))
	said, err := s.Transcribe(t.Context(), "/bin/cat", recording)
	rig.Check(t, err == nil && said == "salt", "%q, %v", said, err)
	rig.Must(t, os.WriteFile(recording, make([]byte, contextLimit+1), 0o600))
	_, err = s.Transcribe(t.Context(), "/bin/cat", recording)
	rig.Check(t, err != nil && strings.Contains(err.Error(), "it printed more than 16 KiB"), "%v", err)
	_, err = s.Transcribe(t.Context(), "/bin/false", recording)
	rig.Check(t, fail.KindOf(err) == fail.Failed && strings.Contains(err.Error(), `"/bin/false": exit status 1`), "%v", err)
}
