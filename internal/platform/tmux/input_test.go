package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A text reaches the program as it is: tmux evaluates none of it, and a line feed presses no Enter.
func TestWriteIsExact(t *testing.T) {
	s := newServer(t)
	out := filepath.Join(t.TempDir(), "out")
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell("stty raw -echo; exec cat >" + out)})
	text := "one; #(touch PWN) #{pane_id} $HOME `id`\n-x \\ ü 漢 'q' \"d\" ;\r"
	rig.Eventually(t, "cat reads", func() bool { _, err := os.Stat(out); return err == nil })
	if written, err := s.Write(t.Context(), pane, text, nil); !written || err != nil {
		t.Fatalf("%t, %v", written, err)
	}
	rig.Eventually(t, "the text is there", func() bool {
		got, _ := os.ReadFile(out)
		return string(got) == text
	})
	buffers := s.raw("list-buffers")
	rig.Check(t, buffers == "", "it stays in tmux: %s", buffers)
}

// A paste into a pane whose process has ended would end tmux 3.3a, and with it every agent.
func TestWriteReachesOnlyWhatReads(t *testing.T) {
	s := newServer(t)
	keep := s.open(Spec{Name: "nbs-b-live", Command: shell(stay)})
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell("cat")})
	var cursor *Cursor
	refused := func(what string, pane Pane) {
		t.Helper()
		written, err := s.Write(t.Context(), pane, "x", cursor)
		rig.Check(t, !written && (err == nil || fail.KindOf(err) != fail.TimedOut), "%s: written %t, %v", what, written, err)
	}
	shown, err := s.Styled(t.Context(), pane.ID)
	rig.Must(t, err)
	cursor = &Cursor{X: shown.Cursor.X + 1, Y: shown.Cursor.Y}
	refused("somebody has typed in it", pane)
	if written, err := s.Write(t.Context(), pane, "y", &shown.Cursor); !written || err != nil || shown.InMode {
		t.Errorf("where the cursor is: %t, %v, in a mode: %t", written, err, shown.InMode)
	}
	cursor = nil
	other := pane
	other.PID = keep.PID
	refused("another process leads it", other)
	s.raw("copy-mode", "-t", pane.ID)
	refused("a person looks back in it", pane)
	shown, err = s.Styled(t.Context(), pane.ID)
	rig.Check(t, err == nil && shown.InMode, "where a person looks back: %v, %+v", err, shown)
	s.raw("send-keys", "-t", pane.ID, "-X", "cancel")
	s.raw("set-option", "-t", pane.ID, "-w", "remain-on-exit", "on")
	s.raw("send-keys", "-t", pane.ID, "Enter", "C-d")
	rig.Eventually(t, "it is dead", func() bool {
		return strings.TrimSpace(s.raw("display-message", "-p", "-t", pane.ID, "#{pane_dead}")) == "1"
	})
	refused("it has ended", pane)
	s.raw("kill-pane", "-t", pane.ID)
	refused("it is gone", pane)
	buffers := s.raw("list-buffers")
	rig.Check(t, !strings.Contains(buffers, "x"), "what was not written stays in tmux: %s", buffers)
}

// An answer that tells nothing is no proof that nothing was typed: the text would be typed again.
func TestWriteWithoutAnAnswer(t *testing.T) {
	for said, want := range map[string]bool{"": false, "echo written": true, "echo unwritten": false} {
		reached, err := clientOf(t, "cat >/dev/null\n"+said).Write(t.Context(), Pane{ID: "%0"}, "text", nil)
		rig.Check(t, reached == want && (err != nil) == (said == ""), "%q: %t, %v", said, reached, err)
	}
}
