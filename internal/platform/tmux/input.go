package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"nbs-worker/internal/fail"
)

// Cursor is the position of the cursor in a pane, in characters from the upper left.
type Cursor struct{ X, Y int }

// Styled is what a pane shows, with the attributes of its characters as escape sequences.
type Styled struct {
	Text          string
	Width, Height int
	Cursor        Cursor
	InMode        bool // keys go to tmux itself: a person scrolls back, or chooses something there
}

// Styled returns what a pane shows, with the attributes of its characters.
func (c *Client) Styled(ctx context.Context, paneID string) (Styled, error) {
	out, err := c.run(ctx, "/", "display-message", "-p", "-t", paneID, "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{?pane_in_mode,true,false}", ";",
		"capture-pane", "-p", "-e", "-t", paneID)
	if err != nil {
		return Styled{}, err
	}
	var shown Styled
	head, text, _ := strings.Cut(out, "\n")
	if _, err := fmt.Sscan(head, &shown.Width, &shown.Height, &shown.Cursor.X, &shown.Cursor.Y, &shown.InMode); err != nil {
		return Styled{}, fmt.Errorf("read what tmux says about a pane: %w", err)
	}
	shown.Text = text
	return shown, nil
}

// What tmux prints when it has given a text to a pane, and when it has not. An answer without either tells nothing.
const (
	written   = "written"
	unwritten = "unwritten"
)

// Write pastes a text into a pane's program as if it had been typed, and reports whether it did. It does not if
// another process leads the pane by now, if the leader has ended (a paste crashes tmux 3.3a then), if the pane is in
// copy mode, or if the cursor is not at the given place. tmux itself checks this, so nothing can change in between.
// The text is on no command line, and tmux evaluates none of it. A line feed stays one, and presses no Enter. Panes
// that a person has synchronized with this one do not get the text.
func (c *Client) Write(ctx context.Context, pane Pane, text string, cursor *Cursor) (bool, error) {
	same := func(format string, value int) string { return "#{==:#{" + format + "}," + strconv.Itoa(value) + "}" }
	reached := "#{&&:" + same("pane_pid", pane.PID) + ",#{&&:#{?pane_dead,0,1},#{?pane_in_mode,0,1}}}"
	if cursor != nil {
		reached = "#{&&:" + reached + ",#{&&:" + same("cursor_x", cursor.X) + "," + same("cursor_y", cursor.Y) + "}}"
	}
	buffer := "nbs-" + uuid.NewString()
	paste := "paste-buffer -r -d -b " + buffer + " -t " + pane.ID + " ; display-message -p " + written
	fed := *c
	fed.stdin = text
	out, err := fed.run(ctx, "/", "load-buffer", "-b", buffer, "-", ";",
		"if-shell", "-F", "-t", pane.ID, reached, paste, "delete-buffer -b "+buffer+" ; display-message -p "+unwritten)
	said := strings.TrimSpace(out)
	if err == nil && said != written && said != unwritten {
		err = fail.Errorf(fail.Failed, "tmux did not report whether it typed the text")
	}
	if err != nil { // tmux has stopped before it used the buffer, or was silent
		_, _ = c.run(ctx, "/", "delete-buffer", "-b", buffer)
	}
	return said == written, err
}
