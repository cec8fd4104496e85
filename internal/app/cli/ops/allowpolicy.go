package ops

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/team/recovery/watch"
)

// policyLines returns what a watch would do under a policy.
func policyLines(file watch.File) ([]ui.Line, error) {
	unchecked := func(string, string, []byte) error { return nil } // a person is reviewing it
	policy, err := file.Policy(watch.Default(), unchecked)
	if err != nil {
		return nil, err
	}
	lines := []ui.Line{{"Repairs", fmt.Sprintf("up to level %d, at most %d in an hour", policy.MaxLevel, policy.PerHour)}}
	if policy.Notify != nil {
		lines = append(lines, ui.Line{"Runs", strings.Join(agent.Mapped(policy.Notify.Program.Argv, strconv.Quote), " ")})
	}
	return lines, nil
}

// runAllowPolicy shows a policy file of the project, and asks for permission.
func runAllowPolicy(ctx context.Context, f *ui.Factory, path string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	file, err := openPolicy(s, path)
	if err != nil {
		return err
	}
	lines, err := policyLines(file)
	if err != nil {
		return err
	}
	var files []ui.OwnFile
	if file.Name != "" { // in the project
		files = []ui.OwnFile{{Kind: watch.SealKind, Name: file.Name, Text: file.Text}}
	}
	return f.AllowFiles(ctx, s, path, "this policy", lines, files)
}
