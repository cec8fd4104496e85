package hosts

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/caller"
)

// verb is the verb of a command line, and what of it names hosts.
type verb struct {
	cmd  *cobra.Command
	name string // as in powers
	all  bool   // --hosts
	at   []part

	printing sync.Mutex // of what several places show
}

// part is the command line for one host.
type part struct {
	host string // "": this machine
	args []string
}

// MayName reports whether a command line may name a host. It is asked of each, and fast. Words are completed here.
func MayName(args []string) bool {
	completes := len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	return !completes && slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--host") || strings.LastIndexByte(arg, '@') > 0
	})
}

// verbOf reads a command line. It returns nil if the line cannot be read, which the verb itself reports.
func verbOf(f *ui.Factory) *verb {
	root := f.Tree(f.Args...)
	cmd, rest, err := root.Find(f.Args)
	if err != nil {
		return nil
	}
	cmd.InitDefaultHelpFlag()
	if cmd.ParseFlags(rest) != nil || cmd.Flags().Changed("help") {
		return nil
	}
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	v := &verb{cmd: cmd, name: name}
	v.all, _ = cmd.Flags().GetBool("hosts")
	return v
}

// split sorts the words of a command line by hosts: by the named one, or by those of its handles.
func (v *verb) split(args []string, named string, known host.Hosts) error {
	var handles []placed
	places := map[string]bool{}
	for _, word := range v.handles(v.cmd.Flags().Args()) {
		p := placed{word: word, rest: word, at: named}
		if rest, at := host.Split(word); at != "" && (!v.ofKeys() || known.Has(at)) {
			if named != "" && !v.ofKeys() {
				return fail.Errorf(fail.BadInput, "%s names a host, and --host does too", human.Quote(word)).Hint("leave out one of them")
			}
			if named == "" {
				p.rest, p.at = rest, at
			}
		}
		handles, places[p.at] = append(handles, p), true
	}
	if len(handles) == 0 {
		places[named] = true
	}
	for _, at := range slices.Sorted(maps.Keys(places)) {
		if at != "" {
			if _, err := known.Find(at); err != nil {
				return err
			}
		}
		v.at = append(v.at, part{at, v.lineFor(at, withoutHost(args), handles)})
	}
	return nil
}

// mayBeElsewhere reports whether the line names a host, or a handle or key that might.
func (v *verb) mayBeElsewhere(named string) bool {
	return named != "" || slices.ContainsFunc(v.handles(v.cmd.Flags().Args()), func(word string) bool {
		_, at := host.Split(word)
		return at != ""
	})
}

// ofKeys reports whether the verb takes keys of conversations, which may have an @ of their own.
func (v *verb) ofKeys() bool { return strings.Contains(v.cmd.Use, "<key>") }

// placed is a handle or key of a command line.
type placed struct{ word, rest, at string }

// lineFor returns the command line for one place, with its handles and no others.
func (v *verb) lineFor(at string, args []string, handles []placed) (line []string) {
	path := strings.Fields(v.name)
	for _, arg := range args {
		switch {
		case len(path) > 0 && arg == path[0]:
			path = path[1:]
		case len(handles) > 0 && arg == handles[0].word:
			h := handles[0]
			handles = handles[1:]
			if h.at != at {
				continue
			}
			arg = h.rest
		}
		line = append(line, arg)
	}
	return line
}

// handles returns those of the words that are handles or keys.
func (v *verb) handles(words []string) []string {
	n := len(words)
	switch use := v.cmd.Use; {
	case v.name == "export": // its first word is what to export
		return words[min(n, 1):]
	case strings.Contains(use, "TEXT | -") && strings.Contains(use, "<handle>..."): // send: the last is the text
		if file := v.cmd.Flags().Lookup("file"); file != nil && file.Changed {
			return words
		}
		return words[:max(n-1, 0)]
	case strings.Contains(use, "<handle>...") || strings.Contains(use, "<key>}..."):
		return words
	case strings.Contains(use, "<handle>") || strings.Contains(use, "<key>"):
		return words[:min(n, 1)]
	default:
		return nil
	}
}

// withoutHost returns a command line without --host and --hosts.
func withoutHost(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(out, args[i:]...)
		case arg == "--host":
			i++
		case strings.HasPrefix(arg, "--host=") || strings.HasPrefix(arg, "--hosts"):
		default:
			out = append(out, arg)
		}
	}
	return out
}

// atDesk are the verbs that need this machine's terminal, or serve it: they cannot be run at a host.
var atDesk = []string{
	"dash", "serve", "serve check", "serve setup telegram", "watch", "memory work", "hook", "statusline", "status-line",
	"run", "project list", "project forget", "completion",
}

// check refuses a verb that cannot be run at a host.
func (v *verb) check(known host.Hosts) error {
	destination := "DESTINATION"
	if len(v.at) > 0 {
		if h, err := known.Find(v.at[0].host); err == nil {
			destination = h.Destination
		}
	}
	switch {
	case v.name == "":
		return fail.Errorf(fail.BadInput, "--host and --hosts need a command").Hint("nbs-worker list --hosts")
	case strings.HasPrefix(v.name, "host "):
		return fail.Errorf(fail.BadInput, "your hosts are a matter of this machine").Hint("without --host: nbs-worker %s", v.name)
	case slices.Contains(atDesk, v.name):
		return fail.Errorf(fail.BadInput, "it cannot be run at a host from here").Hint("go there: ssh %s", destination)
	}
	return nil
}

// follows reports whether a command goes on until it is ended.
func (v *verb) follows() bool {
	if v.name == "wait" {
		return true
	}
	for _, name := range []string{"watch", "follow"} {
		if on, err := v.cmd.Flags().GetBool(name); err == nil && on {
			return true
		}
	}
	return false
}

// asks reports whether a command asks the user something when there is a terminal.
func (v *verb) asks() bool {
	set := v.cmd.Flags().Changed
	switch v.name {
	case "allow", "memory allow":
		return true
	case "dismiss":
		return set("all") && !set("yes") && !v.json()
	case "memory forget":
		return set("handle") && !set("yes") && !v.json()
	default:
		return false
	}
}

// keeps reports whether a verb changes something, so that it goes on without a reader.
func (v *verb) keeps(powers map[string]caller.Rule) bool {
	switch v.name {
	case "send", "tell", "doctor", "outbox deliver", "runbook run":
		return true
	case "changes", "next":
		return false
	default:
		rule := powers[v.name]
		return rule.Right != caller.Anyone && rule.Right != caller.Member
	}
}
