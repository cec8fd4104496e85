// Package crew has the commands for a team as a whole: its file, its worktrees, and what its agents have changed.
package crew

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for a team.
var Commands = []ui.Command{
	{Name: "changes", Make: newChangesCmd},
	{Name: "up", Make: newUpCmd},
	{Name: "down", Make: newDownCmd},
	{Name: "diff", Make: newDiffCmd},
	{Name: "restart", Make: newRestartCmd},
	{Name: "team", Make: newTeamCmd},
}
