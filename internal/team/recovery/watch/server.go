package watch

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// Server is the state of one tmux socket, with the servers that were recently lost on it.
type Server struct {
	Lost []Loss    `json:"lost,omitempty"` // of the last lossWindow, oldest first
	Held time.Time `json:"held,omitzero"`  // since when agents that are lost with it are not restarted; zero: they are
}

// Loss is a tmux server that has ended with agents in it.
type Loss struct {
	agent.Identified

	At time.Time `json:"at"`
}

// After lossesHeld losses within lossWindow, the agents that a server is started for are assumed to end it.
const (
	lossesHeld = 3
	lossWindow = 10 * time.Minute
)

// isFree reports whether the next repair of an agent is not counted for it: the agent ended with its tmux server, and
// no repair of that start was tried yet.
func (w *Watch) isFree(c *watchedAgent) bool {
	return c.status.Cause == agent.LostTmux && c.invocation != "" &&
		!slices.ContainsFunc(w.state.Repairs, func(a Attempt) bool { return a.Lost == c.invocation })
}

// isHeld reports whether an agent is not restarted, however it ended, because its tmux server is lost repeatedly:
// starting the agent would start the server.
func (w *Watch) isHeld(c *watchedAgent) bool {
	return c.status.Down() && c.tmux != nil && !w.state.Servers[c.tmux.Path].Held.IsZero()
}

// noteServer records the server that an agent was lost with. While a server is held, only a person starts an agent
// there; after that, all agents are restarted.
func (w *Watch) noteServer(c *watchedAgent, now time.Time) {
	if c.tmux == nil {
		return
	}
	s := w.state.Servers[c.tmux.Path]
	held := !s.Held.IsZero()
	if held && !c.status.Down() && !c.started.Before(s.Held) {
		delete(w.state.Servers, c.tmux.Path)
		return
	}
	if c.status.Cause != agent.LostTmux {
		return
	}
	s.lose(agent.Identified{PID: c.tmux.ServerPID, StartTicks: c.tmux.ServerStartTicks}, c.ended, now)
	if !held && len(s.Lost) >= lossesHeld {
		s.Held = now.Truncate(time.Second) // in whole seconds, as starts are recorded
		w.sayServer(c.tmux.Path, now)
	}
	if w.state.Servers == nil {
		w.state.Servers = map[string]Server{}
	}
	w.state.Servers[c.tmux.Path] = s
}

// lose records the loss of a server once, unless it is older than lossWindow.
func (s *Server) lose(server agent.Identified, at, now time.Time) {
	if at.IsZero() {
		at = now
	}
	known := slices.ContainsFunc(s.Lost, func(l Loss) bool { return l.Identified == server })
	if !known && isOfLate(at, now) {
		s.Lost = append(s.Lost, Loss{Identified: server, At: at})
	}
}

func isOfLate(at, now time.Time) bool { return !at.After(now) && now.Sub(at) < lossWindow }

// sayServer reports a repeatedly lost server once: a notice for each agent would repeat the same fact.
func (w *Watch) sayServer(path string, now time.Time) {
	words := fmt.Sprintf("the tmux server at %s died %d times in 10 minutes: the agents lost with it are not resumed for an hour, or until one is resumed there", human.Quote(path), lossesHeld)
	w.say(SawHeld, "", words)
	w.pendAt(&watchedAgent{}, Holds, words, now)
}

func (m *State) forgetServers(now time.Time) {
	for path, s := range m.Servers {
		s.Lost = slices.DeleteFunc(slices.Clone(s.Lost), func(l Loss) bool { return !isOfLate(l.At, now) })
		if s.Held.After(now) || now.Sub(s.Held) >= window {
			s.Held = time.Time{}
		}
		m.Servers[path] = s
	}
	maps.DeleteFunc(m.Servers, func(_ string, s Server) bool { return len(s.Lost) == 0 && s.Held.IsZero() })
}
