// Package services assembles what only some verbs need: the server with its chats, schedules and observer, and the
// memory with the user's seal.
package services

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/matrix"
	"nbs-worker/internal/chat/remote"
	"nbs-worker/internal/chat/serve"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/supervisor"
)

// ServeOptions are the options of nbs-worker serve.
type ServeOptions struct {
	Chats   ChatOptions
	Matrix  MatrixOptions
	Warm    int    // claudes kept at most
	Memory  uint64 // bytes for all of them together
	Idle    time.Duration
	Bands   agent.Bands  // of context
	Metrics net.Listener // nil: not served
	Say     func(format string, args ...any)
}

// ChatOptions are the options of the bridge to Telegram.
type ChatOptions struct {
	Allowed   []int64                // chats
	URL       string                 // of the Bot API; "": Telegram's own
	TokenFile string                 // "": the token is in the environment, or there is no bridge
	Given     func(flag string) bool // reports whether a flag, which counts before what was set up, was given; nil: none was
	bot.Settings
	bot.Writers
	Answerers bot.Answerers

	Agents  bot.Reach
	Unasked bool // nothing was said about Agents

	Rights conversations.Rights // of the turns of all chats; zero: as Claude's settings say
}

// ready is how long an agent that a chat resumes may take to become ready.
const ready = 30 * time.Second

// Serve runs the conversations of a project until the context ends. open opens the project.
func Serve(ctx context.Context, o ServeOptions, open func() (*supervisor.Supervisor, error)) error {
	token, bridged, err := takeToken(&o.Chats)
	if err != nil {
		return err
	}
	matrixToken, toMatrix, err := o.Matrix.takeToken()
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	if token, bridged, err = setUp(s.Project.Store, &o.Chats, token, bridged); err != nil {
		return err
	}
	server := serve.New(Conversations(s.Project), o.Say)
	server.Engine.Warm = &headless.Pool{Most: o.Warm, Memory: o.Memory, Idle: o.Idle, Now: s.Project.Now}
	server.Ready, server.Metrics = notify.Ready, o.Metrics
	team := &remote.Team{Supervisor: s, Notes: s.Project.Store.Deliveries(), Bands: o.Bands, Wait: ready}
	due := &serve.Schedules{Server: server, Notes: team.Notes, Send: team.Deliver}
	server.Scheduled = due.RunNow
	server.Beside = append(server.Beside, due.Run, func(ctx context.Context) error { return remembering(ctx, s, o.Say) })
	server.Beside = append(server.Beside, func(context.Context) error { greet(s.Project, &o, bridged || toMatrix); return nil })
	var links []bridge.Options
	var reach []string // where the commands work that reach agents and files
	if bridged {
		link, err := o.Chats.link(token, o.line)
		if err != nil {
			return err
		}
		links, reach = append(links, link), append(reach, o.Chats.reach())
	}
	if toMatrix {
		link, err := o.Matrix.link(matrixToken, s.Project.Store.Progress(), o.line)
		if err != nil {
			return err
		}
		links, reach = append(links, link), append(reach, o.Matrix.words()...)
	}
	if len(links) > 0 {
		if err := server.Engine.CheckFounding(); err != nil { // now to the operator, rather than later to each chat
			return err
		}
		connect(o, team, server, links, reach)
	}
	return server.Run(ctx)
}

// takeToken reads the token that a flag or the environment names, and removes it from the environment, so that no later
// process inherits it. is reports whether there is one.
func takeToken(o *ChatOptions) (token telegram.Token, is bool, err error) {
	if o.TokenFile == "" && os.Getenv(telegram.TokenVariable) == "" {
		return token, false, nil
	}
	if token, err = telegram.ReadToken(o.TokenFile); err != nil {
		return token, false, err
	}
	return token, true, os.Unsetenv(telegram.TokenVariable)
}

func (o *ServeOptions) line(line string) { o.Say("%s", line) }

