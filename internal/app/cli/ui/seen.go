package ui

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
	"nbs-worker/internal/team/caller"
)

// hintsOf returns the hints of an error. For an agent that is not here, a host that has shown it is the better guess than
// a new agent or another name.
func (f *Factory) hintsOf(err error) []string {
	hints := fail.HintsOf(err)
	absent, is := errors.AsType[*store.AbsentError](err)
	if !is || f.Streams.Host != "" {
		return hints
	}
	for i, hint := range hints {
		if strings.HasPrefix(hint, "did you mean ") || strings.HasPrefix(hint, "to see the agents: ") {
			if seen := f.seenAtHosts(absent.Handle); seen != "" {
				hints[i] = seen
			}
			break
		}
	}
	return hints
}

// seenAtHosts says at which hosts an agent was when list was last shown. Only a person hears of hosts.
func (f *Factory) seenAtHosts(handle agent.Handle) string {
	home, err := trust.HomeOf(os.Environ())
	if err != nil {
		return ""
	}
	known, _ := host.Load(os.Environ())
	var names []string
	var last time.Time
	for _, h := range known {
		drawer := views.Of(home, h.Name, h.Place())
		for _, line := range [][]string{{"list"}, {"list", "--json"}} {
			if view := drawer.Last(line); hasAgent(view.Text, handle) {
				names, last = append(names, string(handle)+"@"+h.Name), view.At
				break
			}
		}
	}
	switch {
	case len(names) == 0 || !f.isPerson():
		return ""
	case len(names) == 1:
		return "did you mean " + names[0] + "? It was seen there " + human.Ago(last, f.Now())
	default:
		return "did you mean " + strings.Join(names, " or ") + "?"
	}
}

// isPerson reports whether the caller is known to be no agent.
func (f *Factory) isPerson() bool {
	if f.Opened == nil {
		return false
	}
	project, err := f.observed(f.Opened)
	if err != nil {
		return false
	}
	by, err := caller.Find(project)
	return err == nil && by.CheckPerson("use other machines") == nil
}

// hasAgent reports whether list has shown an agent, as a table or as JSON.
func hasAgent(shown string, handle agent.Handle) bool {
	var rows []struct {
		Handle agent.Handle `json:"handle"`
	}
	if json.Unmarshal([]byte(shown), &rows) == nil {
		for _, row := range rows {
			if row.Handle.Same(handle) {
				return true
			}
		}
		return false
	}
	for line := range strings.Lines(shown) {
		if words := strings.Fields(line); len(words) > 0 && handle.Same(agent.Handle(words[0])) {
			return true
		}
	}
	return false
}
