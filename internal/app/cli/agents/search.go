package agents

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/history"
)

type searchOptions struct {
	history.Search

	pattern, since string
	allProjects    bool
}

func newSearchCmd(f *ui.Factory) *cobra.Command {
	o := &searchOptions{}
	cmd := &cobra.Command{
		Use:   "search PATTERN",
		Short: "Search what was said in all conversations",
		Long: ui.WithCodes(`Prints each message whose text matches a Go regular expression, in the present and earlier
conversations of all agents, in keyed ones, and, for a person, in those of dismissed agents that
the journal names. Each has a heading with the agent or the key, the session id and the
transcript. If Claude has deleted the transcript, the archived copy is searched.

--tools also searches what tools and subagents did and what Claude inserted. The exit code is 0
even if nothing matches; a conversation that cannot be read is named on stderr, with code 7.

--json prints one object per line: what logs --json prints, with handle or conversation,
transcript, archived and dismissed.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker search '(?i)deadline'
  nbs-worker search 'release' --since 7d --tools
  nbs-worker search 'rate limit' --all-projects --json | jq -r .transcript`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail.Errorf(fail.BadInput, "search: one pattern is needed, %d given", len(args)).Hint("%s --help", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.pattern = args[0]
			if o.Since, err = ui.ParseSince(o.since, time.Now()); err != nil {
				return fail.Errorf(fail.BadInput, "search: --since: %w", err).Hint("nbs-worker search PATTERN --since 2h")
			}
			return runSearch(cmd.Context(), f, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.since, "since", "", "only messages since this time: 90m, 2h, 7d, or a time such as 2026-02-20T11:44:07Z")
	flags.BoolVar(&o.Tools, "tools", false, "also what tools and subagents did, and what Claude added")
	flags.BoolVar(&o.allProjects, "all-projects", false, "the agents of all your projects")
	return f.WithJSON(cmd)
}

func runSearch(ctx context.Context, f *ui.Factory, o *searchOptions) (err error) {
	if o.Match, err = regexp.Compile(o.pattern); err != nil {
		return fail.Errorf(fail.BadInput, "search: %w", err).Hint("to search for the literal text: nbs-worker search %s", ui.ShellQuote(regexp.QuoteMeta(o.pattern)))
	}
	all, gone, err := projectsOf(f, o.allProjects)
	if err != nil {
		return ui.Failed(err, "search")
	}
	f.SayGone(gone)
	outcome, matches := &ui.Partial{}, 0
	for _, p := range all {
		if p.Err != nil && !o.allProjects {
			return ui.Failed(p.Err, "search")
		}
		if reportProject(f, "search", p, outcome); p.Err != nil {
			continue
		}
		outcome.Of++ // what could be read
		n, err := searchIn(ctx, f, o, p, outcome)
		if matches += n; err != nil {
			return ui.Looked(err, "search")
		}
	}
	if matches == 0 {
		f.Note("nothing matches")
	}
	return outcome.Failed()
}

// searchIn prints the matches of one project.
func searchIn(ctx context.Context, f *ui.Factory, o *searchOptions, p *ui.OpenProject, outcome *ui.Partial) (matches int, err error) {
	var at history.Found // the conversation of the latest match
	o.Sees, o.Dismissed = p.Caller.Sees, p.Caller == nil
	err = o.Run(ctx, p.Project, func(m history.Found) error {
		matches++
		if f.JSON {
			project := ""
			if o.allProjects {
				project = p.Path
			}
			return f.PrintJSON(wire.NewFound(m, project))
		}
		if m.Path != at.Path {
			if err := printFoundIn(f, o, p.Path, m); err != nil {
				return err
			}
		}
		at = m
		m.Text = around(m.Text, o.Match)
		return f.PrintSaid(m.Said)
	}, func(where history.Place, unread error) {
		defer f.Beside(p)()
		outcome.Failures = append(outcome.Failures, unread)
		f.PrintError("", ui.Failed(unread, "search", where.String()))
	})
	return matches, err
}

// printFoundIn prints the heading of a conversation.
func printFoundIn(f *ui.Factory, o *searchOptions, project string, m history.Found) error {
	words := fmt.Sprintf("%s, conversation %s", m.Place, m.SessionID)
	if o.allProjects {
		words = project + ": " + words
	}
	if m.Archived {
		words += ", archived"
	}
	_, err := fmt.Fprintln(f.Streams.Out, f.Coloured(ui.Bold, ui.OneLine(words+": "+m.Path)))
	return err
}

// around cuts a text to one line around its first match.
func around(text string, match *regexp.Regexp) string {
	const before, after = 80, 240 // bytes
	at := match.FindStringIndex(text)
	if at == nil {
		return text
	}
	from, to := max(0, at[0]-before), min(len(text), max(at[1], at[0]+after))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	cut := human.Prefix(text[from:], to-from, utf8.RuneLen)
	line := strings.Join(strings.Fields(text[from:from+cut]), " ")
	if from > 0 {
		line = "… " + line
	}
	if from+cut < len(text) {
		line += " …"
	}
	return line
}
