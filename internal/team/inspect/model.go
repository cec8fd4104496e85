package inspect

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/team/observe"
)

// RunningModel is the model that a live agent runs: as Claude's status line named it last, or before that as the command
// line of the process does; "" when it is not known. The record has the model for the next start.
func RunningModel(s *observe.Sight) agent.Model {
	if !s.Status.SamePID {
		return ""
	}
	if gauge := s.Record.GaugeOf(s.Report); gauge != nil && gauge.Model != "" {
		return gauge.Model
	}
	cmdline, err := proc.Cmdline(s.Record.PID)
	if err != nil {
		return ""
	}
	args, _ := claude.ReadArgs(cmdline)
	model, err := agent.ParseModel(args.Model)
	if err != nil {
		return ""
	}
	return model
}
