package ui

import (
	"slices"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/teamfile"
)

// Shell completion. It reads only the records, since waiting for tmux would be too slow.

// Completion completes an argument, or the value of a flag.
type Completion = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// HandlesWhere completes the project's agents that are useful to a verb, each once.
func (f *Factory) HandlesWhere(useful func(r *agent.Record, runs bool) bool) Completion {
	return func(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names, elsewhere := f.atHosts(toComplete)
		if elsewhere {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		for _, r := range f.records() {
			taken := slices.ContainsFunc(args, func(arg string) bool { return r.Handle.Same(agent.Handle(arg)) })
			runs := r.Process != nil && f.Machine.IsAlive(r.Process.Identity)
			if !taken && useful(&r, runs) {
				names = append(names, string(r.Handle)+"\t"+describe(&r, runs))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// SelectionWhere is HandlesWhere for a verb that also takes the groups of the team file.
func (f *Factory) SelectionWhere(useful func(r *agent.Record, runs bool) bool) Completion {
	handles := f.HandlesWhere(useful)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names, directive := handles(cmd, args, toComplete)
		root, err := f.Founding()
		if err != nil {
			return names, directive
		}
		source, err := teamfile.Open(root, "")
		if err != nil {
			return names, directive
		}
		for _, group := range source.File.Groups {
			if !slices.Contains(args, "@"+group.Name) {
				names = append(names, "@"+group.Name+"\t"+Joined(group.Members))
			}
		}
		return names, directive
	}
}

func describe(r *agent.Record, runs bool) string {
	words := "down"
	if runs {
		words = "running"
	}
	if r.Model != "" {
		words += ", " + string(r.Model)
	}
	return words
}

// Once restricts a completion to the first argument, for a verb that takes one handle.
func Once(complete Completion) Completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// AnyAgent is true for each agent.
func AnyAgent(*agent.Record, bool) bool { return true }

// Running is true for an agent that runs.
func Running(_ *agent.Record, runs bool) bool { return runs }

// Down is true for an agent that does not run.
func Down(_ *agent.Record, runs bool) bool { return !runs }

// InTmux is true for an agent that runs in tmux.
func InTmux(r *agent.Record, runs bool) bool { return runs && r.Process.Tmux != nil }

// records returns the readable records of the project.
func (f *Factory) records() []agent.Record {
	s, err := f.Supervisor()
	if err != nil {
		return nil
	}
	handles, _ := s.Project.Store.Handles()
	var all []agent.Record
	for _, handle := range handles {
		if r, err := s.Project.Store.Load(handle); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// CompleteModels completes the short names of models.
func CompleteModels(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.ModelAliases(), cobra.ShellCompDirectiveNoFileComp
}

// CompleteModes completes the permission modes.
func CompleteModes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.Mapped(agent.PermissionModes, func(mode agent.PermissionMode) string { return string(mode) }), cobra.ShellCompDirectiveNoFileComp
}

// CompleteRestarts completes the restart policies.
func CompleteRestarts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.Mapped(agent.RestartWords, func(word agent.RestartWord) string { return string(word) }), cobra.ShellCompDirectiveNoFileComp
}

// CompleteEarlier completes the previous conversations of the named agents.
func (f *Factory) CompleteEarlier(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, r := range f.records() {
		if !slices.ContainsFunc(args, func(arg string) bool { return r.Handle.Same(agent.Handle(arg)) }) {
			continue
		}
		for _, p := range slices.Backward(r.PreviousSessions) {
			ids = append(ids, string(p.SessionID)+"\tuntil "+p.Until.Format("2006-01-02 15:04")+", "+p.Reason)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// CompleteWith registers the completion of a flag's value; the flag must exist.
func CompleteWith(cmd *cobra.Command, flag string, complete Completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete)
}
