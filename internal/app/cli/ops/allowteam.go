package ops

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/team/teamfile"
)

// runAllowTeam shows a team file with the files that it names, and asks for permission.
func runAllowTeam(ctx context.Context, f *ui.Factory, path string) (err error) {
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	s, err := f.NewProject() // a project may have a team file before it has agents
	if err != nil {
		return err
	}
	source, err := teamfile.Open(s.Project.Store.Project(), path)
	if err != nil {
		return err
	}
	files := agent.Mapped(source.Parts(), func(p teamfile.Part) ui.OwnFile { return ui.OwnFile(p) })
	return f.AllowFiles(ctx, s, files[0].Name, "this team", teamLines(source.File), files)
}

// teamLines returns what a team would run, one agent a line.
func teamLines(file *teamfile.File) []ui.Line {
	return agent.Mapped(file.Agents, func(a teamfile.Agent) ui.Line {
		words := []string{"model " + ui.ModelName(a.Model), cmp.Or(string(a.PermissionMode), "the usual permission mode")}
		if a.Restart != agent.RestartNo {
			words = append(words, "restart "+string(a.Restart))
		}
		if a.WorkingDir != "" {
			words = append(words, "in "+strconv.Quote(a.WorkingDir))
		}
		if a.Worktree != nil {
			words = append(words, "in a worktree of its own")
			if len(a.Worktree.Link) > 0 {
				words = append(words, "with links to "+strings.Join(agent.Mapped(a.Worktree.Link, strconv.Quote), " "))
			}
			if len(a.Worktree.Setup) > 0 {
				words = append(words, "set up by "+strings.Join(agent.Mapped(a.Worktree.Setup, strconv.Quote), " "))
			}
		}
		if len(a.ClaudeArgs) > 0 {
			words = append(words, "arguments "+strings.Join(agent.Mapped(a.ClaudeArgs, strconv.Quote), " "))
		}
		if a.Settings != "" {
			words = append(words, "settings "+strconv.Quote(a.Settings))
		}
		for _, name := range slices.Sorted(maps.Keys(a.Environment)) {
			words = append(words, name+"="+strconv.Quote(a.Environment[name]))
		}
		if a.PromptFile != "" {
			words = append(words, "with the text of "+strconv.Quote(a.PromptFile))
		}
		return ui.Line{string(a.Handle), strings.Join(words, ", ")}
	})
}
