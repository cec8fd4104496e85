package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
)

// Shell completion. It reads only the records, since waiting for tmux would be too slow.

type completion = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// handlesWhere completes the project's agents that are useful to a verb, each once.
func (f *factory) handlesWhere(useful func(r *agent.Record, runs bool) bool) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, r := range f.records() {
			taken := slices.ContainsFunc(args, func(arg string) bool { return r.Handle.Same(agent.Handle(arg)) })
			runs := r.Process != nil && f.machine.IsAlive(r.Process.Identity)
			if !taken && useful(&r, runs) {
				names = append(names, string(r.Handle)+"\t"+describe(&r, runs))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
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

// once restricts a completion to the first argument, for a verb that takes one handle.
func once(complete completion) completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

func anybody(*agent.Record, bool) bool          { return true }
func whoRuns(_ *agent.Record, runs bool) bool   { return runs }
func whoIsDown(_ *agent.Record, runs bool) bool { return !runs }
func inTmux(r *agent.Record, runs bool) bool    { return runs && r.Process.Tmux != nil }

// records returns the readable records of the project.
func (f *factory) records() []agent.Record {
	s, err := f.supervisor()
	if err != nil {
		return nil
	}
	handles, _ := s.Store.Handles()
	var all []agent.Record
	for _, handle := range handles {
		if r, err := s.Store.Load(handle); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// completeModels completes the short names of models.
func completeModels(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.ModelAliases(), cobra.ShellCompDirectiveNoFileComp
}

func completeModes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.Mapped(agent.PermissionModes, func(mode agent.PermissionMode) string { return string(mode) }), cobra.ShellCompDirectiveNoFileComp
}

func completeRestarts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agent.Mapped(agent.RestartWords, func(word agent.RestartWord) string { return string(word) }), cobra.ShellCompDirectiveNoFileComp
}

// completeEarlier completes the previous conversations of the named agents.
func (f *factory) completeEarlier(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
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

// completeTopics completes the help topics.
func completeTopics(help *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, cmd := range help.Root().Commands() {
		if len(args) == 0 && !cmd.Hidden {
			names = append(names, cmd.Name()+"\t"+cmd.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeWith registers the completion of a flag's value; the flag must exist.
func completeWith(cmd *cobra.Command, flag string, complete completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete)
}
