package cli

import (
	"context"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/recovery/vigil"
)

// runAllowPolicy shows a policy file of the project, and asks.
func runAllowPolicy(ctx context.Context, f *factory, path string) error {
	s, err := f.supervisor()
	if err == nil {
		err = s.CheckPerson("allow")
	}
	if err != nil {
		return err
	}
	file, err := openPolicy(s, path)
	if err != nil {
		return err
	}
	shown := agent.Handle(path)
	if file.Name == "" || s.Store.Allowed().Check(vigil.SealKind, file.Name, file.Text) == nil {
		return f.show(outcome{handle: shown, words: "is allowed already"}, "")
	}
	if _, err := fmt.Fprintf(f.streams.Out, "%s\n", agent.Legible(string(file.Text))); err != nil {
		return err
	}
	if !f.confirmed("\nallow a watch to do so? [y/N] ") {
		return agent.Errorf(agent.Failed, "it was not allowed; nothing was changed")
	}
	if err := s.AllowFile(ctx, vigil.SealKind, file.Name, file.Text); err != nil {
		return err
	}
	return f.show(outcome{handle: shown, words: "allowed"}, "")
}
