package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
)

// The code says whether a script can go on: nobody needs anything, a repair helps, a person does.
func TestTriageEndsByTheWorst(t *testing.T) {
	t.Parallel()
	never := run("triage", "--root", newProject(t, uitest.Record("alpha"))).want(t, fail.Partial)
	if !strings.HasPrefix(never.out, "alpha\tmissing\t3\tnever started\tnbs-worker --root ") || !strings.HasSuffix(never.out, " resume alpha\n") {
		t.Errorf("stdout is\n%s", never.out)
	}
	run("triage", "--root", newProject(t)).want(t, 0)
	run("triage", "nobody", "--root", newProject(t)).want(t, fail.NotFound, "nobody")
	run("triage", "--patience", "0s", "--root", newProject(t)).want(t, fail.BadInput, "--patience 0s must be more than 0")
}
