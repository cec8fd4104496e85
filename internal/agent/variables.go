package agent

import "nbs-worker/internal/fail"

// The environment variables that identify an agent's processes.
const (
	LaunchVariable     = "NBS_LAUNCH"        // verb to launcher: the invocation to take up
	InvocationVariable = "NBS_INVOCATION_ID" // launcher to claude and all that it starts
	HandleVariable     = "NBS_HANDLE"
	RootVariable       = "NBS_ROOT"
	TurnVariable       = "NBS_TURN" // runner of a headless turn to its claude and all that it starts: the invocation
)

// ErrSuperseded ends a start that is no longer the agent's: the record names another start, or the launch file of
// this one is gone.
var ErrSuperseded error = fail.Errorf(fail.Conflict, "another command has started or stopped the agent")
