package chat

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

type serveOptions struct {
	warm    int
	memory  int // MB
	idle    time.Duration
	metrics string

	chats  services.ChatOptions
	matrix services.MatrixOptions
	how    chatFlags
	who    whoFlags
}

func newServeCmd(f *ui.Factory) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve conversations, schedules and chats",
		Long: ui.WithCodes(`Runs in the foreground until it is interrupted, for one project. It answers the waiting texts of
conversations, runs the schedules (nbs-worker help schedule), observes what has its memory on
(nbs-worker help memory), and with a bot's token connects to Telegram (nbs-worker help
telegram) and to Matrix (nbs-worker help matrix). It keeps the claudes of the conversations that
were used last, so that their next turn needs no start. nbs-worker ask uses serve while it runs,
and works the same without it.

Details:

In the chats Claude may do what --permission-mode and --allowed-tools permit, from the next
message on, also in chats that were begun otherwise: nbs-worker help permissions.

Claude knows what schedules and nbs-worker tell have sent to a chat. With --enrich it also gets
with each text the local time and the project, the observations of the chat that fit the text,
and in a new session those of yesterday; the chat's memory must be on for the last two.

A turn that is held because Claude is not logged in, its API was down or serve was killed is tried
again when serve starts, at each new text of its conversation, and now and then; after a login or an
outage also when Claude has answered in another conversation.

What Claude says by itself, because a background task has ended, is told to its chat as a message
of its own. A background task that is ended with its claude is named there.

A chat that has cost --daily-limit since midnight is answered again on the next day; until then it
is told so. What runs by then is not stopped, and may cost more: a turn that was begun, and what
Claude does by itself after a background task. Both count; /stop ends them.

All conversations get the environment of serve, including its API key. When serve ends, its
claudes end too; the next process that uses a conversation looks up an answer that was cut short.

serve reports its health at /healthz and metrics for Prometheus at /metrics: on its socket, and
with --metrics on loopback. nbs-worker export systemd writes a service for it.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Annotations: ui.Usual("permission-mode telegram-token-file"),
		Example: `  nbs-worker serve
  nbs-worker serve --warm 8 --metrics 127.0.0.1:9321
  nbs-worker serve --telegram-token-file ~/.telegram --telegram-chat 1234`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runServe(cmd.Context(), f, o), "serve")
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.warm, "warm", 4, "maximum number of claudes to keep")
	flags.IntVar(&o.memory, "memory", 2000, "maximum memory of all kept claudes, in MB")
	flags.DurationVar(&o.idle, "idle", 30*time.Minute, "end a claude that was not used for this time; one with background tasks after 6h")
	flags.StringVar(&o.metrics, "metrics", "", "also serve health and metrics at this loopback address: 127.0.0.1:PORT")
	o.how.bind(cmd, "telegram-")
	o.bindTelegram(cmd)
	bindMatrix(flags, &o.matrix)
	cmd.AddCommand(newServeSetupCmd(f), newServeCheckCmd(f))
	return cmd
}

func (o *serveOptions) bindTelegram(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.chats.TokenFile, "telegram-token-file", "", "serve the chats of the bot whose token is in this file (or in $NBS_TELEGRAM_TOKEN)")
	flags.Int64SliceVar(&o.chats.Allowed, "telegram-chat", nil, "number of a chat to serve (nbs-worker help telegram); repeatable")
	o.who.bind(cmd, "telegram-")
	flags.StringVar(&o.chats.URL, "telegram-url", "", "address of the Bot API, for tests")
	_ = flags.MarkHidden("telegram-url")
}

func runServe(ctx context.Context, f *ui.Factory, o *serveOptions) error {
	asked := services.ServeOptions{Chats: o.chats, Matrix: o.matrix, Warm: o.warm, Memory: uint64(max(0, o.memory)) << 20, Idle: o.idle, Say: f.Say}
	s, err := f.Planner() // a refused caller learns nothing about a file
	if err != nil {
		return err
	}
	if asked.Chats.Settings, err = o.how.parse(f, s); err != nil {
		return err
	}
	if asked.Chats.Rights, err = o.how.rights.parse(); err != nil {
		return err
	}
	if asked.Chats.Writers, asked.Chats.Agents, err = o.who.parse(); err != nil {
		return err
	}
	asked.Chats.Given, asked.Chats.Answerers = o.how.given, o.who.answers
	if asked.Bands, err = ui.ContextBands(); err != nil {
		return err
	}
	if asked.Metrics, err = o.listen(ctx); err != nil {
		return err
	}
	return services.Serve(ctx, asked, f.NewProject)
}

// listen opens the address of the metrics, if one is given. Errors: BadInput.
func (o *serveOptions) listen(ctx context.Context) (net.Listener, error) {
	if o.metrics == "" {
		return nil, nil //nolint:nilnil // none was asked for
	}
	host, _, err := net.SplitHostPort(o.metrics)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fail.Errorf(fail.BadInput, "--metrics %s is not a loopback address", human.Quote(o.metrics)).Hint("for example: --metrics 127.0.0.1:9321")
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return listener, nil
}
