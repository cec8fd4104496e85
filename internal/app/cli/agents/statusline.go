package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

type needsLineOptions struct {
	follow, allProjects bool
	file                string
}

func newNeedsLineCmd(f *ui.Factory) *cobra.Command {
	o := &needsLineOptions{}
	cmd := &cobra.Command{
		Use:   "status-line",
		Short: "Print in one short line who needs you, for tmux",
		Long: ui.WithCodes(`Prints how many agents need you, and of the three most urgent the reason and since when. It
prints nothing if no agent does. An agent that could not be looked at is counted as unknown.

  2 need you: alice waits 3m, bob done

--follow prints the line at once, also if it is empty, and again each time it changes, until it
is interrupted. It sleeps in between. That is for the status line of tmux, in tmux.conf:

  set -ag status-right ' #(nbs-worker status-line --follow --all-projects)'

tmux starts the command once for each client, shows its last line, ends it with the client, and
starts it again if it was killed.

--file keeps the line in a file instead, for what reads one, such as the prompt of a shell. The
file is replaced at each change, is for your user only, and is removed when the command ends; if
it is killed by signal 9, the file stays, and the next command replaces it. A file with anything
else is not touched. Only a person may.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker status-line
  nbs-worker status-line --follow --all-projects
  nbs-worker status-line --all-projects --file ~/.cache/needs-me`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNeedsLine(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.follow, "follow", false, "again each time it changes")
	cmd.Flags().StringVar(&o.file, "file", "", "keep the line in this file, until it is interrupted")
	cmd.Flags().BoolVar(&o.allProjects, "all-projects", false, "the agents of all your projects")
	return cmd
}

func runNeedsLine(ctx context.Context, f *ui.Factory, o *needsLineOptions) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "status-line")
	}
	all, _, err := projectsOf(f, o.allProjects)
	if err != nil {
		return ui.Failed(err, "status-line")
	}
	if o.file != "" {
		if err := f.CheckPerson("keep a line in a file"); err != nil {
			return ui.Failed(err, "status-line")
		}
		if err := checkLineFile(o.file); err != nil {
			return ui.Failed(err, "status-line")
		}
	}
	if o.follow || o.file != "" {
		return ui.Looked(followNeeds(ctx, f, all, o, bands), "status-line")
	}
	ui.LookAtEvery(ctx, all)
	if ctx.Err() != nil {
		return ui.Looked(ctx.Err(), "status-line")
	}
	outcome := &ui.Partial{}
	for _, p := range all {
		reportProject(f, "status-line", p, outcome)
	}
	if line := o.line(all, bands, f.Now()); line != "" {
		fmt.Fprintln(f.Streams.Out, line)
	}
	return outcome.Failed()
}

func followNeeds(ctx context.Context, f *ui.Factory, all []*ui.OpenProject, o *needsLineOptions, bands agent.Bands) error {
	w, err := follow(all)
	if err != nil {
		return err
	}
	defer w.Close()
	if o.file == "" {
		ctx = f.Streams.WhileRead(ctx)
	}
	var last *string
	err = w.run(ctx, nil, func() (ages bool, err error) {
		line := o.line(all, bands, f.Now())
		if last != nil && line == *last {
			return line != "", nil
		}
		if err := o.show(f, line); err != nil {
			return false, err
		}
		last = &line
		return line != "", nil
	})
	if o.file != "" && last != nil && checkLineFile(o.file) == nil { // a line that no command keeps true is worse than none
		_ = os.Remove(o.file)
	}
	return err
}

// show prints a line, or replaces the file by it, unless a person has put something else there since the last look.
func (o *needsLineOptions) show(f *ui.Factory, line string) error {
	if o.file == "" {
		_, err := fmt.Fprintln(f.Streams.Out, line)
		return err
	}
	if err := checkLineFile(o.file); err != nil {
		return err
	}
	return renameio.WriteFile(o.file, []byte(line+"\n"), 0o600, renameio.WithTempDir(filepath.Dir(o.file)), renameio.WithStaticPermissions(0o600))
}

// line returns who needs the user, after a look.
func (o *needsLineOptions) line(all []*ui.OpenProject, bands agent.Bands, now time.Time) string {
	const named = 3
	queue := ui.QueueOf(all, bands)
	var words []string
	for _, one := range queue[:min(len(queue), named)] {
		words = append(words, o.words(one, now))
	}
	if len(queue) > named {
		words = append(words, "…")
	}
	var parts []string
	switch len(queue) {
	case 0:
	case 1:
		parts = append(parts, "1 needs you: "+words[0])
	default:
		parts = append(parts, fmt.Sprintf("%d need you: %s", len(queue), strings.Join(words, ", ")))
	}
	if unknown := unknownOf(all); unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", unknown))
	}
	return strings.Join(parts, "; ")
}

// words returns the need of an agent in a few words.
func (o *needsLineOptions) words(one ui.NeedyAgent, now time.Time) string {
	words := string(one.Handle) + " " + string(one.Reason)
	if o.allProjects {
		words = strings.Map(harmlessInTmux, filepath.Base(one.Project.Path)) + "/" + words
	}
	if age := now.Sub(one.Since); !one.Since.IsZero() && age >= time.Minute {
		words += " " + human.Brief(age)
	}
	return words
}

// harmlessInTmux replaces what tmux would expand in a status line.
func harmlessInTmux(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
		return r
	}
	return '_'
}

// unknownOf counts the agents, and the projects, that could not be looked at.
func unknownOf(all []*ui.OpenProject) (count int) {
	for _, p := range all {
		if p.Err != nil {
			count++
		}
		for i := range p.Rows {
			if p.Rows[i].Err != nil && p.Rows[i].Record.Handle != "" { // an agent whose record cannot be read needs a person
				count++
			}
		}
	}
	return count
}
