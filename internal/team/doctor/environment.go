package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/team/inspect"
)

// forgetfulAgents reads the environment of an agent's process, whether or not nbs-worker started the process.
func (d *examination) forgetfulAgents(row inspect.Row) findings {
	env, _ := d.project.Machine.Environ(row.Record.Process.PID) // empty if it has just ended
	name := claude.Forgetful(lookup(env))
	if name == "" {
		return nil
	}
	return found(Failure, fmt.Sprintf("%s was started with %s: it writes no transcript", row.Handle, name),
		"its conversation ends with it; it cannot be resumed", "let it write what matters into a file, then restart it: nbs-worker resume "+string(row.Handle)+" --force")
}

// missingNames compares the names, never the values, of the variables that choose claude's account and provider. It
// compares those of an agent's start with those of the caller, which may run under cron.
func (d *examination) missingNames(_ context.Context) (all findings) {
	concerned := map[string][]string{} // handles by the names that they would miss
	for _, row := range d.known() {
		if missing := d.missingFor(row); len(missing) > 0 {
			names := strings.Join(missing, " ")
			concerned[names] = append(concerned[names], string(row.Handle))
		}
	}
	for names, who := range concerned {
		all.add(Warning, fmt.Sprintf("set when %s started, and not set here: %s", handles(who), names),
			"a resume from here, as by cron, would start them without these variables: with another account or provider, or with none", "set them before each call: export "+names)
	}
	slices.SortFunc(all, func(a, b Finding) int { return strings.Compare(a.What, b.What) })
	return all
}

// missingFor returns the names that an agent had and the caller lacks. While the agent runs, its process has them,
// otherwise its record.
func (d *examination) missingFor(row inspect.Row) []string {
	names := row.Record.EnvNames
	if row.Status.SamePID {
		if env, err := d.project.Machine.Environ(row.Record.Process.PID); err == nil && len(env) > 0 {
			names = claude.ProviderNames(&row.Record.Spec, env)
		}
	}
	here := claude.ProviderNames(&row.Record.Spec, d.project.Env)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(here, name) })
}
