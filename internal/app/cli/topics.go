package cli

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
)

func newExitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Explain the exit codes",
		Long: ui.WithCodes(`Every command ends with one of these codes. They are part of the interface and do not
change. 0 means that the result was observed, not that something was sent. With several
handles: 7 when some succeeded, else the code that all failures share, or 1.`, agent.Mapped(ui.ExitCodes, func(row ui.ExitCode) fail.Kind { return row.Code })...),
	}
}

func newEnvironmentTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "List the environment variables that nbs-worker reads and sets",
		Long: `Read:
  NBS_ROOT             the project root, as --root
  NBS_TMUX_SOCKET      the tmux server for new agents, as --tmux-socket
  NBS_CLAUDE           path of the claude program (default: claude on the PATH)
  NBS_MODEL            default of spawn --model
  NBS_PERMISSION_MODE  default of spawn --permission-mode (else bypassPermissions)
  NBS_CONTEXT_BANDS    limits for what is left of a context, in percent: low up to the
                       first, critical below the second, at the floor below the third
                       (25,15,10)
  CLAUDE_CONFIG_DIR    Claude's configuration; recorded at spawn, used at each resume
  XDG_STATE_HOME       its nbs-worker/ is the user's state, where no project writes: the
                       key of the seals, limits.json, the archive of kept transcripts
                       (transcripts/), the heads of journals (default: ~/.local/state)
  XDG_RUNTIME_DIR      its nbs-worker/ is where the environment of a start is handed over
                       (if it is not a private folder: run/ in the user's state)
  NO_COLOR             no colours

The environment of spawn and resume reaches claude through a private file that is read once
and removed. The variables that Claude sets in the shells of its tools do not: with them, an
agent that another agent starts would write no transcript. The environment is not recorded:
export ANTHROPIC_API_KEY and the like for each call, also from cron. spawn --env refuses
variables that make other code run than a record shows (LD_*, BUN_*, NODE_OPTIONS, BASH_ENV,
PATH, GIT_SSH, IS_SANDBOX, CLAUDE_CODE_SANDBOXED and the like): they come from the caller's
environment or not at all.

A call by an agent is recognized by the processes above the command. What an agent starts
gets the environment of that agent's own start, unless that agent may manage. limits.json in
the user's state bounds what agents may start by themselves. A person writes it:
{"agents": 50, "depth": 3}, agents in a project, and depth in a line of agents from a
person.

Set for claude and all that it starts:
  NBS_HANDLE           the agent's handle
  NBS_ROOT             the project root
  NBS_INVOCATION_ID    this start of the agent; it marks what the start leaves behind
  NBS_STATE            the user's state, whatever XDG_STATE_HOME is by then
  NBS_RUNTIME          where launches are handed over, whatever XDG_RUNTIME_DIR is by then

Set by spawn and resume for the launcher only; do not set it yourself:
  NBS_LAUNCH           the start that the launcher takes up`,
	}
}
