package main

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
	program, err := os.ReadFile(m.worker)
	m.must(err)
	alone := filepath.Join(t.TempDir(), "nbs-worker")
	m.must(os.WriteFile(alone, program, 0o700))
	m.worker = alone
	r := m.refused(6, "nbs-worker-services is not beside", "serve")
	rig.Equal(t, r.stdout, "", "on stdout")
	m.ok("spawn", "alpha")
	m.doctor(1).finds(m, "services.found", "warning", "nbs-worker-services is not beside")
	m.must(os.WriteFile(alone+"-services", []byte("#!/bin/sh\necho nbs-worker v0.0.1\n"), 0o700))
	m.doctor(1).finds(m, "services.found", "warning", `says that it is "nbs-worker v0.0.1", and this is "nbs-worker `)
	m.mustSay(m.nbs("doctor").stdout, "Services\n")
}
