package vigil

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
)

// Server is where a tmux server listens, of which some were lost of late.
type Server struct {
	Lost []Loss    `json:"lost,omitempty"` // of the last lossWindow, oldest first
	Held time.Time `json:"held,omitzero"`  // since when who is lost with it is not brought back; zero: who is, is
}

// Loss is a tmux server that has ended with agents in it.
type Loss struct {
	agent.Identified

	At time.Time `json:"at"`
}

// With so many losses of a server within so long, what it is started for ends it again.
const (
	lossesHeld = 3
	lossWindow = 10 * time.Minute
)

// isFree tells whether the next repair of an agent is charged to nobody: its tmux server has ended
// under it, and it was not tried yet to bring it back from there.
func (v *Vigil) isFree(c *charge) bool {
	return c.status.Cause == agent.LostTmux && c.invocation != "" &&
		!slices.ContainsFunc(v.memory.Repairs, func(a Attempt) bool { return a.Lost == c.invocation })
}

// isHeldBack tells whether an agent is not brought back because its tmux server is lost again and again,
// however it ended itself: to start it would start the server.
func (v *Vigil) isHeldBack(c *charge) bool {
	return c.status.Down() && c.tmux != nil && !v.memory.Servers[c.tmux.Path].Held.IsZero()
}

// noteServer keeps the server with which an agent was lost. An agent that was started there since its
// server is held was so by a person: then all are brought back.
func (v *Vigil) noteServer(c *charge, now time.Time) {
	if c.tmux == nil {
		return
	}
	s := v.memory.Servers[c.tmux.Path]
	held := !s.Held.IsZero()
	if held && !c.status.Down() && !c.started.Before(s.Held) {
		delete(v.memory.Servers, c.tmux.Path)
		return
	}
	if c.status.Cause != agent.LostTmux {
		return
	}
	s.lose(agent.Identified{PID: c.tmux.ServerPID, StartTicks: c.tmux.ServerStartTicks}, c.ended, now)
	if !held && len(s.Lost) >= lossesHeld {
		s.Held = now.Truncate(time.Second) // as starts are recorded
		v.sayServer(c.tmux.Path, now)
	}
	if v.memory.Servers == nil {
		v.memory.Servers = map[string]Server{}
	}
	v.memory.Servers[c.tmux.Path] = s
}

// lose adds a server that is not known to be lost yet; one that was lost long ago is none of late.
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

// sayServer tells a person once of a server that is lost again and again: to tell it of each agent
// would say the same of all.
func (v *Vigil) sayServer(path string, now time.Time) {
	words := fmt.Sprintf("the tmux server at %s died %d times in 10 minutes: who was lost with it is not brought back in the next hour, or until one is resumed there", agent.Quote(path), lossesHeld)
	v.say(SawHeld, "", words)
	v.pendAt(&charge{}, Holds, words, now)
}

func (m *Memory) forgetServers(now time.Time) {
	for path, s := range m.Servers {
		s.Lost = slices.DeleteFunc(slices.Clone(s.Lost), func(l Loss) bool { return !isOfLate(l.At, now) })
		if s.Held.After(now) || now.Sub(s.Held) >= window {
			s.Held = time.Time{}
		}
		m.Servers[path] = s
	}
	maps.DeleteFunc(m.Servers, func(_ string, s Server) bool { return len(s.Lost) == 0 && s.Held.IsZero() })
}
