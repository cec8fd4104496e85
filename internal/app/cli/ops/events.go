package ops

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/history"
	"nbs-worker/internal/team/supervisor"
)

type eventsOptions struct {
	history.EventQuery
	ui.Past
	selection ui.Selection
	verify    bool
}

func newEventsCmd(f *ui.Factory) *cobra.Command {
	var opts eventsOptions
	cmd := &cobra.Command{
		Use:   "events [<handle>... | @GROUP...]",
		Short: "Show the journal: what was done to which agent",
		Long: ui.WithCodes(`Prints the journal, one line per event, oldest first: time, event, handle, pid, session id,
detail. In a pipe the fields are separated by tabs, times are in RFC 3339, and "-" means unknown.
The journal keeps the events and session ids of dismissed agents. --follow waits for new events,
until it is interrupted, its reader leaves, or the project's .nbs is gone; --since 0s skips past
ones.

--verify checks that the journal was not altered. Each line of .nbs/journal.jsonl holds the
SHA-256 of the line before it, and the end of this chain is also stored in your state folder,
where no agent writes. If a line was changed, removed, inserted, moved or cut off, --verify names
the line at which the chain is broken, and ends with 1. Lines that a full disk or a power cut
left incomplete do no harm; they are reported.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker events
  nbs-worker events theologian gatekeeper --since 2h
  nbs-worker events -n 20
  nbs-worker events --follow --json | jq 'select(.event=="exit")'
  nbs-worker events --verify`,
		Args:              opts.selection.Optional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if opts.Last, opts.Since, err = opts.Parse(cmd, time.Now()); err != nil {
				return err
			}
			return runEvents(cmd.Context(), f, opts)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.Follow, "follow", "f", false, "wait for new events")
	opts.Bind(cmd, "events")
	flags.BoolVar(&opts.verify, "verify", false, "check that the journal was not altered")
	for _, other := range []string{"follow", "last", "since"} {
		cmd.MarkFlagsMutuallyExclusive("verify", other)
	}
	return f.WithJSON(cmd)
}

func runEvents(ctx context.Context, f *ui.Factory, opts eventsOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "events")
	}
	if opts.Handles, err = opts.selection.Named(s); err != nil {
		return ui.Failed(err, "events")
	}
	if opts.verify && len(opts.Handles) > 0 {
		return fail.Errorf(fail.BadInput, "events: --verify checks the whole journal and takes no handles").Hint("nbs-worker events --verify")
	}
	if opts.verify {
		return ui.Failed(verifyEvents(f, s), "events --verify")
	}
	if opts.Follow {
		ctx = f.Streams.WhileRead(ctx)
	}
	return ui.Looked(history.Events(ctx, s.Project.Store, opts.EventQuery, func(e journal.Event) error { return printEvent(f, e) }, f.SayNote), "events")
}

func printEvent(f *ui.Factory, e journal.Event) error {
	if f.JSON {
		return f.PrintJSON(wire.NewEvent(e))
	}
	pid := ""
	if e.PID > 0 {
		pid = strconv.Itoa(e.PID)
	}
	fields := agent.Mapped([]string{e.Event, string(e.Handle), pid, string(e.SessionID), e.Detail}, func(field string) string { return ui.OneLine(ui.Text(field).Text) })
	if f.Streams.OutTTY && f.Streams.Width > 0 && f.Streams.Width < eventWidth {
		return printNarrowEvent(f, e.At, fields)
	}
	var err error
	if f.Streams.OutTTY {
		_, err = fmt.Fprintf(f.Streams.Out, "%s  %s  %-16s %7s  %-36s  %s\n", e.At.Local().Format(time.DateTime), f.Coloured(eventColours[e.Event], fmt.Sprintf("%-8s", fields[0])),
			fields[1], fields[2], fields[3], fields[4])
	} else {
		_, err = fmt.Fprintf(f.Streams.Out, "%s\t%s\n", e.At.UTC().Format(time.RFC3339), strings.Join(fields, "\t"))
	}
	return err
}

const eventWidth = 160 // columns, of a line with all fields of an event

// printNarrowEvent prints an event on a terminal that is too narrow for one line: process and session follow below.
func printNarrowEvent(f *ui.Factory, at time.Time, fields []string) error {
	name, handle, pid, session, detail := fmt.Sprintf("%-8s", fields[0]), fields[1], fields[2], fields[3], fields[4]
	const indent = len(time.DateTime) + 2
	what := strings.TrimSuffix(handle+"  "+detail, "  -")
	var of []string
	if pid != "-" {
		of = append(of, "pid "+pid)
	}
	if session != "-" {
		of = append(of, "session "+session)
	}
	shown := strings.TrimPrefix(ui.Hanging(name+"  "+what, indent, f.Streams.Width), name)
	text := at.Local().Format(time.DateTime) + "  " + f.Coloured(eventColours[fields[0]], name) + shown + "\n"
	if len(of) > 0 {
		text += strings.Repeat(" ", indent) + f.Coloured(ui.Dim, strings.Join(of, ", ")) + "\n"
	}
	_, err := io.WriteString(f.Streams.Out, text)
	return err
}

var eventColours = map[string]string{
	"failed": ui.Red, "start": ui.Green, "spawn": ui.Green, "resume": ui.Green, "exit": ui.Yellow, "stop": ui.Yellow, "dismiss": ui.Yellow, "rename": ui.Yellow,
}

func verifyEvents(f *ui.Factory, s *supervisor.Supervisor) error {
	v, err := s.Project.Store.Journal().Verify()
	if err != nil {
		return err
	}
	switch {
	case f.JSON:
		err = f.PrintJSON(wire.NewVerification(v))
	case v.Broken == nil:
		err = printVerified(f, v)
	}
	if err != nil || v.Broken == nil {
		return err
	}
	return fail.Errorf(fail.Failed, "%w", v.Broken).
		Hint("to set it aside and begin a new journal: mv %[1]s %[2]s; rm -f %[3]s", ui.ShellQuote(v.Broken.File),
			ui.ShellQuote(v.Broken.File+".broken"), ui.ShellQuote(v.Head))
}

func printVerified(f *ui.Factory, v journal.Verification) error {
	words := []string{human.Count(v.Links, "event") + ", as they were written"}
	for _, line := range v.Torn {
		words = append(words, fmt.Sprintf("line %d is incomplete, after a full disk, a kill or a power cut", line))
	}
	if v.NoHead && v.Lines > 0 {
		words = append(words, "the end of the chain is unknown until the next event: missing lines at the end would not be noticed")
	}
	_, err := fmt.Fprintln(f.Streams.Out, strings.Join(words, "\n"))
	return err
}
