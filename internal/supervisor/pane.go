package supervisor

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
)

// paneStands tells, without asking tmux, that the pane of an agent is there. The launcher
// leads it: where that very process lives, its terminal does, which the server holds. The
// server must be the one that listens at its socket, neither stopped nor out of
// descriptors, so that a client would reach it. False says nothing: then tmux is asked.
func (s *Supervisor) paneStands(r *agent.Record) bool {
	if r.Process == nil || r.Process.Tmux == nil || !alive(r.Process.LauncherIdentity()) {
		return false
	}
	client, err := s.client(r)
	if err != nil {
		return false
	}
	listening, err := client.ServerPID()
	if err != nil || listening != r.Process.Tmux.ServerPID || serverGone(r) || proc.Halted(listening) {
		return false
	}
	files, err := proc.FilesOf(listening)
	return err == nil && !files.Full()
}
