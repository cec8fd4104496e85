package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/launch"
)

// planned returns what a start would run.
func (f *factory) planned(p launch.Plan) outcome {
	return outcome{json: wire.NewPlan(p), print: func() error { return f.printPlan(p) }}
}

// printPlan prints the command on stdout in shell syntax, although no shell will run it.
func (f *factory) printPlan(p launch.Plan) error {
	r := p.Record
	if p.Restores != nil {
		f.note("its transcript is gone from Claude's folder and would be put back from %s", p.Restores.Path)
	}
	words := []string{"cd", shellQuote(r.LaunchCwd()), "&&"}
	words = append(append(words, envWords(&r)...), shellQuote(p.Program))
	for i, arg := range p.Args {
		if i > 0 && p.Args[i-1] == "--settings" {
			arg = "{...}" // hooks are too long to read; --json has them
		}
		words = append(words, shellQuote(arg))
	}
	if p.Moved != nil {
		f.note("its folder is now %s; it was %s", p.Moved.To, p.Moved.From)
	}
	f.note("dry run; nothing was changed. In tmux session %s would run, with our hooks folded (--json has them):", r.TmuxSession)
	_, err := fmt.Fprintln(f.streams.Out, strings.Join(words, " "))
	return err
}

// envWords returns a record's variables for claude in shell syntax.
func envWords(r *agent.Record) []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, lineQuote(name+"="+r.Env[name]))
	}
	if r.ConfigDir != "" {
		words = append(words, lineQuote("CLAUDE_CONFIG_DIR="+r.ConfigDir))
	}
	if len(words) == 0 {
		return nil
	}
	return append([]string{"env"}, words...)
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

func shellQuote(word string) string {
	if word != "" && strings.Trim(word, shellSafe) == "" {
		return word
	}
	if strings.ContainsRune(word, '\n') && human.IsLegible(word) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" // multi-line, as typed
	}
	return human.ShellWord(word)
}
