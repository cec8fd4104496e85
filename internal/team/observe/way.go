package observe

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/requests"
)

// WayToAnswer returns how a person answers what an agent asks, for the end of a hint: by a command if a hook of the
// agent waits for the answer (package requests), otherwise in its terminal.
func (o *Project) WayToAnswer(handle agent.Handle) string {
	if o.IsRequested(handle) {
		return "; to see how: nbs-worker requests " + string(handle)
	}
	return " in its terminal: nbs-worker attach " + string(handle)
}

// IsRequested reports whether a hook of an agent waits for the answer to what the agent asks.
func (o *Project) IsRequested(handle agent.Handle) bool {
	open, err := o.Store.Requests().List()
	return err == nil && slices.ContainsFunc(open, func(r requests.Request) bool { return r.Handle.Same(handle) })
}
