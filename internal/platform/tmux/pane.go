package tmux

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Pane is one pane of the server.
type Pane struct {
	ServerPID  int
	SessionID  string           // "$3": never reused while the server lives
	ID         string           // "%5"
	PID        int              // of its first process
	Invocation agent.Invocation // of the start that the pane was made for; "" for a person's
	Attached   int              // clients that show its session
	Window     int              // its window's index in the session
	Active     bool             // its window is the one that the session shows
	Session    string           // name
	Touched    time.Time        // when a client last attached to its session or sent it a key, in whole seconds

	SessionInvocation agent.Invocation // of the last start that the session was used for
	SessionOwner      string           // the agent that the session was made for, as [Spec.Owner]; ""
}

// paneFormat ends with the field whose content others choose: it may contain the separator.
const paneFormat = "#{pid}|#{session_id}|#{pane_id}|#{pane_pid}|#{session_attached}|#{window_index}|#{window_active}|#{session_activity}|#{" +
	paneOption + "}|#{" + invocationOption + "}|#{" + ownerOption + "}|#{session_name}"

// Panes lists all panes of the server in one call. The list is empty if no server runs.
func (c *Client) Panes(ctx context.Context) ([]Pane, error) {
	listing, err := c.AskPanes(ctx, "")()
	return listing.Panes, err
}

// Listing is the panes of a server, and the screens that were read in the same call, by the ids of their panes.
type Listing struct {
	Panes   []Pane
	Screens map[string]Screen
}

// AskPanes starts a call that lists all panes, and returns a function that waits for the answer, to be called once and
// soon. The same call reads the screen of a session's active pane, unless session is "" or has gone. tmux already runs
// when AskPanes returns. A goroutine that started it would compete with the caller for a processor.
func (c *Client) AskPanes(ctx context.Context, session string) (wait func() (Listing, error)) {
	list := []string{"list-panes", "-a", "-F", paneFormat}
	mark := newScreenMark()
	args := list
	if session != "" {
		args = slices.Concat(list, []string{";"}, mark.read("="+session+":"))
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	answer := c.begin(limited, "/", args...)
	return func() (Listing, error) {
		defer cancel()
		out, err := answer()
		if errors.Is(err, ErrNoSession) && session != "" {
			return c.AskPanes(ctx, "")()
		}
		if errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession) {
			return Listing{}, nil
		}
		if err != nil {
			return Listing{}, err
		}
		panes, _, _ := strings.Cut(out, string(mark))
		listing := Listing{Panes: parsePanes(panes), Screens: map[string]Screen{}}
		return listing, mark.screens(out, listing.Screens)
	}
}

// parsePanes skips lines that it cannot read: this program did not cause them.
func parsePanes(out string) []Pane {
	const fields = 12
	var panes []Pane
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", fields)
		if len(f) != fields {
			continue
		}
		pane := Pane{
			SessionID: f[1], ID: f[2], Invocation: agent.Invocation(f[8]), SessionInvocation: agent.Invocation(f[9]), SessionOwner: f[10], Session: f[11],
			Active: f[6] == "1",
		}
		if touched, err := strconv.ParseInt(f[7], 10, 64); err == nil && touched > 0 {
			pane.Touched = time.Unix(touched, 0)
		}
		unread := false
		for i, into := range map[int]*int{0: &pane.ServerPID, 3: &pane.PID, 4: &pane.Attached, 5: &pane.Window} {
			var err error
			*into, err = strconv.Atoi(f[i])
			unread = unread || err != nil
		}
		if !unread {
			panes = append(panes, pane)
		}
	}
	return panes
}

// Screen is the content of a pane at one moment.
type Screen struct {
	Invocation    agent.Invocation // of the start whose pane it is; "" for a stranger's
	Width, Height int              // in characters
	Text          string           // without colours, lines without the blanks at their ends
}

// Screen returns what a pane shows, without colours.
func (c *Client) Screen(ctx context.Context, paneID string) (string, error) {
	return c.run(ctx, "/", "capture-pane", "-p", "-t", paneID)
}

// screensAtOnce is how many screens are read in one call: tmux accepts 16 kB of words.
const screensAtOnce = 50

// Screens returns the content of panes, by their ids, in one call for fifty of them. It leaves out a pane that is
// gone.
func (c *Client) Screens(ctx context.Context, paneIDs []string) (map[string]Screen, error) {
	all := map[string]Screen{}
	for some := range slices.Chunk(paneIDs, screensAtOnce) {
		err := c.readScreens(ctx, some, all)
		if errors.Is(err, ErrNoSession) && len(some) > 1 { // tmux stops at the first that has gone
			for _, one := range some {
				if err = c.readScreens(ctx, []string{one}, all); err != nil && !errors.Is(err, ErrNoSession) {
					return all, err
				}
			}
			continue
		}
		if err != nil && !errors.Is(err, ErrNoSession) && !errors.Is(err, ErrNoServer) {
			return all, err
		}
	}
	return all, nil
}

func (c *Client) readScreens(ctx context.Context, paneIDs []string, into map[string]Screen) error {
	mark := newScreenMark()
	var args []string
	for i, id := range paneIDs {
		if i > 0 {
			args = append(args, ";")
		}
		args = append(args, mark.read(id)...)
	}
	out, err := c.run(ctx, "/", args...)
	if err != nil {
		return err
	}
	return mark.screens(out, into)
}

// screenMark begins each screen in the output of a call. No screen shows it.
type screenMark string

func newScreenMark() screenMark { return screenMark("screen-" + uuid.NewString() + "|") }

// read returns the commands that print the screen of a pane.
func (mark screenMark) read(target string) []string {
	return []string{
		"display-message", "-p", "-t", target, string(mark) + "#{pane_id}|#{pane_width}|#{pane_height}|#{" + paneOption + "}", ";",
		"capture-pane", "-p", "-t", target,
	}
}

// screens adds the screens that a call has printed.
func (mark screenMark) screens(out string, into map[string]Screen) error {
	for _, part := range strings.Split(out, string(mark))[1:] {
		const fields = 4
		head, text, _ := strings.Cut(part, "\n")
		f := strings.SplitN(head, "|", fields)
		if len(f) != fields {
			return fail.Errorf(fail.Failed, "tmux described a pane in an unknown form")
		}
		screen := Screen{Invocation: agent.Invocation(f[3]), Text: text}
		screen.Width, _ = strconv.Atoi(f[1]) // tmux writes numbers
		screen.Height, _ = strconv.Atoi(f[2])
		into[f[0]] = screen
	}
	return nil
}
