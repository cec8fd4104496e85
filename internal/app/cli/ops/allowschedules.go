package ops

import (
	"context"
	"fmt"
	"strconv"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/schedules"
)

// shownFile is a file for a person to review.
type shownFile struct {
	kind, name string
	text       []byte
}

// printRuns prints what would run, right above the question: the file above may be long.
func printRuns(f *ui.Factory, lines []ui.Line) error {
	if _, err := fmt.Fprint(f.Streams.Out, "\nthis would run:\n\n"); err != nil {
		return err
	}
	return f.PrintLines(lines, 0)
}

// scheduleLines returns what would run, and when.
func scheduleLines(file *schedule.File) []ui.Line {
	return agent.Mapped(file.Entries, func(e *schedule.Entry) ui.Line {
		what := "a turn: " + strconv.Quote(e.Prompt)
		switch {
		case e.Send != nil:
			what = fmt.Sprintf("a message to %s: %s", e.Send.To, strconv.Quote(e.Send.Text))
		case e.PromptFile != "":
			what = "a turn with the text of " + strconv.Quote(e.PromptFile)
		}
		if e.DeliverTo != "" {
			what += "; the answer goes to " + strconv.Quote(e.DeliverTo)
		}
		return ui.Line{e.Name, e.Times.String() + ": " + what}
	})
}

// runAllowSchedules shows the project's schedules and their prompt files, and asks for permission.
func runAllowSchedules(ctx context.Context, f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	text, err := s.Project.Store.Schedules().Text()
	if err != nil {
		return err
	}
	file, err := schedule.Parse(schedules.Name, text)
	if err != nil {
		return err
	}
	all := []shownFile{{schedule.SealKind, schedules.Name, text}}
	for _, e := range file.Entries {
		if e.PromptFile == "" {
			continue
		}
		prompt, err := e.ReadPromptFile(s.Project.Store.Project())
		if err != nil {
			return err
		}
		all = append(all, shownFile{schedule.PromptSealKind, e.PromptFile, prompt})
	}
	var asked []shownFile
	for _, one := range all {
		if s.Project.Store.Allowed().Check(one.kind, one.name, one.text) != nil {
			asked = append(asked, one)
		}
	}
	if len(asked) == 0 {
		return f.Show(ui.Outcome{Handle: "schedules", Words: "are allowed already"}, "")
	}
	for _, one := range asked {
		if _, err := fmt.Fprintf(f.Streams.Out, "%s:\n\n%s\n", human.Legible(one.name), human.Legible(string(one.text))); err != nil {
			return err
		}
	}
	if err := printRuns(f, scheduleLines(file)); err != nil {
		return err
	}
	if !f.Confirmed("\nallow these schedules? [y/N] ") {
		return fail.Errorf(fail.Failed, "not allowed; nothing was changed")
	}
	for _, one := range asked {
		if err := s.AllowFile(ctx, one.kind, one.name, one.text); err != nil {
			return err
		}
	}
	return f.Show(ui.Outcome{Handle: "schedules", Words: "allowed"}, "")
}
