package cli

import "github.com/spf13/cobra"

// Tree returns the commands for what reads them without running one, such as the
// generator of the man pages.
func Tree() *cobra.Command {
	root := newRootCmd(&factory{})
	root.InitDefaultCompletionCmd() // which a run adds by itself; it writes to where stdout is then
	return root
}
