package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

type serveOptions struct {
	warm    int
	memory  int // MB
	idle    time.Duration
	metrics string

	chats      ChatOptions
	promptFile string
	model      string
	contextCmd string
}

func newServeCmd(f *factory) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep conversations warm, and answer what waits in them",
		Long: withCodes(`Runs in the foreground until it is interrupted, for one project. It keeps the claude of each
conversation that was used last for the next turn, which then costs no start, and answers
what was accepted while nobody was there, and what is to be tried again. nbs-worker ask uses
it where it runs, and works the same without it. At the start it says of each
conversation whether it was restored.

What it runs has its environment: an API key that it is started with is that of all
conversations. When it ends, it ends the claudes that it keeps; what was being answered is looked
up by who comes next. A process that is warm has the lease of its conversation.

With the token of a bot it is the bridge to the chats of Telegram that are allowed, each a
conversation, telegram:ID: --telegram-chat names one; without any nobody is served, and the
number of a chat that writes is told here. A chat has /new, /status, /agents, /send and
/resume. The token is in a file that only you can read, or in NBS_TELEGRAM_TOKEN. A lost
conversation is begun anew there, and the chat is told. nbs-worker tell writes to a chat.

It runs what is due by .nbs/schedules.yaml, once that is allowed: nbs-worker schedule --help.

It tells its health at /healthz and what it has done at /metrics, for Prometheus: on its socket, and with
--metrics on loopback.

A service unit: nbs-worker export systemd.`, agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held),
		Example: `  nbs-worker serve
  nbs-worker serve --warm 8 --metrics 127.0.0.1:9321
  nbs-worker serve --telegram-token-file ~/.config/nbs-worker/telegram --telegram-chat 123456789`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(runServe(cmd.Context(), f, o), "serve")
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.warm, "warm", 4, "how many claudes are kept at most")
	flags.IntVar(&o.memory, "memory", 2000, "how many MB they may have in all")
	flags.DurationVar(&o.idle, "idle", 30*time.Minute, "end one that was not used for so long")
	flags.StringVar(&o.metrics, "metrics", "", "tell health and metrics at this address on loopback too: 127.0.0.1:PORT")
	flags.StringVar(&o.chats.TokenFile, "telegram-token-file", "", "serve the chats of the bot whose token is in this file (or in $NBS_TELEGRAM_TOKEN)")
	flags.Int64SliceVar(&o.chats.Allowed, "telegram-chat", nil, "a chat that is served, by its number; may be repeated")
	flags.StringVar(&o.chats.URL, "telegram-url", "", "where the Bot API is, for tests")
	flags.StringVar(&o.chats.Prompt, "system-prompt", "", "what Claude is in chats that begin, or are reset")
	flags.StringVar(&o.promptFile, "system-prompt-file", "", "read the system prompt from this file")
	flags.StringVar(&o.model, "model", "", "of chats that begin, or are reset")
	flags.StringVar(&o.contextCmd, "context-cmd", "", "a program whose output Claude is told beside each text of a chat")
	_ = flags.MarkHidden("telegram-url")
	cmd.MarkFlagsMutuallyExclusive("system-prompt", "system-prompt-file")
	return cmd
}

func runServe(ctx context.Context, f *factory, o *serveOptions) error {
	if f.services == nil {
		return f.handOver(ctx)
	}
	asked := ServeOptions{Chats: o.chats, Warm: o.warm, Memory: uint64(max(0, o.memory)) << 20, Idle: o.idle, Say: f.say}
	var err error
	if o.promptFile != "" {
		if asked.Chats.Prompt, err = readText("system prompt", o.promptFile, f.streams.In); err != nil {
			return err
		}
	}
	if o.model != "" {
		if asked.Chats.Model, err = agent.ParseModel(o.model); err != nil {
			return err
		}
	}
	if o.contextCmd != "" {
		if asked.Chats.ContextCmd, err = contextProgram(o.contextCmd); err != nil {
			return err
		}
	}
	if asked.Metrics, err = o.listen(ctx); err != nil {
		return err
	}
	return f.services.Serve(ctx, asked, func() (*supervisor.Supervisor, error) {
		s, err := f.founder()
		if err == nil {
			err = s.CheckPerson("serve conversations")
		}
		return s, err
	})
}

// listen opens the address of the metrics, if one was named. Errors: BadInput.
func (o *serveOptions) listen(ctx context.Context) (net.Listener, error) {
	if o.metrics == "" {
		return nil, nil //nolint:nilnil // none was asked for
	}
	host, _, err := net.SplitHostPort(o.metrics)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, agent.Errorf(agent.BadInput, "--metrics %s is no address on loopback", agent.Quote(o.metrics)).Hint("for example: --metrics 127.0.0.1:9321")
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return listener, nil
}
