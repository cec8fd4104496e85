package ops

import (
	"context"
	"fmt"
	"strconv"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/schedules"
)

// scheduleLines returns what would run, and when.
func scheduleLines(file *schedule.File) []ui.Line {
	return agent.Mapped(file.Entries, func(e *schedule.Entry) ui.Line {
		what := "a turn: " + strconv.Quote(e.Prompt)
		switch {
		case e.Send != nil:
			what = fmt.Sprintf("a message to %s: %s", e.Send.To, strconv.Quote(e.Send.Text))
		case e.Command:
			what = "the command " + strconv.Quote(e.Prompt)
		case e.PromptFile != "":
			what = "a turn with the text of " + strconv.Quote(e.PromptFile)
		}
		if e.Rights != (conversations.Rights{}) {
			what += "; what Claude may do: " + e.Rights.String()
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
	files := []ui.OwnFile{{Kind: schedule.SealKind, Name: schedules.Name, Text: text}}
	for _, e := range file.Entries {
		if e.PromptFile == "" {
			continue
		}
		prompt, err := e.ReadPromptFile(s.Project.Store.Project())
		if err != nil {
			return err
		}
		files = append(files, ui.OwnFile{Kind: schedule.PromptSealKind, Name: e.PromptFile, Text: prompt})
	}
	return f.AllowFiles(ctx, s, "schedules", "these schedules", scheduleLines(file), files)
}
