package conversations

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/fail"
)

// ErrReplaced is in the error of Begin for a request that was replaced after it was read.
var ErrReplaced = errors.New("the request was replaced")

// Replace changes the text of an open turn of which no attempt has begun: its writer has edited it. The new request
// is written beside the old one, and counts with the line that names it. done is false if an attempt has begun. Errors:
// NotFound when the turn is not open; [fs.ErrNotExist].
func (c *Conversation) Replace(ctx context.Context, id, text string) (done bool, err error) {
	var old string
	err = c.change(ctx, func(s *State) (*Line, error) {
		turn := s.withID(id)
		switch {
		case turn == nil:
			return nil, fail.Errorf(fail.NotFound, "the turn is not open")
		case len(turn.Starts) > 0:
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		done = true
		request, err := c.requestOf(turn)
		if err != nil || request.Text == text {
			return nil, err
		}
		request.Text = text
		old = pendingFile(c.hash, turn.Seq, turn.Edits)
		line := &Line{What: Replaced, At: time.Now().UTC(), Seq: turn.Seq, SHA: request.sum()}
		return line, c.write(pendingFolder, pendingFile(c.hash, turn.Seq, turn.Edits+1), request)
	})
	if err == nil && old != "" { // what stays here is removed by checkRoom
		_ = c.nbs.Remove(pendingFolder + "/" + old)
	}
	return done && err == nil, err
}
