// Package cmdline writes Claude Code's command line, and reads the one of a running claude: its options and their
// values, in every form that a person may write. It starts nothing.
package cmdline

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
)

// Args returns claude's arguments, without the program, for a spec and the settings in JSON. The permission mode is
// always set, because its default changed. A recorded model is always set, because a resume without it drops the [1m]
// of the window. Claude gets the agent's handle as the name of the session, which its own lists and the messages
// between sessions use, unless the extra arguments give another name.
func Args(spec *agent.Spec, opening Opening, prompt, settings string) []string {
	args := []string{string(opening), string(spec.SessionID)}
	if opening == OpenNew && spec.ForkOf != "" {
		args = append([]string{string(OpenResume), string(spec.ForkOf), "--fork-session"}, args...)
	}
	if spec.Model != "" {
		args = append(args, "--model", string(spec.Model))
	}
	args = append(args, "--permission-mode", string(spec.LaunchPermissionMode()))
	if spec.Handle != "" && !slices.ContainsFunc(spec.ClaudeArgs, namesSession) {
		args = append(args, "-n", string(spec.Handle))
	}
	args = append(args, "--settings", settings)
	args = append(args, spec.ClaudeArgs...)
	if prompt != "" {
		// Without the "--" a prompt like -d is an option, and a list-valued option
		// among the extra arguments swallows it.
		args = append(args, "--", prompt)
	}
	return args
}

// namesSession reports whether an option gives the session a name. A value that looks like it counts too: the session
// then keeps the name that Claude makes.
func namesSession(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--name" || shortName(name) == "-n"
}

// Recorded are the values on a claude command line that a record fixes.
type Recorded struct {
	SessionID      string
	Model          string
	PermissionMode string
}

// ReadArgs reads the values of [Recorded] from the command line of a running claude, in every form that a person may
// write: --resume ID, --resume=ID, -r ID, -rID. known is false if the line has none of them, for example because a
// wrapper has overwritten it with a title. Everything after "--" is the prompt and is ignored.
func ReadArgs(cmdline []string) (values Recorded, known bool) {
	targets := map[string]*string{
		string(OpenNew): &values.SessionID, string(OpenResume): &values.SessionID, "-r": &values.SessionID,
		"--model": &values.Model, "--permission-mode": &values.PermissionMode,
	}
	for i, arg := range cmdline {
		if arg == "--" {
			break
		}
		if i == 0 || !isOption(arg) {
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		if short := shortName(name); short != name {
			name, value, given = short, arg[len(short):], true
		}
		if !given && i+1 < len(cmdline) {
			value, given = cmdline[i+1], true
		}
		if target, ok := targets[name]; ok && given {
			*target, known = value, true
		}
	}
	return values, known
}

// RunsOn reports whether a command line is that of a program named claude that was started on the conversation. It
// may have switched to another one since.
func RunsOn(cmdline []string, id agent.SessionID) bool {
	if !IsClaude(cmdline) {
		return false
	}
	args, known := ReadArgs(cmdline)
	return known && args.SessionID == string(id)
}
