package ui

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/host"
)

// CompleteHosts completes the names of the user's hosts, for a person.
func (f *Factory) CompleteHosts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if f.CheckPerson("see the user's hosts") != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	known, _ := host.Load(os.Environ())
	for _, h := range known {
		if !strings.Contains(" "+strings.Join(args, " ")+" ", " "+h.Name+" ") {
			names = append(names, h.Name+"\t"+h.Destination)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// atHosts completes the host of a handle that has been typed up to its @; it returns false for another word.
func (f *Factory) atHosts(toComplete string) (names []string, is bool) {
	at := strings.LastIndexByte(toComplete, '@')
	if at <= 0 {
		return nil, false
	}
	hosts, _ := f.CompleteHosts(nil, nil, "")
	for _, name := range hosts {
		names = append(names, toComplete[:at+1]+name)
	}
	return names, true
}
