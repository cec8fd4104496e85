package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/restart"
)

func newSessionCmd(f *ui.Factory) *cobra.Command {
	o, lastScreen := &ui.Selection{}, false
	cmd := &cobra.Command{
		Use:   "session {<handle>... | @GROUP... | --all}",
		Short: "Show an agent's record and its observed state",
		Long: ui.WithCodes(`Shows the record of an agent and what is observed: its state and since when, the process, the
tmux session, context, cost, transcript, and any drift between the record and what runs. For an
agent that waits for a person it shows the question and the choices. For one that does not run
it shows the cause, its last output and the command to run next. session changes nothing.

--last-screen prints the screen that the last start left, with control characters made
harmless. In --json they are not: do not print that to a terminal.

More: nbs-worker help states.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Partial, fail.Interrupted),
		Example: `  nbs-worker session theologian
  nbs-worker session theologian --json | jq '.[0].context.left_percent'
  nbs-worker session theologian --last-screen`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lastScreen {
				return runLastScreen(f, o, args)
			}
			return runSession(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "all agents of the project")
	cmd.Flags().BoolVar(&lastScreen, "last-screen", false, "print the screen that the last start left")
	f.WithJSON(cmd)
	cmd.MarkFlagsMutuallyExclusive("last-screen", "json")
	cmd.MarkFlagsMutuallyExclusive("last-screen", "all")
	return cmd
}

func runSession(ctx context.Context, f *ui.Factory, o *ui.Selection) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "session")
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "session")
	}
	handles, err := o.Resolve(ctx, s, func(inspect.Row) bool { return true })
	if err != nil {
		return ui.Failed(err, "session")
	}
	f.NotePause(s)
	judge := attention.NewJudge(s.Project, bands)
	first := true
	const inOrder = 1 // at a time
	return f.Each(ctx, "session", handles, o.Several(), inOrder, func(handle agent.Handle) (ui.Outcome, error) {
		view, err := s.Inspector.Inspect(ctx, handle)
		if err != nil {
			return ui.Outcome{}, err
		}
		shown := ui.Outcome{JSON: wire.NewSession(view, f.CommandsOf(view, bands), judge), Print: func() error { return printView(f, view, judge) }}
		if !f.JSON && !first {
			fmt.Fprintln(f.Streams.Out)
		}
		first = false
		return shown, view.Err
	})
}

func printView(f *ui.Factory, v inspect.View, judge *attention.Judge) error {
	return f.PrintLines(viewLines(f, v, judge), f.Streams.Width)
}

func viewLines(f *ui.Factory, v inspect.View, judge *attention.Judge) []ui.Line {
	r, bands := v.Record, judge.Bands
	lines := []ui.Line{
		{"Handle", string(r.Handle)},
		{"State", stateLine(v.Status)},
	}
	if v.Job != nil {
		lines = append(lines, ui.Line{"Slurm job", wire.NewJob(v.Job).Words()})
	}
	if need := judge.Of(&v.Sight, v.Context); need != nil {
		lines = append(lines, ui.Line{"Needs you", needLine(need, judge.Now)})
	}
	if v.Asked != nil {
		lines = append(lines, ui.Line{"Asks", v.Asked.Text}, ui.Line{"Choices", strings.Join(v.Asked.Choices, "\n")})
	}
	lines = append(lines, []ui.Line{
		{"Desired", string(r.LaunchDesired())},
		{"Session ID", string(r.SessionID)},
		{"Model", modelLine(&v)},
		{"Permissions", string(r.LaunchPermissionMode())},
		{"Restart", restartLine(f, &r)},
		{"PID", pidLine(v)},
		{"Tmux", tmuxLine(v)},
		{"Uptime", uptimeLine(v.Status)},
		{"Started", f.When(r.Started)},
		{"First start", f.When(r.Created)},
		{"Context", contextLine(f, v.Context, bands)},
		{"Cost", costLine(v.Cost)},
		{"Transcript", transcriptLine(f, v)},
		{"Kept", keptLine(v)},
		{"Folder", folderLine(v)},
		{"Last exit", exitLine(f, r)},
	}...)
	if v.Record.Budget != "" {
		lines = append(lines, ui.Line{"Budget", budgetLine(f, &v)})
	}
	lines = append(lines, handedLines(f, &v.Report)...)
	if v.Unsaved != "" {
		lines = append(lines, ui.Line{"Not saved", "its turns are being lost: " + v.Unsaved})
	}
	lines = append(lines, allowedLines(&v)...)
	if r.LaunchPermissionMode() != agent.BypassPermissions {
		lines = append(lines, ui.Line{"Answers", f.Pasteable(answersLine(&v))})
	}
	if r.Memory {
		lines = append(lines, ui.Line{"Memory", f.Pasteable("on: nbs-worker memory list --handle " + string(r.Handle))})
	}
	lines = append(lines, ui.CarriedLines(&r)...)
	lines = append(lines, launcherLines(f, &v)...)
	if v.LastError != nil {
		lines = append(lines, ui.Line{"Last error", errorLine(f, v.LastError)})
	}
	lines = append(lines, besideLines(f, &v)...)
	for _, next := range ui.Advice(v, bands) {
		lines = append(lines, ui.Line{"Next", f.Pasteable(next.String())})
	}
	return lines
}

// launcherLines says which launcher leads an agent, if that is not one of this program.
func launcherLines(f *ui.Factory, v *inspect.View) []ui.Line {
	p := v.Record.Process
	if p != nil && p.Adopted != nil {
		return []ui.Line{{"Adopted", f.When(p.Adopted.At) + "; it has no launcher until its next start"}}
	}
	if other := p.OtherLauncher(f.Release()); other != "" && v.Status.SamePID {
		return []ui.Line{{"Launcher", "of " + other + "; its next start uses " + f.Release()}}
	}
	return nil
}

// besideLines formats earlier conversations, other claudes of this one, and what is not as recorded.
func besideLines(f *ui.Factory, v *inspect.View) (lines []ui.Line) {
	for _, previous := range v.Record.PreviousSessions {
		lines = append(lines, ui.Line{"Previous", fmt.Sprintf("%s until %s (%s)", previous.SessionID, f.When(previous.Until), human.Word(previous.Reason))})
	}
	for _, other := range v.Strangers {
		lines = append(lines, ui.Line{"Other claude", fmt.Sprintf("pid %d in %s has the conversation open", other.PID, human.Quote(other.Cwd))})
	}
	for _, d := range v.Drift {
		lines = append(lines, ui.Line{"Drift", fmt.Sprintf("%s: recorded %s, live %s", d.Field, human.Quote(d.Recorded), human.Quote(d.Live))})
	}
	return lines
}

// needLine formats why the agent needs a person: "waits for 3m12s".
func needLine(need *attention.Need, now time.Time) string {
	text := string(need.Reason)
	if !need.Since.IsZero() {
		text += " for " + max(0, now.Sub(need.Since)).Truncate(time.Second).String()
	}
	if need.Seen {
		text += "; you have looked since"
	}
	return text
}

// allowedLines says that nothing may be started from the record, if that is so.
func allowedLines(v *inspect.View) []ui.Line {
	switch {
	case v.IsNotAllowed():
		return []ui.Line{{"Allowed", "no: " + v.NotAllowed.Error()}}
	case v.NotAllowed != nil:
		return []ui.Line{{"Allowed", "unknown: " + v.NotAllowed.Error()}}
	}
	return nil
}

// answersLine formats whether commands can answer what the agent asks, from its next start on.
func answersLine(v *inspect.View) string {
	switch {
	case v.Record.NoAnswers:
		return "off: what it asks is answered in its terminal"
	case v.HooksOff != "":
		return "off: its Claude runs no hooks: " + human.Legible(v.HooksOff)
	}
	return "on: nbs-worker requests " + string(v.Record.Handle)
}

// modelLine formats the recorded model and the running one.
func modelLine(v *inspect.View) string {
	line := ui.ModelName(v.Record.Model)
	if runs := v.Model; runs != "" && runs != v.Record.Model {
		line += "; it runs " + string(runs)
	}
	return line
}

// stateLine formats the state, its age and its source: "idle for 3m12s, says Claude's registry".
func stateLine(s agent.Status) string {
	words := s.Word()
	if s.Retry != nil {
		words += fmt.Sprintf(": attempt %d of %d in %s", s.Retry.Attempt, s.Retry.Of, s.Retry.In)
	}
	if s.Detail != "" && !strings.Contains(words, s.Detail) {
		words += " (" + s.Detail + ")"
	}
	switch {
	case s.Age == nil || s.Source == agent.FromScreen || s.Down(): // the exit line has the time
	case *s.Age < time.Second:
		words += " just now"
	default:
		words += " for " + s.Age.Truncate(time.Second).String()
	}
	return words + ", says " + sources[s.Source]
}

// restartLine formats the restart policy and its memory.
func restartLine(f *ui.Factory, r *agent.Record) string {
	text, kept := string(r.LaunchRestart()), r.Restarts
	if n := len(kept.Counted); n > 0 {
		text += fmt.Sprintf("; it failed %d of %d times, the last time %s", n, restart.Limit, f.When(kept.Counted[n-1]))
	}
	if hold := kept.Hold; hold != nil {
		text += fmt.Sprintf("; held %s (%s): %s", f.When(hold.Since), hold.Class, hold.Reason)
	}
	return text
}

// sources names the sources of an agent's state.
var sources = map[string]string{
	agent.FromRegistry: "Claude's registry", agent.FromHooks: "claude's hooks", agent.FromScreen: "its screen",
	agent.FromProcess: "its process", agent.FromRecord: "its record",
}

func transcriptLine(f *ui.Factory, v inspect.View) string {
	switch {
	case v.Transcript != nil:
		size := human.Bytes(uint64(v.Transcript.Size)) //nolint:gosec // a size is not negative
		return fmt.Sprintf("%s, %s, written %s", v.Transcript.Path, size, f.When(v.Transcript.Modified))
	case !v.Record.TranscriptSeen.IsZero():
		return "gone; last seen " + f.When(v.Record.TranscriptSeen)
	default:
		return "none yet: claude writes it with the first prompt"
	}
}

func exitLine(f *ui.Factory, r agent.Record) string {
	exit := r.LastExit()
	if exit == nil {
		return "none recorded"
	}
	text := fmt.Sprintf("found %s, %s", f.When(exit.At), exit.Summary())
	if exit.Seen() {
		text = fmt.Sprintf("%s, %s, after %s", f.When(exit.At), exit.Summary(), time.Duration(exit.UptimeS)*time.Second)
	}
	if exit.LastScreen != "" {
		text += "; its last output:\n" + lastLines(f, exit.LastScreen, 6)
	}
	return text
}

// errorLine formats the error that ended the last turn.
func errorLine(f *ui.Factory, last *inspect.LastError) string {
	text := fmt.Sprintf("%s, %s", f.When(last.At), last.Class)
	if last.Text != "" {
		text += ": " + last.Text
	}
	return text
}

// lastLines returns the last n lines of a screen that are not blank, cut to the terminal's width: a screen and its
// rulers may be wider.
func lastLines(f *ui.Factory, screen string, n int) string {
	var lines []string
	for l := range strings.Lines(screen) {
		if l = strings.TrimRight(l, " \n"); l != "" {
			if f.Streams.Width > ui.ValueIndent {
				l = human.Cut(l, f.Streams.Width-ui.ValueIndent, human.Letter)
			}
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
