package agents

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
)

// What Claude hands over through the status line: the limits of the account, the pull request, the worktree.

// handedLines are the lines of session for it.
func handedLines(f *ui.Factory, report *agent.Report) (lines []ui.Line) {
	if words := ui.PlanLimits(report.Limits, time.Now()); words != "" {
		lines = append(lines, ui.Line{"Limits", words + "; said " + f.When(report.Limits.Since)})
	}
	if pull := report.Pull; pull != nil {
		text := ui.PullRequestWords(pull)
		if pull.URL != "" {
			text += ", " + pull.URL
		}
		lines = append(lines, ui.Line{"Pull request", text})
	}
	if tree := report.Worktree; tree != nil {
		text := human.Quote(tree.Path)
		if tree.Branch != "" {
			text += " on branch " + human.Quote(tree.Branch)
		}
		if from := cmp.Or(tree.OriginalBranch, tree.OriginalCwd); from != "" {
			text += ", made from " + human.Quote(from)
		}
		lines = append(lines, ui.Line{"Worktree", text})
	}
	return lines
}

// handedColumns are the columns of list --wide for it. A column without an entry is left out.
func handedColumns(rows []inspect.Row) (all []column) {
	pull := func(row *inspect.Row) string { return ui.PullRequestWords(row.Report.Pull) }
	for _, one := range []struct {
		name string
		of   func(*inspect.Row) string
	}{{"PULL REQUEST", pull}, {"BRANCH", func(row *inspect.Row) string { return cmp.Or(handedBranch(row), ownBranch(row)) }}} {
		if slices.ContainsFunc(rows, func(row inspect.Row) bool { return one.of(&row) != "" }) {
			all = append(all, column{one.name, func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(one.of(row)) }})
		}
	}
	return all
}

// handedBranch returns the branch of the worktree that Claude has made for an agent, or the worktree's name; "" if it has
// made none.
func handedBranch(row *inspect.Row) string {
	if tree := row.Report.Worktree; tree != nil {
		return cmp.Or(tree.Branch, tree.Name)
	}
	return ""
}

// printLimits prints the limits of each account below a list.
func printLimits(f *ui.Factory, rows []inspect.Row) {
	now := time.Now()
	accounts := inspect.Limits(rows, now)
	for i := range accounts {
		of := ""
		if len(accounts) > 1 {
			of = " of " + string(accounts[i].By)
		}
		fmt.Fprintf(f.Streams.Out, "limits%s: %s\n", of, ui.PlanLimits(&accounts[i].Limits, now))
	}
}
