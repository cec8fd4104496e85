package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/history"
	"nbs-worker/internal/team/supervisor"
)

type eventsOptions struct {
	history.EventQuery
	past
	verify bool
}

// past is how much of the past to print, in events and logs.
type past struct {
	last  int
	since string
}

func (p *past) bind(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.IntVarP(&p.last, "last", "n", 0, "only this many "+what+" from the end (default: all)")
	flags.StringVar(&p.since, "since", "", "only "+what+" since then: 90m, 2h, 7d, or a time such as 2026-02-20T11:44:07Z")
}

func (p *past) parse(cmd *cobra.Command, now time.Time) (last int, since time.Time, err error) {
	if cmd.Flags().Changed("last") && p.last < 1 {
		return 0, since, fail.Errorf(fail.BadInput, "%s: --last %d: it must be 1 or more", cmd.Name(), p.last).Hint("nbs-worker %s --last 20", cmd.Name())
	}
	if since, err = parseSince(p.since, now); err != nil {
		return 0, since, fail.Errorf(fail.BadInput, "%s: --since: %w", cmd.Name(), err).Hint("nbs-worker %s --since 2h", cmd.Name())
	}
	return p.last, since, nil
}

func newEventsCmd(f *factory) *cobra.Command {
	var opts eventsOptions
	cmd := &cobra.Command{
		Use:   "events [<handle>...]",
		Short: "Show the journal: what was done to whom",
		Long: withCodes(`Prints one line per event, oldest first: time, event, handle, pid, session id, detail. In a
pipe, separated by tabs, times in RFC 3339, "-" for what is not known. The journal keeps the
events and session ids of agents that were dismissed.

--follow goes on with new events. It ends with 130 when it is interrupted, and with 2 when
the project's .nbs is removed or moved away. --since 0s leaves out past events.

The lines of .nbs/journal.jsonl are a chain: "prev" in each line is the SHA-256 of the line
before it. A file in the user's state folder, where no project and no agent writes, says
where the chain ends. --verify checks the chain. It ends with 1 at the first line that was
altered, removed, inserted, moved or cut off, or where the chain was made anew, and names
file and line. It also reports a line that a full disk or a power cut left torn; such a line
does no harm.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker events
  nbs-worker events theologian gatekeeper --since 2h
  nbs-worker events -n 20
  nbs-worker events --follow --since 0s --json | jq -r 'select(.event == "exit") | .handle'
  nbs-worker events --verify`,
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.Handles = handlesOf(args); len(args) == 0 {
				return nil
			}
			return someHandles(cmd, args)
		},
		ValidArgsFunction: f.handlesWhere(anybody),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if opts.Last, opts.Since, err = opts.parse(cmd, time.Now()); err != nil {
				return err
			}
			return runEvents(cmd.Context(), f, opts)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.Follow, "follow", "f", false, "go on with new events")
	opts.bind(cmd, "events")
	flags.BoolVar(&opts.verify, "verify", false, "check that the journal was not altered")
	for _, other := range []string{"follow", "last", "since"} {
		cmd.MarkFlagsMutuallyExclusive("verify", other)
	}
	return f.withJSON(cmd)
}

func runEvents(ctx context.Context, f *factory, opts eventsOptions) error {
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "events")
	}
	if opts.verify && len(opts.Handles) > 0 {
		return fail.Errorf(fail.BadInput, "events: --verify is for the whole journal").Hint("nbs-worker events --verify")
	}
	if opts.verify {
		return failed(f.verifyEvents(s), "events --verify")
	}
	return looked(history.Events(ctx, s.Store, opts.EventQuery, f.printEvent, f.sayNote), "events")
}

// parseSince reads a time, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is neither a duration, as 90m, 2h or 7d, nor a time, as 2026-02-20T11:44:07Z", human.Quote(text))
	}
	return at, nil
}

func (f *factory) printEvent(e journal.Event) error {
	if f.json {
		return f.printJSON(wire.NewEvent(e))
	}
	pid := ""
	if e.PID > 0 {
		pid = strconv.Itoa(e.PID)
	}
	fields := agent.Mapped([]string{e.Event, string(e.Handle), pid, string(e.SessionID), e.Detail}, func(field string) string { return oneLine(text(field).text) })
	if f.streams.OutTTY && f.streams.Width > 0 && f.streams.Width < eventWidth {
		return f.printNarrowEvent(e.At, fields)
	}
	var err error
	if f.streams.OutTTY {
		_, err = fmt.Fprintf(f.streams.Out, "%s  %s  %-16s %7s  %-36s  %s\n", e.At.Local().Format(time.DateTime), f.coloured(eventColours[e.Event], fmt.Sprintf("%-8s", fields[0])),
			fields[1], fields[2], fields[3], fields[4])
	} else {
		_, err = fmt.Fprintf(f.streams.Out, "%s\t%s\n", e.At.UTC().Format(time.RFC3339), strings.Join(fields, "\t"))
	}
	return err
}

const eventWidth = 160 // columns, of a line with all fields of an event

// printNarrowEvent prints an event on a terminal that is too narrow for one line: process and session follow below.
func (f *factory) printNarrowEvent(at time.Time, fields []string) error {
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
	shown := strings.TrimPrefix(hanging(name+"  "+what, indent, f.streams.Width), name)
	text := at.Local().Format(time.DateTime) + "  " + f.coloured(eventColours[fields[0]], name) + shown + "\n"
	if len(of) > 0 {
		text += strings.Repeat(" ", indent) + f.coloured(dim, strings.Join(of, ", ")) + "\n"
	}
	_, err := io.WriteString(f.streams.Out, text)
	return err
}

var eventColours = map[string]string{
	"failed": red, "start": green, "spawn": green, "resume": green, "exit": yellow, "stop": yellow, "dismiss": yellow,
}

func (f *factory) verifyEvents(s *supervisor.Supervisor) error {
	v, err := s.Store.Journal().Verify()
	if err != nil {
		return err
	}
	switch {
	case f.json:
		err = f.printJSON(wire.NewVerification(v))
	case v.Broken == nil:
		err = f.printVerified(v)
	}
	if err != nil || v.Broken == nil {
		return err
	}
	return fail.Errorf(fail.Failed, "%w", v.Broken).
		Hint("to keep it as it is and begin a new journal: mv %[1]s %[2]s; rm -f %[3]s", shellQuote(v.Broken.File),
			shellQuote(v.Broken.File+".broken"), shellQuote(v.Head))
}

func (f *factory) printVerified(v journal.Verification) error {
	words := []string{human.Count(v.Links, "event") + ", as they were written"}
	for _, line := range v.Torn {
		words = append(words, fmt.Sprintf("line %d is no event: it was cut short by a full disk, a kill or a power cut", line))
	}
	if v.NoHead && v.Lines > 0 {
		words = append(words, "where the chain ends is not known until the next event: lines cut off at the end would not be missed")
	}
	_, err := fmt.Fprintln(f.streams.Out, strings.Join(words, "\n"))
	return err
}
