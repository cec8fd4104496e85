package ui

import (
	"context"
	"fmt"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/supervisor"
)

// OwnFile is a file of the project that runs only with the user's seal.
type OwnFile struct {
	Kind, Name string
	Text       []byte
}

// NotAllowed is the error for the answer no.
func NotAllowed() error { return fail.Errorf(fail.Failed, "not allowed; nothing was changed") }

// AllowFiles shows the files that are not allowed, and asks for permission. lines say what would run. They come last,
// right above the question: the files may be long.
func (f *Factory) AllowFiles(ctx context.Context, s *supervisor.Supervisor, named, what string, lines []Line, files []OwnFile) error {
	done := Outcome{Handle: agent.Handle(named), Words: "allowed"}
	files = slices.DeleteFunc(files, func(file OwnFile) bool {
		return s.Project.Store.Allowed().Check(file.Kind, file.Name, file.Text) == nil
	})
	if len(files) == 0 {
		done.Words = "is allowed already"
		return f.Show(done, "")
	}
	for _, file := range files {
		if err := f.showFile(s, file); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(f.Streams.Out, "this would run:\n\n"); err != nil {
		return err
	}
	if err := f.PrintLines(lines, 0); err != nil {
		return err
	}
	if err := f.Confirm(ctx, "\nallow "+what+"? [y/N] ", NotAllowed()); err != nil {
		return err
	}
	for _, file := range files {
		if err := s.AllowFile(ctx, file.Kind, file.Name, file.Text); err != nil {
			return err
		}
	}
	return f.Show(done, "")
}

// showFile prints a file; one that was allowed before with what has changed since.
func (f *Factory) showFile(s *supervisor.Supervisor, file OwnFile) error {
	text, heading := string(file.Text), ""
	if before := s.Project.Store.Allowed().Sealed(file.Kind, file.Name); before != nil {
		text, heading = human.Diff(string(before), text), ", with what has changed since you allowed it"
	}
	_, err := fmt.Fprintf(f.Streams.Out, "%s%s:\n\n%s\n\n", human.Legible(file.Name), heading, human.Legible(text))
	return err
}
