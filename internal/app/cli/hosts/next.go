package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/team/attention"
)

// noNeed is the error of next, here and at a host.
const noNeed = "nobody needs you"

// needy is the agent that has needed a person longest at one place.
type needy struct {
	wire.Agent

	host string // "": this machine
}

// next goes to the agent that has needed a person longest, here or at any host.
func (v *verb) next(ctx context.Context, f *ui.Factory) error {
	args := withoutHost(f.Args)
	var all []needy
	var unknown []string
	_, err := v.ask(ctx, f, append(slices.Clone(args), "--print", "--json"), func(s shown) {
		if one, is := s.needy(f); is {
			all = append(all, one)
		} else if s.err != nil || fail.Kind(s.code) != fail.NotFound {
			unknown = append(unknown, cmp.Or(s.host, here))
		}
	})
	if err != nil {
		return err
	}
	if len(all) == 0 && len(unknown) > 0 {
		slices.Sort(unknown)
		return fail.Errorf(fail.Partial, "nobody is known to need you; what %s needs is not known", strings.Join(unknown, ", "))
	}
	if len(all) == 0 {
		return fail.Errorf(fail.NotFound, "%s", noNeed)
	}
	first := slices.MinFunc(all, compare)
	prints, _ := v.cmd.Flags().GetBool("print")
	switch {
	case first.host == "":
		return ended(nil, f.Execute(ctx, args, f.Streams))
	case prints:
		return printNeedy(f, first)
	}
	known, err := host.Load(os.Environ())
	if err != nil {
		return err
	}
	return first.visit(ctx, f, known, args)
}

// needy reads what next has printed at a place. It says on stderr why a place has no answer.
func (s *shown) needy(f *ui.Factory) (one needy, is bool) {
	place := cmp.Or(s.host, here)
	switch {
	case s.err != nil:
		f.Say("%s", s.trouble())
	case s.code != 0:
		if said := link.ReadComplaint(s.code, string(s.said)).What; !strings.Contains(said, noNeed) {
			f.Say("%s: %s", place, said)
		}
	default:
		if err := json.Unmarshal(s.text, &one.Agent); err != nil || one.Needs == nil {
			f.Say("%s: its answer cannot be read", place)
			return one, false
		}
		one.host = s.host
		return one, true
	}
	return one, false
}

// compare orders agents of different places as next orders those of one.
func compare(a, b needy) int {
	if one, other := a.Needs.SeenAt, b.Needs.SeenAt; a.Needs.Seen && b.Needs.Seen && one != nil && other != nil {
		return cmp.Or(one.Compare(*other), strings.Compare(a.host, b.host))
	}
	return cmp.Or(attention.Compare(a.need(), b.need()), strings.Compare(a.host, b.host))
}

func (n *needy) need() *attention.Need {
	need := &attention.Need{Reason: n.Needs.Reason, Seen: n.Needs.Seen}
	if n.Needs.Since != nil {
		need.Since = *n.Needs.Since
	}
	return need
}

// printNeedy prints the handle, and the folder of the project if that is known.
func printNeedy(f *ui.Factory, n needy) error {
	cells := []ui.Cell{ui.Text(string(n.Handle) + "@" + n.host)}
	if n.Project != "" {
		cells = append(cells, ui.Text(n.Project))
	}
	t := f.NewTable()
	t.Row(cells...)
	return t.Flush()
}

// visit goes to the agent's terminal. Of one that does not run, next says there why, and what helps: that counts as a look.
func (n *needy) visit(ctx context.Context, f *ui.Factory, known host.Hosts, args []string) error {
	if !n.Running {
		return attach(ctx, f, known, part{n.host, args})
	}
	line := []string{"attach", string(n.Handle)}
	if n.Project != "" {
		line = append(line, "--root="+n.Project)
	}
	return attach(ctx, f, known, part{n.host, line})
}
