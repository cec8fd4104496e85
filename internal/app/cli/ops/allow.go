package ops

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/recovery/runbook"
	"nbs-worker/internal/team/supervisor"
)

type allowOptions struct {
	ui.Selection

	runbook   string
	policy    string
	schedules bool
	team      bool
	file      string // of the team
}

// positional checks the handles. With a flag that names project files there must be no handle.
func (o *allowOptions) positional(cmd *cobra.Command, args []string) error {
	if o.file != "" && !o.team {
		return fail.Errorf(fail.BadInput, "allow: --file belongs to --team")
	}
	given := 0
	for _, flag := range []string{"runbook", "policy", "schedules", "team"} {
		if cmd.Flags().Changed(flag) {
			given++
		}
	}
	if given == 0 {
		return o.Selection.Positional(cmd, args)
	}
	if len(args) > 0 || o.All || given > 1 {
		return fail.Errorf(fail.BadInput, "allow: handles, --runbook, --policy, --schedules and --team exclude each other")
	}
	if cmd.Flags().Changed("runbook") {
		return runbook.ParseName(o.runbook)
	}
	return nil
}

// String returns the arguments that name what to allow, as typed.
func (o *allowOptions) String() string {
	if o.runbook != "" {
		return "--runbook " + o.runbook
	}
	if o.policy != "" {
		return "--policy " + human.ShellWord(o.policy)
	}
	if o.schedules {
		return "--schedules"
	}
	if o.file != "" {
		return "--team --file " + human.ShellWord(o.file)
	}
	if o.team {
		return "--team"
	}
	return o.Selection.String()
}

func newAllowCmd(f *ui.Factory) *cobra.Command {
	o := &allowOptions{}
	cmd := &cobra.Command{
		Use:   "allow {<handle>... | --all | --runbook NAME | --policy FILE | --schedules | --team}",
		Short: "Review what a record or a file would run, and allow it",
		Long: ui.WithCodes(`Shows what a record, runbook, policy, schedule or team file would run, and asks you on the
terminal. A project can come from anywhere, so nothing in it is trusted by itself: it needs your
seal, whose key is outside of all projects. Your own commands seal the records that they write. A record
without your seal, from a clone, from the original tools or edited by hand, is "not allowed", and
nothing is started from it.

A seal is for the exact content: allow a file again after a change, and a runbook also after it
was copied to another folder. Input that was typed before the question does not count.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker allow theologian
  nbs-worker allow --all     # of a project from elsewhere
  nbs-worker allow --runbook deploy`,
		Args:              o.positional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAllow(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "all agents of the project that are not allowed")
	cmd.Flags().StringVar(&o.runbook, "runbook", "", "name of a page in the project's runbooks/")
	cmd.Flags().StringVar(&o.policy, "policy", "", "file of a watch policy in the project")
	cmd.Flags().BoolVar(&o.schedules, "schedules", false, "the project's schedules, with their prompts")
	cmd.Flags().BoolVar(&o.team, "team", false, "the team file, with the files that it names (nbs-worker help team)")
	cmd.Flags().StringVar(&o.file, "file", "", "with --team: another file than team.yaml in the project root")
	ui.CompleteWith(cmd, "runbook", completeBarred(f))
	return cmd
}

func runAllow(ctx context.Context, f *ui.Factory, o *allowOptions) error {
	if !f.Streams.InTTY || !f.Streams.ErrTTY || !f.Streams.OutTTY {
		return ui.Failed(fail.Errorf(fail.Held, "only a person can allow this, on a terminal").
			Hint("in a terminal: nbs-worker allow %s", o), "allow")
	}
	if o.team {
		return ui.Failed(runAllowTeam(ctx, f, o.file), "allow --team")
	}
	if o.schedules {
		return ui.Failed(runAllowSchedules(ctx, f), "allow --schedules")
	}
	if o.policy != "" {
		return ui.Failed(runAllowPolicy(ctx, f, o.policy), "allow --policy", o.policy)
	}
	if o.runbook != "" {
		return ui.Failed(runAllowRunbook(ctx, f, o.runbook), "allow --runbook", o.runbook)
	}
	s, err := f.Supervisor()
	var handles []agent.Handle
	if err == nil {
		handles, err = o.Named(s)
	}
	if err == nil && o.All {
		handles, err = s.Project.Store.Handles()
	}
	if err != nil {
		return ui.Failed(err, "allow")
	}
	if len(handles) == 0 {
		f.Note("there is no agent")
		return nil
	}
	const inOrder = 1 // at a time: each asks a question
	return f.Each(ctx, "allow", handles, o.Several(), inOrder, func(handle agent.Handle) (ui.Outcome, error) {
		return allowOne(f, ctx, s, handle)
	})
}

// allowOne shows what one record would run, and asks for permission.
func allowOne(f *ui.Factory, ctx context.Context, s *supervisor.Supervisor, handle agent.Handle) (ui.Outcome, error) {
	asked, err := s.Request(handle)
	if err != nil {
		return ui.Outcome{}, err
	}
	done := ui.Outcome{JSON: struct{}{}, Handle: asked.Record.Handle, Words: "is allowed already"}
	if asked.Allowed {
		return done, nil
	}
	if _, err := fmt.Fprintf(f.Streams.Out, "\n%s would run:\n\n", human.Legible(string(handle))); err != nil {
		return ui.Outcome{}, err
	}
	if err := f.PrintLines(requestLines(asked), 0); err != nil {
		return ui.Outcome{}, err
	}
	if err := f.Confirm(ctx, fmt.Sprintf("\nallow %s? [y/N] ", handle), ui.NotAllowed()); err != nil {
		return ui.Outcome{}, err
	}
	if err := s.Allow(ctx, asked); err != nil {
		return ui.Outcome{}, err
	}
	done.Words = "allowed"
	return done, nil
}

// requestLines returns everything that a record would make run, one part a line. Its texts are quoted, so that they
// cannot look like another line.
func requestLines(asked supervisor.Request) []ui.Line {
	r := &asked.Record
	var lines []ui.Line
	// Long texts first: the rest stands right above the question.
	if r.InitialPrompt != "" {
		lines = append(lines, ui.Line{"Prompt", strconv.Quote(r.InitialPrompt)})
	}
	for _, previous := range r.PreviousSessions[max(0, len(r.PreviousSessions)-previousShown):] {
		lines = append(lines, ui.Line{"Previous", string(previous.SessionID)})
	}
	if earlier := len(r.PreviousSessions) - previousShown; earlier > 0 {
		lines = append(lines, ui.Line{"Previous", "and " + human.Count(earlier, "earlier conversation")})
	}
	lines = append(append(lines, ui.CarriedLines(r)...),
		ui.Line{"Session ID", string(r.SessionID)},
		ui.Line{"Model", ui.ModelName(r.Model)},
		ui.Line{"Program", cmp.Or(asked.Program, "claude, which was not found")},
		ui.Line{"Folder", strconv.Quote(asked.Folder)},
		ui.Line{"Permissions", string(r.LaunchPermissionMode())},
	)
	if p := r.Process; p != nil && p.Tmux.ByPath() {
		lines = append(lines, ui.Line{"Tmux socket", strconv.Quote(p.Tmux.Socket)})
	}
	if len(asked.Changed) > 0 {
		lines = append(lines, ui.Line{"Changed", "since it was allowed: " + strings.Join(asked.Changed, ", ")})
	}
	return lines
}

// previousShown is how many previous conversations are shown. No message is sent to them.
const previousShown = 5
