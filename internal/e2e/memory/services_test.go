package memory

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What keeps running for conversations is in a program of its own, beside this one; who has copied only one of them
// is told.
func TestWithoutTheServices(t *testing.T) {
	m := standIn(t)
	program, err := os.ReadFile(m.Worker)
	m.Must(err)
	alone := filepath.Join(t.TempDir(), "nbs-worker")
	m.Must(os.WriteFile(alone, program, 0o700))
	m.Worker = alone
	r := m.Refused(6, "nbs-worker-services is not beside", "serve")
	rig.Equal(t, r.Stdout, "", "on stdout")
	m.OK("spawn", "alpha")
	m.Doctor(1).Finds(m.Team, "services.found", "warning", "nbs-worker-services is not beside")
	m.Must(os.WriteFile(alone+"-services", []byte("#!/bin/sh\necho nbs-worker v0.0.1\n"), 0o700))
	m.Doctor(1).Finds(m.Team, "services.found", "warning", `says that it is "nbs-worker v0.0.1", and this is "nbs-worker `)
	m.MustSay(m.NBS("doctor").Stdout, "Services\n")
}
