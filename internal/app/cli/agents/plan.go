package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/team/launch"
)

// planned returns what a start would run.
func planned(f *ui.Factory, p launch.Plan) ui.Outcome {
	return ui.Outcome{JSON: wire.NewPlan(p), Print: func() error { return printPlan(f, p) }}
}

// printPlan prints the command on stdout in shell syntax, although no shell will run it.
func printPlan(f *ui.Factory, p launch.Plan) error {
	r := p.Record
	if p.Restores != nil {
		f.Note("its transcript is gone from Claude's folder and would be restored from %s", p.Restores.Path)
	}
	words := []string{"cd", ui.ShellQuote(r.LaunchCwd()), "&&"}
	words = append(append(words, envWords(&r)...), ui.ShellQuote(p.Program))
	for i, arg := range p.Args {
		if i > 0 && p.Args[i-1] == "--settings" {
			arg = "{...}" // hooks are too long to read; --json has them
		}
		words = append(words, ui.ShellQuote(arg))
	}
	if p.Moved != nil {
		f.Note("its folder has moved from %s to %s", p.Moved.From, p.Moved.To)
	}
	f.Note("dry run: nothing was changed. This would run in the tmux session %s (settings shortened; --json has them):", r.TmuxSession)
	_, err := fmt.Fprintln(f.Streams.Out, strings.Join(words, " "))
	return err
}

// envWords returns a record's variables for claude in shell syntax.
func envWords(r *agent.Record) []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, ui.LineQuote(name+"="+r.Env[name]))
	}
	if r.ConfigDir != "" {
		words = append(words, ui.LineQuote("CLAUDE_CONFIG_DIR="+r.ConfigDir))
	}
	if len(words) == 0 {
		return nil
	}
	return append([]string{"env"}, words...)
}
