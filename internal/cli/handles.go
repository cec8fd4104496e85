package cli

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
)

// oneHandle and someHandles check the positional arguments of a verb, so that a
// name which cannot be an agent's is refused before anything is opened.
func oneHandle(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return agent.Errorf(agent.BadInput, "%s: one handle is needed, %d given", cmd.Name(), len(args)).
			Hint("%s --help", cmd.CommandPath())
	}
	return someHandles(cmd, args)
}

func someHandles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return agent.Errorf(agent.BadInput, "%s: a handle is needed", cmd.Name()).
			Hint("to see the agents: nbs-worker list")
	}
	for _, arg := range args {
		if _, err := agent.ParseHandle(arg); err != nil {
			return agent.Errorf(agent.BadInput, "%s: %w", cmd.Name(), err)
		}
	}
	return nil
}

// each does one thing to several agents, one after the other. One failure does not
// keep the others from their turn.
func (f *factory) each(verb string, handles []string, do func(agent.Handle) error) error {
	if len(handles) == 1 {
		return failed(do(agent.Handle(handles[0])), verb, handles[0])
	}
	outcome := &partial{of: len(handles)}
	for _, handle := range handles {
		if err := failed(do(agent.Handle(handle)), verb, handle); err != nil {
			f.printError(err)
			outcome.failures = append(outcome.failures, err)
		}
	}
	if len(outcome.failures) == 0 {
		return nil
	}
	return outcome
}

// completeHandles offers the agents of the project, from a listing of its folder.
func (f *factory) completeHandles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := f.supervisor()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	handles, _ := s.Store.Handles()
	names := make([]string, len(handles))
	for i, handle := range handles {
		names[i] = string(handle)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
