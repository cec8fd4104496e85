package supervisor

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// checkRoom refuses a start that the user's other machine, which asks for it, leaves no room for.
func (s *Supervisor) checkRoom(starts agent.Handle, isNew bool) error {
	room := s.Room
	if room == (agent.Room{}) {
		return nil
	}
	all, err := s.Project.Store.Records()
	if err != nil {
		return err
	}
	agents, running := 1, 1 // with the one that starts
	for _, one := range all {
		if one.Handle.Same(starts) {
			continue
		}
		agents++
		if one.Err != nil || one.Record.LaunchDesired() == agent.DesiredRunning {
			running++
		}
	}
	full := ""
	switch {
	case isNew && room.Agents > 0 && agents > room.Agents:
		full = "its limit there of " + human.Count(room.Agents, "agent") + " is reached"
	case room.Running > 0 && running > room.Running:
		full = "its limit there of " + human.Count(room.Running, "running agent") + " is reached"
	default:
		return nil
	}
	return fail.Errorf(fail.Held, "hosts.yaml of your other machine is against it: %s", full).
		Hint("to see the limits, where you typed this: nbs-worker host list")
}
