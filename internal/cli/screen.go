package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

func newScreenCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "screen <handle>",
		Short: "Print what is on an agent's screen",
		Long: withCodes(`Prints what the agent's terminal shows now, as plain text. What would steer a
terminal is shown as a question mark. With --json also its size and what the screen
says of the agent: state, dialog, attempt and wait of a retry, or why its last turn
came to nothing. A dialog's words alone are no dialog; a screen that does not tell
is "unknown". For the state itself ask session: Claude's registry knows it better.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Unfit, agent.Interrupted),
		Example: `  nbs-worker screen theologian
  nbs-worker screen theologian | tail -20
  nbs-worker screen theologian --json | jq -r .reading.dialog`,
		Args:              oneHandle,
		ValidArgsFunction: f.completeHandles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return failed(runScreen(cmd.Context(), f, agent.Handle(args[0])), "screen", args[0])
		},
	}
	f.jsonFlag(cmd)
	return cmd
}

func runScreen(ctx context.Context, f *factory, handle agent.Handle) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	shot, err := s.Screen(ctx, handle)
	if err != nil {
		return err
	}
	if f.json {
		return f.printJSON(newScreenJSON(handle, shot))
	}
	_, err = io.WriteString(f.streams.Out, sanitize(shot.Text))
	return err
}

type screenJSON struct {
	Handle     agent.Handle `json:"handle"`
	CapturedAt time.Time    `json:"captured_at"`
	Width      int          `json:"width"`
	Height     int          `json:"height"`
	Text       string       `json:"text"`
	Reading    readingJSON  `json:"reading"`
}

type readingJSON struct {
	State   agent.State `json:"state"`
	Dialog  string      `json:"dialog,omitempty"`
	Asks    string      `json:"asks,omitempty"` // what the dialog asks, in words
	Retry   *retryJSON  `json:"retry,omitempty"`
	Trouble string      `json:"trouble,omitempty"`
}

func newScreenJSON(handle agent.Handle, shot supervisor.Shot) screenJSON {
	reading := shot.Reading
	return screenJSON{
		Handle: handle, CapturedAt: shot.At, Width: shot.Width, Height: shot.Height, Text: shot.Text,
		Reading: readingJSON{
			State: reading.State, Dialog: string(reading.Dialog), Asks: reading.Dialog.Question(),
			Retry: newRetryJSON(reading.Retry), Trouble: string(reading.Trouble),
		},
	}
}
