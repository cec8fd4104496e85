package tmux

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Styled returns what a pane shows with the attributes of its characters, as escape sequences.
func (c *Client) Styled(ctx context.Context, paneID string) (string, error) {
	return c.run(ctx, "/", "capture-pane", "-p", "-e", "-t", paneID)
}

// written is what tmux says of a text that it has given to a pane.
const written = "written"

// Write gives a text to a pane's program as if it had been typed, and tells whether it did: not
// where another process leads the pane by now, where that has ended (a paste ends tmux 3.3a
// then), or where keys go to tmux, because a person looks back. tmux itself looks, so that
// nothing can come in between. The text stands on no command line, and tmux evaluates none of it;
// a line feed stays one, and presses no Enter. Panes that a person has tied together get nothing
// of it.
func (c *Client) Write(ctx context.Context, pane Pane, text string) (bool, error) {
	buffer := "nbs-" + uuid.NewString()
	reached := "#{&&:#{==:#{pane_pid}," + strconv.Itoa(pane.PID) + "},#{&&:#{?pane_dead,0,1},#{?pane_in_mode,0,1}}}"
	paste := "paste-buffer -r -d -b " + buffer + " -t " + pane.ID + " ; display-message -p " + written
	fed := *c
	fed.stdin = text
	out, err := fed.run(ctx, "/", "load-buffer", "-b", buffer, "-", ";",
		"if-shell", "-F", "-t", pane.ID, reached, paste, "delete-buffer -b "+buffer)
	return strings.TrimSpace(out) == written, err
}
