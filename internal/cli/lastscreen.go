package cli

import (
	"io"
	"strings"

	"nbs-worker/internal/agent"
)

// runLastScreen prints the last words of an agent that has ended. They are what programs have
// drawn, so nobody is sent to a tool that would hand them to the terminal as they are.
func runLastScreen(f *factory, args []string) error {
	if len(args) != 1 {
		return agent.Errorf(agent.BadInput, "session: --last-screen takes one handle, %d given", len(args)).
			Hint("nbs-worker session %s --last-screen", args[0])
	}
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "session", args[0])
	}
	r, err := s.Store.Load(agent.Handle(args[0]))
	if err != nil {
		return failed(err, "session", args[0])
	}
	exit := r.LastExit()
	if exit == nil || strings.TrimSpace(exit.LastScreen) == "" {
		return failed(agent.Errorf(agent.NotFound, "no last screen is recorded").
			Hint("what is on its screen now: nbs-worker screen %s", r.Handle).
			Hint("how its last start ended: nbs-worker session %s", r.Handle), "session", args[0])
	}
	_, err = io.WriteString(f.streams.Out, sanitize(strings.TrimRight(exit.LastScreen, "\n")+"\n"))
	return failed(err, "session", args[0])
}
