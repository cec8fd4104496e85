package cli

import (
	"fmt"
	"strings"

	"nbs-worker/internal/supervisor"
)

// printPlan shows what a start would run: on stdout the command as a shell would
// take it, though none will be between us and claude.
func (f *factory) printPlan(p supervisor.Plan) error {
	r := p.Record
	if f.json {
		plan := planJSON{
			Handle: r.Handle, SessionID: r.SessionID, Opened: p.Opening.Word(), Program: p.Program, Args: p.Args,
			Cwd: r.LaunchCwd(), ConfigDir: r.ConfigDir, TmuxSession: r.TmuxSession,
		}
		if p.Restores != nil {
			plan.Restores = p.Restores.Path
		}
		return f.printJSON(plan)
	}
	if p.Restores != nil {
		f.note("its transcript is gone from Claude's folder and would be put back from %s", p.Restores.Path)
	}
	words := []string{"cd", shellQuote(r.LaunchCwd()), "&&", shellQuote(p.Program)}
	for _, arg := range p.Args {
		words = append(words, shellQuote(arg))
	}
	f.note("dry run; nothing was changed. In tmux session %s would run:", r.TmuxSession)
	_, err := fmt.Fprintln(f.streams.Out, strings.Join(words, " "))
	return err
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

func shellQuote(word string) string {
	if word != "" && strings.Trim(word, shellSafe) == "" {
		return word
	}
	if strings.ContainsFunc(word, steers) {
		return ansiQuote(word)
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// ansiQuote is the form of bash and ksh for what a terminal must not get as it is.
func ansiQuote(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\\' || c == '\'':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
