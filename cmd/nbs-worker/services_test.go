package main

import (
	"os"
	"path/filepath"
	"strings"
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

// What a person has a runbook do, a person does, also where a step is carried out by the other program.
func TestRunbookThatRemembers(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha")
	m.writePage("note", "# Note\n\n```sh {step=note}\nnbs-worker memory on alpha\nnbs-worker memory add alpha 'The gate is of oak'\nnbs-worker memory list\nnbs-worker memory forget 1\n```\n")
	m.allowPage("note")
	m.mustSay(m.ok("runbook", "run", "note"), "\talpha\tdiscovery\tThe gate is of oak\n")
	rig.Equal(m, m.ok("memory", "list"), "", "list after the note was forgotten")
	m.ok("memory", "add", "alpha", "The hinge squeaks")
	m.writePage("leave", "# Leave\n\n```sh {step=leave}\nnbs-worker dismiss alpha\n```\n")
	m.allowPage("leave")
	r := m.nbs("runbook", "run", "leave")
	m.check(r.code == 0 && !strings.Contains(r.stderr, "what is remembered"), "%s", r)
	rig.Equal(m, m.ok("memory", "list"), "", "list after the agent was dismissed")
}