// link returns the options of the bridge to Telegram.
func (o *ChatOptions) link(token telegram.Token, say func(line string)) (bridge.Options, error) {
	system, err := telegram.New(telegram.Options{Token: token, URL: o.URL, Log: say})
	return bridge.Options{
		System: system, Allowed: numbers(o.Allowed), Users: numbers(o.Users), UsersIn: usersIn(o.UsersIn),
		InPrivate: o.Agents != bot.ReachNone, InGroups: o.Agents == bot.ReachAll, AllInGroups: o.GroupAll, Log: say,
		Answers: numbers(o.Answerers.Answers),
	}, err
}

// connect creates the bridges of a server.
func connect(o ServeOptions, team *remote.Team, server *serve.Server, links []bridge.Options, reach []string) {
	chats := &serve.Chats{Server: server, Notes: team.Notes, Prompt: o.Chats.SystemPrompt, Model: o.Chats.Model, ContextCmd: o.Chats.ContextCmd, Enrich: o.Chats.Enrich, Silence: o.Chats.Silence,
		DailyLimit: o.Chats.DailyLimit, Rights: o.Chats.Rights}
	server.Begin = func(ctx context.Context) error {
		if o.Chats.Rights != (conversations.Rights{}) {
			o.Say("chats: what Claude may do: %s", o.Chats.Rights)
		}
		if o.Chats.Rights.PermissionMode == agent.BypassPermissions {
			o.Say("chats: Claude uses every tool without asking, for everyone who may write there")
		}
		for _, line := range slices.Concat(o.Chats.Words(), reach, o.Chats.Answerers.Words()) {
			o.Say("chats: %s", line)
		}
		return chats.Permit(ctx)
	}
	var all bridges
	for _, opts := range links {
		opts.Chats, opts.Deliveries, opts.Menu, opts.Team = chats, chats, chats, team
		if program := o.Chats.TranscribeCmd; program != "" {
			opts.Transcribe = func(ctx context.Context, path string) (string, error) {
				return server.Engine.Transcribe(ctx, program, path)
			}
		}
		b := bridge.New(opts)
		all = append(all, b)
		server.Beside = append(server.Beside, b.Run)
	}
	server.Beside = append(server.Beside, serve.NewUnasked(server, team.Notes).Run)
	server.Engine.IsChat = func(key conversations.Key) bool { return all.of(string(key)) != nil }
	server.Tell, server.Relay = all.tell, all.relay
	if told := o.told(); len(told) > 0 {
		needs := server.NeedsOf(told)
		needs.Post, needs.Change = all.post, all.change
		server.Beside = append(server.Beside, func(ctx context.Context) error { return needs.Watch(ctx, server.Engine.Project, o.Bands) })
	}
}

// bridges are those of a server, one for each chat system.
type bridges []*bridge.Bridge

// of returns the bridge to the chat of a key; nil if no bridge serves it.
func (all bridges) of(key string) *bridge.Bridge {
	for _, b := range all {
		if _, err := b.System.ParseKey(key); err == nil {
			return b
		}
	}
	return nil
}

// usersIn returns the users of each chat, as the bridge names them.
func usersIn(all map[int64][]int64) map[string][]string {
	named := map[string][]string{}
	for chat, users := range all {
		named[strconv.FormatInt(chat, 10)] = numbers(users)
	}
	return named
}

func (all bridges) tell(ctx context.Context, to, text string) error {
	return cmp.Or(all.of(to), all[0]).Tell(ctx, to, text) // which says that it is no chat
}

func (all bridges) relay(ctx context.Context, to, text string) error {
	return cmp.Or(all.of(to), all[0]).Relay(ctx, to, text)
}

func (all bridges) post(ctx context.Context, to, id string, p bridge.Post) error {
	return cmp.Or(all.of(to), all[0]).Post(ctx, to, id, p)
}

func (all bridges) change(ctx context.Context, to, id string, p bridge.Post) error {
	return cmp.Or(all.of(to), all[0]).Change(ctx, to, id, p)
}

// told returns the keys of the chats that are told what agents need.
func (o *ServeOptions) told() []string {
	rooms := agent.Mapped(o.Matrix.Needs, func(room string) string { return matrix.Name + ":" + room })
	return append(agent.Mapped(o.Chats.Answerers.Told(), keyOf), rooms...)
}

func numbers(list []int64) []string {
	return agent.Mapped(list, func(n int64) string { return strconv.FormatInt(n, 10) })
}
