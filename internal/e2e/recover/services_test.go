package recover

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What a person has a runbook do, a person does, also where a step is carried out by the other program.
func TestRunbookThatRemembers(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.WritePage("note", "# Note\n\n```sh {step=note}\nnbs-worker memory on alpha\nnbs-worker memory add alpha 'The gate is of oak'\nnbs-worker memory list\nnbs-worker memory forget 1\n```\n")
	m.AllowPage("note")
	m.MustSay(m.OK("runbook", "run", "note"), "\talpha\tdiscovery\tThe gate is of oak\n")
	rig.Equal(m, m.OK("memory", "list"), "", "list after the note was forgotten")
	m.OK("memory", "add", "alpha", "The hinge squeaks")
	m.WritePage("leave", "# Leave\n\n```sh {step=leave}\nnbs-worker dismiss alpha\n```\n")
	m.AllowPage("leave")
	r := m.NBS("runbook", "run", "leave")
	m.Check(r.Code == 0 && !strings.Contains(r.Stderr, "what is remembered"), "%s", r)
	rig.Equal(m, m.OK("memory", "list"), "", "list after the agent was dismissed")
}
