// Package agents has the commands that start, show, change and end agents.
package agents

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for agents.
var Commands = []ui.Command{
	{Name: "spawn", Make: newSpawnCmd},
	{Name: "fork", Make: newForkCmd},
	{Name: "adopt", Make: newAdoptCmd},
	{Name: "resume", Make: newResumeCmd},
	{Name: "set", Make: newSetCmd},
	{Name: "rename", Make: newRenameCmd},
	{Name: "reset", Make: newResetCmd},
	{Name: "session", Make: newSessionCmd},
	{Name: "list", Make: newListCmd},
	{Name: "stop", Make: newStopCmd},
	{Name: "dismiss", Make: newDismissCmd},
	{Name: "worktree", Make: newWorktreeCmd},
	{Name: "dash", Make: newDashCmd},
	{Name: "next", Make: newNextCmd},
	{Name: "attach", Make: newAttachCmd},
	{Name: "screen", Make: newScreenCmd},
	{Name: "logs", Make: newLogsCmd},
	{Name: "search", Make: newSearchCmd},
	{Name: "cost", Make: newCostCmd},
	{Name: "status-line", Make: newNeedsLineCmd},
	{Name: "run", Make: newRunCmd, Plumbing: true},
	{Name: "hook", Make: newHookCmd, Plumbing: true},
	{Name: "statusline", Make: newStatusLineCmd, Plumbing: true},
}
