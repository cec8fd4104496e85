package agent

// The environment variables by which an agent's processes know each other.
const (
	LaunchVariable     = "NBS_LAUNCH"        // verb to launcher: the invocation to take up
	InvocationVariable = "NBS_INVOCATION_ID" // launcher to claude and all that it starts
	HandleVariable     = "NBS_HANDLE"
	RootVariable       = "NBS_ROOT"
)
