package tmux

import (
	"errors"

	"nbs-worker/internal/agent"
)

// How much a client may print, in bytes: a line for each of 100,000 panes, and a complaint.
const (
	outputLimit    = 16 << 20
	complaintLimit = 64 << 10
)

var errFlood = errors.New("more than tmux prints")

// bounded keeps what a client prints, up to a bound; a program that prints for ever is
// not tmux.
type bounded struct {
	text     []byte
	limit    int
	overflow func()
	over     bool
}

func (b *bounded) Write(text []byte) (int, error) {
	if len(b.text)+len(text) > b.limit {
		b.over = true
		b.overflow()
		return 0, errFlood
	}
	b.text = append(b.text, text...)
	return len(text), nil
}

// flood is what is said of a client that printed too much.
func (c *Client) flood() error {
	return agent.Errorf(agent.Unfit, "tmux printed without end and was ended").
		Hint("is it tmux at all? %s -V", c.binary)
}
