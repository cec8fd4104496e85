package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/caller"
)

// A verb that declares no powers opens no project, so that a new one cannot forget to.
func TestEachVerbDeclaresItsPowers(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{cobra.ShellCompRequestCmd: true, cobra.ShellCompNoDescRequestCmd: true} // cobra adds them when they are called
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		verb := verbOf(cmd)
		rule, is := powers[verb]
		if verb == "" || !cmd.Runnable() || cmd.HasSubCommands() && !is || isCobras(cmd) {
			return
		}
		rig.Check(t, is && rule.Right != 0 && rule.What != "", "%s declares no powers", verb)
		declared[verb] = true
	}
	visit(Tree())
	for verb := range powers {
		rig.Check(t, declared[verb], "%s has powers and is no verb", verb)
	}
}

// isCobras reports if a command is cobra's own: it opens no project.
func isCobras(cmd *cobra.Command) bool {
	return cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion"
}

// The rights of a few verbs, by hand: a table that only repeats the code would pass whatever that says.
func TestRightsOfVerbs(t *testing.T) {
	t.Parallel()
	for verb, right := range map[string]caller.Right{
		"list": caller.Anyone, "logs": caller.Member, "ask": caller.Within, "spawn": caller.Within, "interrupt": caller.Within,
		"next": caller.Manager, "pause": caller.Manager, "approve": caller.Manager, "deny": caller.Manager, "answer": caller.Manager, "requests": caller.Member, "allow": caller.Person, "serve": caller.Person, "serve setup telegram": caller.Person, "serve check": caller.Person, "attach": caller.Person, "memory backup": caller.Person, "host add": caller.Person, "host check": caller.Person, "host enable": caller.Person, "host facts": caller.Person, "host serve": caller.Person, "host job": caller.Person,
	} {
		rig.Equal(t, powers[verb].Right, right, "the right to %s", verb)
	}
}
