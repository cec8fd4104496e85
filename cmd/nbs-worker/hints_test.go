package main

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Two projects have an alpha: what a hint says about one does not touch the other.
func TestHintActsOnTheProjectThatWasNamed(t *testing.T) {
	m := standIn(t)
	other := m.folder("it's another")
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project, other}})
	m.ok("spawn", "alpha")
	m.ok("spawn", "alpha", "--root", other)
	here := m.session("alpha").RecordedPID
	there := func() session {
		m.dir = other
		defer func() { m.dir = m.world.Project }()
		return m.session("alpha")
	}
	before := there()
	r := m.refused(5, "runs already", "--root", other, "resume", "alpha")
	_, again, found := strings.Cut(r.stderr, "hint: to end it and start it anew")
	if !found {
		t.Fatalf("no such hint: %s", r)
	}
	m.pasteHints(result{stderr: "hint: to end it and start it anew" + again})
	if after := there(); after.RecordedPID == before.RecordedPID || !after.Running {
		t.Errorf("the agent was not started anew: before %+v, after %+v", before, after)
	}
	if s := m.session("alpha"); s.RecordedPID != here || !s.Running {
		t.Errorf("the agent of this project was touched: %+v, was pid %d", s, here)
	}
}
