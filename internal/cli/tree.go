package cli

import "github.com/spf13/cobra"

// Tree returns the commands for what reads them without running one, such as the
// generator of the man pages.
func Tree() *cobra.Command { return newRootCmd(&factory{}) }
