package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Pane is one pane of the server.
type Pane struct {
	ServerPID  int
	SessionID  string // "$3": never reused while the server lives
	ID         string // "%5"
	PID        int    // of its first process
	Invocation agent.Invocation
	Session    string // name
}

// paneFormat ends with the fields that strangers choose.
const paneFormat = "#{pid}|#{session_id}|#{pane_id}|#{pane_pid}|#{" + invocationOption + "}|#{session_name}"

// Panes lists all panes of the server in one call; none when no server runs.
func (c *Client) Panes(ctx context.Context) ([]Pane, error) {
	out, err := c.run(ctx, "/", "list-panes", "-a", "-F", paneFormat)
	if errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePanes(out), nil
}

// Present is what a server has of us.
type Present struct {
	ServerPID   int                       // of the server that answered; 0: none runs
	Invocations map[agent.Invocation]bool // the starts that have a pane
}

// AskPresent asks what is in the server, in one call, for a quarter less of the server's time
// than [Client.Panes]. The function that it returns waits for the answer, and must be called
// once. It does not wait for the end of the client, which takes a sixth of the time:
// [Servers.Close] does.
func (c *Client) AskPresent(ctx context.Context) (answer func() (Present, error), err error) {
	end := fmt.Sprintf(" end-%d-%d", os.Getpid(), time.Now().UnixNano()) // what nobody's option says
	asked, err := c.ask(ctx, "/", "list-panes", "-a", "-F", "#{"+invocationOption+"}", ";", "display-message", "-p", "#{pid}"+end)
	if err != nil {
		return nil, err
	}
	return func() (Present, error) {
		out, err := asked.answer(ctx, end+"\n")
		if errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession) {
			return Present{}, nil
		}
		if err != nil {
			return Present{}, err
		}
		return parsePresent(strings.TrimSuffix(out, end+"\n")), nil
	}, nil
}

// parsePresent reads a line for each pane, and then the pid of the server.
func parsePresent(out string) Present {
	present := Present{Invocations: make(map[agent.Invocation]bool, strings.Count(out, "\n"))}
	for line := range strings.Lines(out) {
		if invocation, whole := strings.CutSuffix(line, "\n"); whole {
			present.Invocations[agent.Invocation(invocation)] = true
		} else {
			present.ServerPID, _ = strconv.Atoi(line) // 0 is no agent's server
		}
	}
	return present
}

// parsePanes skips what it cannot read: such a line is not of our making.
func parsePanes(out string) []Pane {
	const fields = 6
	var panes []Pane
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", fields)
		if len(f) != fields {
			continue
		}
		server, err1 := strconv.Atoi(f[0])
		pid, err2 := strconv.Atoi(f[3])
		if err1 != nil || err2 != nil {
			continue
		}
		panes = append(panes, Pane{
			ServerPID: server, SessionID: f[1], ID: f[2], PID: pid,
			Invocation: agent.Invocation(f[4]), Session: f[5],
		})
	}
	return panes
}

// Screen is what a pane showed at one moment.
type Screen struct {
	Invocation    agent.Invocation // of the start whose pane it is; "" for a stranger's
	Width, Height int              // in characters
	Text          string           // without colours, lines without the blanks at their ends
}

const screenFormat = "#{pane_width}|#{pane_height}|#{" + invocationOption + "}"

// Screen returns what a pane shows, without colours.
func (c *Client) Screen(ctx context.Context, paneID string) (string, error) {
	return c.run(ctx, "/", "capture-pane", "-p", "-t", paneID)
}

// Look returns what a pane shows, and whose it is, in one call. Errors: [ErrNoSession],
// [ErrNoServer].
func (c *Client) Look(ctx context.Context, paneID string) (Screen, error) {
	out, err := c.run(ctx, "/", "display-message", "-p", "-t", paneID, screenFormat, ";", "capture-pane", "-p", "-t", paneID)
	if err != nil {
		return Screen{}, err
	}
	head, text, _ := strings.Cut(out, "\n")
	screen := Screen{Text: text}
	f := strings.SplitN(head, "|", 3)
	if len(f) != 3 {
		return Screen{}, agent.Errorf(agent.Failed, "tmux: what it said of the pane cannot be read")
	}
	screen.Width, _ = strconv.Atoi(f[0]) // tmux writes numbers, or nothing for a pane that is gone
	screen.Height, _ = strconv.Atoi(f[1])
	screen.Invocation = agent.Invocation(f[2])
	return screen, nil
}
