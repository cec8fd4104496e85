package chat

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/team/doctor"
)

func newServeCheckCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check everything that the bot needs",
		Long: ui.WithCodes(`Checks what nbs-worker serve setup telegram has set up, without a message to a chat: the token, a
webhook, each chat, who may answer what agents ask, whether the bot reads all that is written in
groups, whether Claude trusts the folder and has an account, the schedules, messages that are
held, and whether serve runs, by itself or as a unit of systemd. serve gets no message while the
bot has a webhook; on a terminal, check asks whether to delete it. Whether a login has expired is
not known until a turn is taken.

Each finding has the reason and the command that fixes it, as those of nbs-worker doctor. check
ends with 0 if there is nothing worse than a note, with 6 if claude is missing or unfit,
otherwise with 1.`,
			fail.Failed, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker serve check
  nbs-worker serve check --json | jq '.checks[]|select(.level!="ok")'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServeCheck(cmd.Context(), f) },
	}
	return f.WithJSON(cmd)
}

func runServeCheck(ctx context.Context, f *ui.Factory) error {
	checkup, err := checkBot(ctx, f)
	if err == nil {
		err = f.ShowOne(ui.Outcome{JSON: wire.NewCheckup(checkup), Print: func() error { return f.PrintCheckup(checkup, true, "") }})
	}
	if err != nil {
		return ui.Looked(err, "serve check")
	}
	return ui.OfCheckup(checkup)
}

func checkBot(ctx context.Context, f *ui.Factory) (doctor.Checkup, error) {
	s, err := f.Planner()
	if err != nil {
		return doctor.Checkup{}, err
	}
	bands, err := ui.ContextBands()
	if err != nil {
		return doctor.Checkup{}, err
	}
	service := export.Team{Project: s.Project.Store.Project()}.ServeName()
	check := services.BotCheck{Supervisor: s, Service: service, Doctor: doctor.Options{Bands: bands, Version: f.Release()}}
	if f.OnTerminal() && !f.JSON {
		check.Agreed = func(ctx context.Context, webhook string) (bool, error) {
			f.Line("another program has Telegram send the bot's messages to " + human.Quote(webhook) + "; serve would get none")
			return f.Dialog().Yes(ctx, "Delete this webhook? [y/N] ")
		}
	}
	return check.Run(ctx)
}
